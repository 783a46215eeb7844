// The cache gives back what was put there, and nothing that anybody else has written.

#include "judge/build/cache.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace rungs;
using namespace rungs::judge;

namespace {

/// Puts `text` into a cache as `name`.
fs::path put(const fs::path& cache, const std::string& name, const std::string& text, bool outdated = false) {
    const WorkFolder work(cache);
    write_working_file(work.path() / "made", text);
    into_cache(work.path() / "made", cache / name, outdated);
    return cache / name;
}

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Waits until what is written next gets another time: most kernels' times of files move a few
/// hundred times a second.
void wait_for_tick() {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_REALTIME_COARSE, &time);
        return std::pair(time.tv_sec, time.tv_nsec);
    };
    for (const auto before = now(); now() == before;) {
    }
}

}  // namespace

TEST_CASE("the cache gives back what was put there", "[autograder][cache]") {
    const TemporaryFolder folder;
    const fs::path cache = folder.path() / "cache";
    CHECK_FALSE(in_cache(cache / "workers" / "a"));
    CHECK_FALSE(from_cache(cache / "workers" / "a"));
    CHECK_FALSE(fs::exists(cache));  // to ask makes nothing
    for (const std::string& text :
         {std::string(), std::string("a"), std::string("\0b\n", 3), std::string(100000, 'c')}) {
        const fs::path file = put(cache, "workers/a", text, true);
        CHECK(in_cache(file));
        CHECK(from_cache(file) == text);
        CHECK(in_cache(file));
    }
    CHECK(files_in(cache / "work") == 0);
    struct stat about {};
    REQUIRE(stat((cache / "key").c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
}

TEST_CASE("what is in the cache stays the file that it is", "[autograder][cache]") {
    const TemporaryFolder folder;
    const fs::path cache = folder.path() / "cache";
    const fs::path file = put(cache, "objects/a", "first");
    const auto inode = [&] {
        struct stat about {};
        REQUIRE(stat(file.c_str(), &about) == 0);
        return about.st_ino;
    };
    const auto first = inode();

    SECTION("where two build it at once") {
        put(cache, "objects/a", "second");
        CHECK(inode() == first);
        CHECK(from_cache(file) == "first");
    }
    SECTION("unless it is outdated") {
        put(cache, "objects/a", "second", true);
        CHECK(from_cache(file) == "second");
    }
    SECTION("unless it is broken") {
        write_file(file, "broken");
        put(cache, "objects/a", "second");
        CHECK(from_cache(file) == "second");
    }
    CHECK(files_in(cache / "work") == 0);
}

TEST_CASE("an executable from the cache starts while other threads start processes", "[autograder][cache]") {
    const TemporaryFolder folder;
    const fs::path cache = folder.path() / "cache";
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 40; ++round) {
                const WorkFolder work(cache);
                const fs::path made = work.path() / "made",
                               file = cache / fmt::format("workers/{}_{}", i, round);
                // Not copied by this process, which must not have it open for writing.
                if (std::system(fmt::format("cp /bin/true '{}'", made.string()).c_str()) != 0) ++failed;
                into_cache(made, file);
                if (std::system(fmt::format("'{}'", file.string()).c_str()) != 0) ++failed;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(failed == 0);
}

TEST_CASE("what somebody else wrote is not in the cache", "[autograder][cache]") {
    const TemporaryFolder folder;
    const fs::path cache = folder.path() / "cache";
    const fs::path file = put(cache, "workers/a", "the worker of a rung");
    const std::string whole = read_file(file);
    REQUIRE(in_cache(file));
    wait_for_tick();

    SECTION("in the middle, at its end or before it") {
        for (std::size_t at = 0; at < whole.size(); ++at) {
            std::string other = whole;
            other[at] = static_cast<char>(other[at] ^ 1);
            write_file(file, other);
            CHECK_FALSE(in_cache(file));
            CHECK_FALSE(from_cache(file));
        }
        for (const std::string& other : {whole.substr(1), whole.substr(0, whole.size() - 1), whole + "x",
                                         "x" + whole, std::string(), whole.substr(0, 7)}) {
            write_file(file, other);
            CHECK_FALSE(in_cache(file));
        }
        write_file(file, whole);
        CHECK(in_cache(file));
    }
    SECTION("into the file that this process has looked at before") {
        const auto time = fs::last_write_time(file);
        std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).put('T');
        fs::last_write_time(file, time);
        CHECK_FALSE(in_cache(file));
    }
    SECTION("under another name, in another folder, in another cache") {
        for (const fs::path& other : {cache / "workers" / "b", cache / "counts" / "a"}) {
            fs::create_directories(other.parent_path());
            fs::copy_file(file, other);
            CHECK_FALSE(in_cache(other));
        }
        const fs::path elsewhere = put(folder.path() / "elsewhere", "workers/b", "another worker");
        fs::copy_file(file, elsewhere.parent_path() / "a");
        CHECK_FALSE(in_cache(elsewhere.parent_path() / "a"));
    }
    SECTION("as a link, a folder, a pipe") {
        fs::rename(file, cache / "workers" / "kept");
        fs::create_symlink("kept", file);
        CHECK_FALSE(in_cache(file));
        fs::remove(file);
        fs::create_directory(file);
        CHECK_FALSE(in_cache(file));
        fs::remove(file);
        REQUIRE(mkfifo(file.c_str(), 0600) == 0);
        CHECK_FALSE(in_cache(file));
    }
    SECTION("with a key that others can read") {
        const fs::path other = folder.path() / "open";
        put(other, "workers/a", "a");
        const fs::path copy = folder.path() / "copy";
        fs::copy(other, copy, fs::copy_options::recursive);
        fs::permissions(copy / "key", fs::perms::group_read, fs::perm_options::add);
        CHECK_THROWS_WITH(in_cache(copy / "workers" / "a"),
                          Catch::Matchers::ContainsSubstring((copy / "key").string()) &&
                              Catch::Matchers::ContainsSubstring("not this user's own"));
    }
}

TEST_CASE("a cache that belongs to another user is not used", "[autograder][cache]") {
    const TemporaryFolder folder;
    fs::path cache = "/usr";  // root's
    if (geteuid() == 0) {
        cache = folder.path() / "cache";
        fs::create_directory(cache);
        REQUIRE(chown(cache.c_str(), 12345, 12345) == 0);
    }
    CHECK_THROWS_AS(prune(cache), InfraError);

    const fs::path open = folder.path() / "open";
    fs::create_directory(open);
    fs::permissions(open, fs::perms::all);
    prune(open);
    CHECK((fs::status(open).permissions() & (fs::perms::group_write | fs::perms::others_write)) ==
          fs::perms::none);
}

TEST_CASE("what a killed build left is removed, but not what another host is building",
          "[autograder][cache]") {
    const TemporaryFolder folder;
    const fs::path cache = folder.path() / "cache";
    fs::create_directories(cache / "work" / "01234567-1-abcdef");
    const pid_t child = fork();
    if (child == 0) {
        new WorkFolder(cache);
        _exit(0);
    }
    REQUIRE(child > 0);
    REQUIRE(waitpid(child, nullptr, 0) == child);
    const WorkFolder mine(cache);
    CHECK(files_in(cache / "work") == 3);
    prune(cache);
    CHECK(files_in(cache / "work") == 2);
    CHECK(fs::exists(cache / "work" / "01234567-1-abcdef"));
    CHECK(fs::exists(mine.path()));
}
