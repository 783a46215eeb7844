#pragma once
// A folder that goes away with its content: for tests, and for what a program needs while it runs.

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "rungs/atomic_file.hpp"

namespace rungs {

class TemporaryFolder {
  public:
    /// @throws FileError
    TemporaryFolder() {
        // With a blank: folders of students have them.
        std::string name = (std::filesystem::temp_directory_path() / "rungs test-XXXXXX").string();
        if (!mkdtemp(name.data())) throw FileError(name, errno, "could not make a temporary folder");
        path_ = std::filesystem::canonical(name);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

    /// Writes a file, with the folders above it.
    std::filesystem::path write(const std::string& name, const std::string& content) const {
        const std::filesystem::path file = path_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << content;
        return file;
    }

    std::string read(const std::string& name) const { return content_of(path_ / name); }

    static std::string content_of(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        if (!in) throw std::runtime_error("cannot read " + file.string());
        return {std::istreambuf_iterator<char>(in), {}};
    }

    /// Names of what lies in a folder below, joined by blanks, in order.
    std::string listing(const std::string& folder = ".") const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_ / folder)) {
            names.insert(entry.path().filename().string());
        }
        std::string text;
        for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
        return text;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace rungs
