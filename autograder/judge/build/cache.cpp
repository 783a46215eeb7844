#include "judge/build/cache.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/hash.hpp"
#include "judge/confine/process.hpp"
#include "rungs/random.hpp"

namespace rungs::judge {

namespace fs = std::filesystem;

namespace {

constexpr auto keep_unused = std::chrono::hours(24 * 14);
/// What another host, or a container of its own, left in the middle of a build.
constexpr auto keep_others_work = std::chrono::hours(24);

using Key = std::array<std::uint64_t, 2>;
using Code = std::uint64_t;

/// The key of a cache, read from its file once.
/// @returns nothing where there is none and `make` is false
std::optional<Key> key_of(const fs::path& cache, bool make) {
    static std::mutex guard;
    static std::map<fs::path, Key> keys;
    const std::lock_guard lock(guard);
    if (const auto known = keys.find(cache); known != keys.end()) return known->second;
    const fs::path file = cache / "key";
    for (;;) {
        const Descriptor in(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (in) {
            struct stat about {};
            Key key{};
            if (fstat(in.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
                (about.st_mode & 077) != 0 || read(in.get(), &key, sizeof key) != ssize_t{sizeof key})
                cache_failed(file, "it is not this user's own");
            return keys[cache] = key;
        }
        if (errno != ENOENT) cache_failed(file, std::strerror(errno));
        if (!make) return std::nullopt;
        Key key{};
        if (getrandom(&key, sizeof key, 0) != ssize_t{sizeof key}) cache_failed(file, std::strerror(errno));
        // Whoever is first gives it its name, whole; the others take what is there.
        const WorkFolder work(cache);
        const fs::path made = work.path() / "key";
        write_working_file(made, {reinterpret_cast<const char*>(key.data()), sizeof key});
        if (chmod(made.c_str(), 0600) != 0 || (link(made.c_str(), file.c_str()) != 0 && errno != EEXIST))
            cache_failed(file, std::strerror(errno));
    }
}

/// Of a file's content under its name: what is moved to another name is another file.
Code code_of(const Key& key, const fs::path& file, std::string_view content) {
    const Code content_code = siphash(key, content);
    std::string all = (file.parent_path().filename() / file.filename()).string();
    all.append(reinterpret_cast<const char*>(&content_code), sizeof content_code);
    return siphash(key, all);
}

/// Which content a file has: it changes whenever anybody writes there, and only the system sets it.
using Identity = std::array<long long, 5>;

Identity identity_of(const struct stat& about) {
    return {static_cast<long long>(about.st_dev), static_cast<long long>(about.st_ino), about.st_size,
            about.st_ctim.tv_sec, about.st_ctim.tv_nsec};
}

/// Looks whether a file is as into_cache() left it, marks it as used, and puts its content into `content`
/// where that is asked for.
bool look(const fs::path& file, std::string* content) {
    static std::mutex guard;
    static std::map<fs::path, Identity> seen;
    constexpr std::time_t a_moment = 60;  // s
    const Descriptor in(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat about {};
    if (!in || fstat(in.get(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
    if (!content && std::time(nullptr) - about.st_mtime < a_moment) {
        // What this process has read a moment ago, and nobody has touched since, is not read again.
        const std::lock_guard lock(guard);
        const auto found = seen.find(file);
        if (found != seen.end() && found->second == identity_of(about)) return true;
    }
    // Before it is read: whatever is written from here on makes another identity of it.
    const bool marked = futimens(in.get(), nullptr) == 0 && fstat(in.get(), &about) == 0;
    const std::optional<Key> key = key_of(file.parent_path().parent_path(), false);
    std::optional<std::string> whole = key ? read_all(in.get()) : std::nullopt;
    Code code = 0;
    if (!whole || whole->size() < sizeof code || about.st_uid != geteuid()) return false;
    std::memcpy(&code, whole->data() + whole->size() - sizeof code, sizeof code);
    whole->resize(whole->size() - sizeof code);
    if (code != code_of(*key, file, *whole)) return false;
    if (content) *content = std::move(*whole);
    if (marked) {
        const std::lock_guard lock(guard);
        seen[file] = identity_of(about);
    }
    return true;
}

/// By a process of its own: a thread that forks meanwhile would hand on what this process has open for
/// writing, and nothing can be executed that anybody has open so (ETXTBSY).
/// @returns whether it succeeded; else errno says why not
bool append(const fs::path& file, Code code) {
    const char* name = file.c_str();
    const pid_t writer = fork();
    if (writer == 0) {
        const int out = open(name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
        const ssize_t written = out >= 0 ? write(out, &code, sizeof code) : -1;
        _exit(written == ssize_t{sizeof code} ? 0 : written < 0 ? errno : ENOSPC);
    }
    int status = 0;
    while (writer > 0 && waitpid(writer, &status, 0) < 0) {
        if (errno != EINTR) return false;
    }
    if (writer > 0) errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    return writer > 0 && errno == 0;
}

/// Processes of which this one can tell whether they live: those of the same boot and the same container.
std::string neighbourhood() { return Sha256::of(boot_id() + process_namespace()).substr(0, 8); }

}  // namespace

void cache_failed(const fs::path& path, const std::string& what) {
    throw InfraError(
        fmt::format("cannot write {}: {}; make room there or delete the folder 'cache' in the build folder, "
                    "then check again",
                    path.string(), what));
}

bool nearly_full(const fs::path& folder) {
    struct statvfs space {};
    return statvfs(folder.c_str(), &space) == 0 &&
           (space.f_bavail * space.f_frsize < (4U << 20) || (space.f_files > 0 && space.f_favail < 16));
}

void write_working_file(const fs::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) cache_failed(file, std::strerror(errno));
}

WorkFolder::WorkFolder(const fs::path& cache) {
    const fs::path all = cache / "work";
    std::error_code failed;
    fs::create_directories(all, failed);
    if (failed) cache_failed(all, failed.message());
    std::string name = (all / fmt::format("{}-{}-XXXXXX", neighbourhood(), getpid())).string();
    if (!mkdtemp(name.data())) cache_failed(all, std::strerror(errno));
    path_ = name;
}

WorkFolder::~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void prune(const fs::path& cache) {
    static std::mutex guard;
    static std::set<fs::path> done;
    const std::lock_guard lock(guard);
    if (!done.insert(cache).second) return;
    std::error_code ignored;
    struct stat about {};
    if (lstat(cache.c_str(), &about) == 0) {
        if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid())
            cache_failed(cache, "it is not a folder of this user's own");
        if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0 && chmod(cache.c_str(), about.st_mode & 0755) != 0)
            cache_failed(cache, "others may write there, too");
    }
    const auto now = fs::file_time_type::clock::now();
    const std::string ours = neighbourhood() + "-";
    for (const auto& entry : fs::directory_iterator(cache / "work", ignored)) {
        const std::string name = entry.path().filename();
        if (name.rfind(ours, 0) == 0) {
            const int owner = std::atoi(name.c_str() + ours.size());
            if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
        } else if (now - entry.last_write_time(ignored) > keep_others_work) {
            fs::remove_all(entry.path(), ignored);
        }
    }
    for (const char* kind : {"counts", "objects", "verdicts", "warnings", "workers"}) {
        for (const auto& entry : fs::directory_iterator(cache / kind, ignored)) {
            const auto used = entry.last_write_time(ignored);
            if (!ignored && now - used > keep_unused) fs::remove(entry.path(), ignored);
        }
    }
}

bool in_cache(const fs::path& file) { return look(file, nullptr); }

std::optional<std::string> from_cache(const fs::path& file) {
    std::string content;
    if (!look(file, &content)) return std::nullopt;
    return content;
}

void into_cache(const fs::path& made, const fs::path& file, bool outdated) {
    const std::optional<Key> key = key_of(file.parent_path().parent_path(), true);
    const Descriptor in(open(made.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    const std::optional<std::string> content = in ? read_all(in.get()) : std::nullopt;
    if (!content || !append(made, code_of(*key, file, *content))) cache_failed(made, std::strerror(errno));
    std::error_code failed;
    fs::create_directories(file.parent_path(), failed);
    if (failed) cache_failed(file, failed.message());
    // Renaming within one file system is atomic, also against a kill or a full disk.
    if (!outdated) {
        if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) return;
        if (errno == EEXIST && in_cache(file)) return;  // `made` goes with its folder
    }
    // Wrong, outdated, or on a file system (NFS) that cannot tell whether there is one.
    fs::rename(made, file, failed);
    if (failed) cache_failed(file, failed.message());
}

void remove_least_used(const fs::path& folder, std::uintmax_t most_bytes) {
    struct Entry {
        fs::file_time_type used;
        std::uintmax_t bytes;
        fs::path file;
    };
    std::vector<Entry> entries;
    std::uintmax_t total = 0;
    std::error_code gone;  // by another process that does the same
    for (const auto& entry : fs::directory_iterator(folder, gone)) {
        const auto used = entry.last_write_time(gone);
        const auto bytes = gone ? 0 : entry.file_size(gone);
        if (gone) continue;
        entries.push_back({used, bytes, entry.path()});
        total += bytes;
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    // Somebody may be about to run what was used a moment ago.
    const auto newest = fs::file_time_type::clock::now() - std::chrono::minutes(10);
    for (const Entry& entry : entries) {
        if (total <= most_bytes || entry.used > newest) return;
        fs::remove(entry.file, gone);
        total -= entry.bytes;
    }
}

}  // namespace rungs::judge
