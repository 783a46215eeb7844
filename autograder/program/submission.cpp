#include "program/submission.hpp"

#include <algorithm>

#include "program/workbook.hpp"
#include "report/text.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 10'000;
constexpr int most_depth = 3;

/// Whether a file could have been meant to be graded.
bool like_a_rung(const fs::path& file) {
    return file.extension() == ".cu" || (file.extension() == ".toml" && file.filename() != "chapter.toml");
}

/// Looks for other files of rungs in `folder`, and in the folders in it down to `depth` levels.
void look_through(const fs::path& submission, const fs::path& folder, int depth,
                  const std::vector<fs::path>& used, std::size_t& entries, Ignored& ignored) {
    const auto give_up = [&](const std::string& why) {
        const std::string name = folder == submission ? "." : folder.lexically_relative(submission).string();
        ignored.why_not_all.push_back(clean_name(name) + ": " + why);
    };
    std::error_code error;
    fs::directory_iterator it(folder, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
        if (++entries > most_entries) return give_up("there are too many files");
        std::error_code unknown;
        if (fs::is_directory(it->symlink_status(unknown))) {
            if (depth > 0) look_through(submission, it->path(), depth - 1, used, entries, ignored);
        } else if (like_a_rung(it->path()) && std::find(used.begin(), used.end(), it->path()) == used.end()) {
            ignored.names.push_back(clean_name(it->path().lexically_relative(submission).string()));
        }
    }
    if (error) give_up(error.message());
}

}  // namespace

fs::path submission_folder(const std::string& named) {
    std::error_code error;
    if (!fs::is_directory(named, error)) {
        throw UsageError("--submission " + clean_name(named) + ": there is no such folder");
    }
    return fs::canonical(named);
}

bool lies_in(const fs::path& path, const fs::path& folder) {
    const fs::path relative = path.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

fs::path outside(const fs::path& submission, const fs::path& file, const std::string& option) {
    fs::path folder = "/";
    bool inside = false;
    for (const fs::path& part : fs::absolute(file).parent_path().relative_path()) {
        const fs::path next = folder / part;
        std::error_code unknown;
        inside = inside || (lies_in(folder, submission) && fs::is_symlink(fs::symlink_status(next, unknown)));
        folder = fs::weakly_canonical(next);
    }
    if (inside || lies_in(folder, submission)) {
        throw UsageError(option + " " + clean_name(file.string()) +
                         ": this is in the submission, and whoever handed it in chooses what is there; name "
                         "a file in a folder of your own");
    }
    return folder / file.filename();
}

Ignored ignored_files(const fs::path& submission, const std::vector<fs::path>& used) {
    Ignored ignored;
    std::size_t entries = 0;
    look_through(submission, submission, most_depth, used, entries, ignored);
    std::sort(ignored.names.begin(), ignored.names.end());
    return ignored;
}

}  // namespace rungs
