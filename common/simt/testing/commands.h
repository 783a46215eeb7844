/// @file
/// Programs as somebody calls them: a folder of a test's own, and commands whose end and words are looked at.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "testing/catch.h"

namespace simt_testing {

/// A folder of one test's own, gone at its end.
class TestFolder {
  public:
    /// @param what it is for: what its name begins with, blanks and all, which must not hurt
    explicit TestFolder(const std::string& what) {
        std::string name = (std::filesystem::temp_directory_path() / (what + " XXXXXX")).string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~TestFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

    std::filesystem::path write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = path_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    [[nodiscard]] std::size_t file_count() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
            count += entry.is_regular_file() ? 1 : 0;
        return count;
    }

  private:
    std::filesystem::path path_;
};

struct Outcome {
    int status = -1;
    std::string text;  ///< standard output and error
};

inline Outcome run(const std::string& command) {
    Outcome outcome;
    FILE* pipe = ::popen(("(" + command + ") 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.text.append(buffer, n);
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

}  // namespace simt_testing
