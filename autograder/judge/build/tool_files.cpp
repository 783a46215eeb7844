#include "judge/build/tool_files.hpp"

#include <sys/stat.h>

#include <fmt/format.h>

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;

std::string stamp_of(const std::string& file) {
    struct stat about {};
    if (stat(file.c_str(), &about) != 0) return "";
    return fmt::format("{} {} {} {:o}", about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec,
                       about.st_mode);
}

template <class Use>
void for_each_file_below(const fs::path& folder, const Use& use) {
    std::error_code failed;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, failed);
    for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
        std::error_code gone;
        if (!at->is_directory(gone)) use(at->path().string());
    }
}

}  // namespace

void ToolFiles::watch(const ToolPlaces& places) {
    for (const fs::path& file : places.files) files_.emplace(file.string(), stamp_of(file.string()));
    for (const fs::path& folder : places.folders) {
        if (!folders_.insert(folder).second) continue;
        for_each_file_below(folder,
                            [&](const std::string& file) { in_folders_.emplace(file, stamp_of(file)); });
    }
}

std::string ToolFiles::first_changed(const Stamps& stamps) {
    for (const auto& [file, before] : stamps) {
        const std::string now = stamp_of(file);
        if (now != before)
            return file + (now.empty() ? " is missing" : before.empty() ? " is new" : " was changed");
    }
    return "";
}

std::string ToolFiles::changed() const { return first_changed(files_); }

std::string ToolFiles::any_changed() const {
    const std::string text = changed();
    return text.empty() ? first_changed(in_folders_) : text;
}

}  // namespace rungs::judge
