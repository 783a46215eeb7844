#include "judge/cache.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "judge/build.hpp"

namespace rungs::judge {

namespace fs = std::filesystem;

namespace {

constexpr auto keep_unused = std::chrono::hours(24 * 14);

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

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
    std::string name = (all / fmt::format("{}@{}-XXXXXX", getpid(), host_name())).string();
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
    for (const auto& entry : fs::directory_iterator(cache / "work", ignored)) {
        // Of what is at work on another machine nothing is known here.
        const std::string name = entry.path().filename().string();
        const int owner = std::atoi(name.c_str());
        if (name.rfind(fmt::format("{}@{}-", owner, host_name()), 0) == 0 && owner > 0 &&
            ::kill(owner, 0) != 0 && errno == ESRCH)
            fs::remove_all(entry.path(), ignored);
    }
    const auto now = fs::file_time_type::clock::now();
    for (const char* kind : {"counts", "objects", "verdicts", "warnings", "workers"}) {
        for (const auto& entry : fs::directory_iterator(cache / kind, ignored)) {
            const auto used = entry.last_write_time(ignored);
            if (!ignored && now - used > keep_unused) fs::remove(entry.path(), ignored);
        }
    }
}

bool in_cache(const fs::path& file) {
    std::error_code failed;
    if (!fs::is_regular_file(file, failed)) return false;
    fs::last_write_time(file, fs::file_time_type::clock::now(), failed);  // used today
    return true;
}

void into_cache(const fs::path& made, const fs::path& file) {
    // Renaming within one file system is atomic, also against a kill or a full disk.
    std::error_code failed;
    fs::create_directories(file.parent_path(), failed);
    if (!failed) fs::rename(made, file, failed);
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
