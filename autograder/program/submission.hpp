#pragma once
// The folder that somebody has handed in. Its author chooses every name and every link in it.

#include <filesystem>
#include <string>
#include <vector>

namespace rungs {

/// The folder that --submission names, resolved. @throws UsageError where there is none
std::filesystem::path submission_folder(const std::string& named);

/// Whether a resolved path is `folder`, which is resolved as well, or below it.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// `file` with its folder resolved, for what is found out about a submission. @throws UsageError where its
/// author has a say in what is there: in the submission, or behind a link in it. `option` asked for it.
std::filesystem::path outside(const std::filesystem::path& submission, const std::filesystem::path& file,
                              const std::string& option);

/// What a submission has besides the files that rungs are read from.
struct Ignored {
    std::vector<std::string> names;        ///< of files like rungs, clean and sorted: usually a misspelt rung
    std::vector<std::string> why_not_all;  ///< folders that were not looked through, or not to their end
};
Ignored ignored_files(const std::filesystem::path& submission,
                      const std::vector<std::filesystem::path>& used);

}  // namespace rungs
