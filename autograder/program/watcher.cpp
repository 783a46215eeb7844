#include "program/watcher.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>

#include "program/progress.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

// Closing after writing is a save in place, moving is how editors replace a file; creation alone is not yet
// content, but a hard link makes a whole file appear without any other event.
constexpr unsigned events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE;

}  // namespace

bool Watcher::is_source(const fs::path& file) {
    const std::string name = file.filename().string();
    if (name.empty() || name[0] == '.') return false;
    const std::string type = file.extension().string();
    return type == ".cu" || type == ".cuh" || type == ".toml";
}

std::map<fs::path, Watcher::Stamp> Watcher::look() const {
    std::map<fs::path, Stamp> seen;
    for (const fs::path& folder : folders_) {
        std::error_code error;
        for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
            if (!is_source(it->path())) continue;
            std::error_code gone;
            Stamp stamp{fs::last_write_time(it->path(), gone), it->file_size(gone), {}};
            if (gone) continue;
            const auto before = known_.find(it->path());
            const bool same = before != known_.end() && before->second.time == stamp.time &&
                              before->second.size == stamp.size;
            // Time stamps are coarse: the content is what decides, but only files that moved are read again.
            stamp.content = same ? before->second.content : fingerprint(it->path());
            seen[it->path()] = stamp;
        }
    }
    return seen;
}

Watcher::Watcher(std::vector<fs::path> folders, bool poll) : folders_(std::move(folders)) {
    for (const fs::path& folder : folders_) {
        if (!fs::is_directory(folder)) throw FileError(folder, ENOENT, "could not watch");
    }
    if (!poll) {
        descriptor_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        for (const fs::path& folder : folders_) {
            if (descriptor_ < 0) break;
            if (inotify_add_watch(descriptor_, folder.c_str(), events) < 0) {
                close(descriptor_);
                descriptor_ = -1;
            }
        }
    }
    known_ = look();
}

Watcher::~Watcher() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::set<fs::path> Watcher::changed() {
    if (descriptor_ >= 0) {
        alignas(inotify_event) char buffer[4096];
        bool any = false;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        pollfd waiting{descriptor_, POLLIN, 0};
        // 60 ms without an event: editors write, sync, rename and touch within that time.
        while (::poll(&waiting, 1, any ? 60 : 0) > 0 && std::chrono::steady_clock::now() < end) {
            while (read(descriptor_, buffer, sizeof buffer) > 0) any = true;
            any = true;
        }
        if (!any) return {};
    }
    std::map<fs::path, Stamp> now = look();
    std::set<fs::path> files;
    for (const auto& [file, stamp] : now) {
        const auto before = known_.find(file);
        if (before == known_.end() || before->second.content != stamp.content) files.insert(file);
    }
    known_ = std::move(now);
    return files;
}

}  // namespace rungs
