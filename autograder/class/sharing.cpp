#include "class/sharing.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "class/assignment.hpp"
#include "judge/confine/process.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;

constexpr mode_t group_folder = S_ISGID | 0770;

/// Gives one entry to the group, with its owner's rights.
void give(const fs::path& path, gid_t group) {
    // Held by a descriptor: a member of the group could put a link in its place meanwhile.
    const judge::Descriptor entry(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!entry || fstat(entry.get(), &status) != 0 || S_ISLNK(status.st_mode)) return;
    const std::string held = fmt::format("/proc/self/fd/{}", entry.get());
    const bool secret = path.filename() == "seed";
    const mode_t mode = S_ISDIR(status.st_mode) ? group_folder : secret ? 0640 : 0660;
    // The owner's change takes the set-group-ID bit away, so the mode comes second.
    if ((status.st_gid != group && chown(held.c_str(), static_cast<uid_t>(-1), group) != 0) ||
        ((status.st_mode & 07777) != mode && chmod(held.c_str(), mode) != 0))
        throw ClassError(fmt::format(
            "{}: it cannot be given to the group: {}; its owner can do so, if a member of that group",
            path.string(), std::strerror(errno)));
}

fs::path cache_in(const fs::path& out) {
    if (!is_shared(out)) return out / "cache";
    const fs::path cache = out / fmt::format("cache-{}", geteuid());
    // If this fails, the judge says so when it uses the cache.
    static_cast<void>(mkdir(cache.c_str(), 0700));
    return cache;
}

}  // namespace

void share_with(const fs::path& out, const std::string& name) {
    const group* const found = getgrnam(name.c_str());
    if (!found)
        throw ClassError(fmt::format("--group {}: there is no such group on this machine", clean_name(name)));
    const gid_t gid = found->gr_gid;
    give(out, gid);
    std::error_code unknown;
    for (fs::recursive_directory_iterator entry(out, unknown), end; entry != end; entry.increment(unknown)) {
        const std::string file = entry->path().filename().string();
        // Each user has a cache of their own.
        if (entry.depth() == 0 && file.starts_with("cache")) {
            entry.disable_recursion_pending();
            continue;
        }
        give(entry->path(), gid);
    }
    if (unknown) throw FileError(out, unknown.value(), "could not list the folder");
}

bool is_shared(const fs::path& out) {
    struct stat status {};
    return stat(out.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           (status.st_mode & 07777) == group_folder;
}

void follow_sharing(const fs::path& out) {
    if (is_shared(out)) umask(0007);
}

void use_cache_in(const fs::path& out, judge::Toolchain& toolchain) {
    struct stat key {};
    const bool own = stat((toolchain.cache / "key").c_str(), &key) == 0 && key.st_uid == geteuid();
    toolchain.cache_of_ours = own ? toolchain.cache : fs::path();
    toolchain.cache = cache_in(out);
}

DecisionLock::DecisionLock(const fs::path& out, std::chrono::milliseconds patience) {
    const fs::path file = out / "decisions.lock";
    file_ = judge::Descriptor(open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file_) throw FileError(file, errno, "could not open the lock");
    const auto end = std::chrono::steady_clock::now() + patience;
    auto pause = std::chrono::milliseconds(1);
    while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) throw FileError(file, errno, "could not lock");
        if (std::chrono::steady_clock::now() > end)
            throw ClassError(
                fmt::format("{}: others have been deciding for {} s; nothing was decided, give the same "
                            "command again",
                            out.string(), patience.count() / 1000));
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::milliseconds(50));
    }
}

}  // namespace rungs::classroom
