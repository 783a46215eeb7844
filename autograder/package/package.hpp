#pragma once
// The student edition: a workbook without solutions, made from what is committed, and tried before
// it is handed out.

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "judge/judge.hpp"
#include "rungs/manifest.hpp"

namespace rungs {

/// Why there is no package; status() is the program's exit status.
class PackageError : public std::runtime_error {
  public:
    PackageError(int exit_status, const std::string& why) : std::runtime_error(why), status_(exit_status) {}
    int status() const { return status_; }

  private:
    int status_;
};

struct PackageOptions {
    std::filesystem::path root;            ///< the workbook
    std::filesystem::path out;             ///< a folder, or a file that ends with .tar.gz
    std::vector<std::string> rungs;        ///< to try, by the names that ./rungs check takes; empty: all
    bool check = true;                     ///< build it in a clean place and try it
    bool gpu = true;                       ///< with compiled references for a GPU, where there is nvcc
    std::string version;                   ///< of the program
    judge::Toolchain toolchain;            ///< of the build, whose judge counts
    std::function<void(std::string)> say;  ///< hears what is being done
};

/// Makes the package, tries it, and puts it to its place, all of it or nothing.
/// @throws PackageError, judge::InfraError, FileError
void make_package(const PackageOptions& options);

/// What is said of `passed` solutions that were handed in in a package.
std::string tried_text(int passed);

/// `text`, a Markdown page, with links that `leads` refuses replaced by their words.
std::string without_links(const std::string& text,
                          const std::function<bool(const std::string& target)>& leads);

}  // namespace rungs
