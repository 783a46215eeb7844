// Atomic files and CSV: what is written reads back, and what cannot be written leaves nothing behind.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <initializer_list>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "rungs/catch.hpp"
#include "rungs/csv.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class Call>
FileError error_of(const Call& call) {
    try {
        call();
    } catch (const FileError& error) {
        return error;
    }
    throw std::logic_error("expected a FileError");
}

}  // namespace

TEST_CASE("a file is written, replaced and read back", "[common][files]") {
    const rungs::TemporaryFolder folder;
    const auto path = folder / "a.txt";
    for (const std::size_t n : {0, 1, 65535, 65536, 65537, 1'000'000}) {
        const std::string contents(n, static_cast<char>('a' + n % 7));
        write_file(path, contents);
        CHECK(read_file(path) == contents);
    }
    const std::string binary("\0\xff\r\n\0", 5);
    write_file(path, binary);
    CHECK(read_file(path) == binary);
    CHECK(folder.listing() == "a.txt");
}

TEST_CASE("a relative path, a long name and odd characters work", "[common][files]") {
    const rungs::TemporaryFolder folder;
    for (const std::string& name :
         {std::string(255, 'x'), std::string("with space"), std::string("zażółć"), std::string("-n")}) {
        write_file(folder / name, "1");
        CHECK(read_file(folder / name) == "1");
    }
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");
    write_file("plain", "2");
    std::filesystem::current_path(before);
    CHECK(read_file(folder / "plain") == "2");
}

TEST_CASE("of several writers of a new file one succeeds, and nothing is written over", "[common][files]") {
    const rungs::TemporaryFolder folder;
    std::atomic<int> made{0};
    std::vector<std::thread> writers;
    for (int i = 0; i < 8; ++i) {
        writers.emplace_back([&, i] {
            if (write_new_file(folder / "new", std::string(1000, static_cast<char>('a' + i)))) ++made;
        });
    }
    for (std::thread& writer : writers) writer.join();
    CHECK(made == 1);
    const std::string first = read_file(folder / "new");
    CHECK(first == std::string(1000, first[0]));
    CHECK_FALSE(write_new_file(folder / "new", "late"));
    CHECK(read_file(folder / "new") == first);
    std::filesystem::create_symlink("none", folder / "link");
    CHECK_FALSE(write_new_file(folder / "link", "through"));
    CHECK(folder.listing() == "link new");
    CHECK(error_of([&] { write_new_file(folder / "none" / "a", "x"); }).error() == ENOENT);
}

TEST_CASE("permissions stay, and a symbolic link stays a link", "[common][files]") {
    const rungs::TemporaryFolder folder;
    write_file(folder / "a", "old");
    std::filesystem::permissions(folder / "a", std::filesystem::perms(0640));
    std::filesystem::create_symlink("a", folder / "link");
    write_file(folder / "link", "new");
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(read_file(folder / "a") == "new");
    CHECK(std::filesystem::status(folder / "a").permissions() == std::filesystem::perms(0640));
}

TEST_CASE("failures name the path, the reason and what to do", "[common][files]") {
    const rungs::TemporaryFolder folder;
    write_file(folder / "file", "x");
    struct Case {
        std::filesystem::path path;
        int error;
        const char* advice;
    };
    for (const Case& c : {Case{folder / "none" / "a", ENOENT, "the folder does not exist"},
                          Case{folder / "file" / "a", ENOTDIR, "is a file, not a folder"},
                          Case{folder / "", EISDIR, "name a file"}, Case{"", ENOENT, "check the spelling"},
                          Case{"/dev/full", ENOSPC, "the disk is full"}}) {
        const FileError error = error_of([&] { write_file(c.path, "text"); });
        CHECK(error.error() == c.error);
        CHECK(error.path() == c.path);
        CHECK_THAT(error.what(), ContainsSubstring(c.path.string() + ": could not write 4 bytes"));
        CHECK_THAT(error.what(), ContainsSubstring(c.advice));
    }
    CHECK(std::filesystem::is_character_file("/dev/full"));
    const FileError missing = error_of([&] { read_file(folder / "none"); });
    CHECK(missing.error() == ENOENT);
    CHECK_THAT(missing.what(), ContainsSubstring("there is no such file: check the spelling"));
    CHECK(error_of([&] { read_file(folder / ""); }).error() == EISDIR);
    CHECK(folder.listing() == "file");
}

TEST_CASE("a device is written to, not replaced", "[common][files]") {
    write_file("/dev/null", "gone");
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a link, a device or a pipe is refused where that is asked for", "[common][files]") {
    const rungs::TemporaryFolder folder;
    write_file(folder / "other", "old");
    std::filesystem::create_symlink("other", folder / "link");
    std::filesystem::create_symlink("none", folder / "dangling");
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    for (const auto& [path, what] : std::initializer_list<std::pair<std::filesystem::path, const char*>>{
             {folder / "link", "it is a link"},
             {folder / "dangling", "it is a link"},
             {folder / "pipe", "it is a device or pipe"},
             {"/dev/null", "it is a device or pipe"}}) {
        CHECK_THAT(error_of([&] { write_file(path, "new", Special::refuse); }).what(),
                   ContainsSubstring(what));
        CHECK_THAT(error_of([&] { check_writable(path, Special::refuse); }).what(), ContainsSubstring(what));
    }
    CHECK(read_file(folder / "other") == "old");
    CHECK(folder.listing() == "dangling link other pipe");
    write_file(folder / "other", "new", Special::refuse);
    CHECK(read_file(folder / "other") == "new");
}

TEST_CASE("what cannot be written is known before there is anything to write", "[common][files]") {
    const rungs::TemporaryFolder folder;
    write_file(folder / "file", "x");
    CHECK(error_of([&] { check_writable(folder / "none" / "a"); }).error() == ENOENT);
    CHECK(error_of([&] { check_writable(folder / "file" / "a"); }).error() == ENOTDIR);
    CHECK(error_of([&] { check_writable(folder / ""); }).error() == EISDIR);
    CHECK(error_of([&] { check_writable("/dev/full"); }).error() == ENOSPC);
    for (const std::filesystem::path& path :
         {folder / "file", folder / "new", std::filesystem::path("/dev/null")})
        check_writable(path);
    CHECK(read_file(folder / "file") == "x");
    CHECK(folder.listing() == "file");
}

TEST_CASE("where the file cannot grow, the old file stays and nothing is left over", "[common][files]") {
    const rungs::TemporaryFolder folder;
    write_file(folder / "a", "old");
    const pid_t child = ::fork();
    if (child == 0) {  // the limit cannot be taken back, so a child takes it
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        try {
            write_file(folder / "a", std::string(5000, 'x'));
        } catch (const FileError& error) {
            ::_exit(error.error() == EFBIG ? 0 : 2);
        }
        ::_exit(1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(read_file(folder / "a") == "old");
    CHECK(folder.listing() == "a");
}

TEST_CASE("a read-only folder is refused", "[common][files]") {
    if (::geteuid() == 0) RUNGS_SKIP("root may write anywhere");
    const rungs::TemporaryFolder folder;
    std::filesystem::permissions(folder / "", std::filesystem::perms(0500));
    CHECK(error_of([&] { write_file(folder / "a", "x"); }).error() == EACCES);
    std::filesystem::permissions(folder / "", std::filesystem::perms(0700));
}

TEST_CASE("a writer that is killed leaves the old file or the new one", "[common][files]") {
    const rungs::TemporaryFolder folder;
    const std::string even(300'000, '0'), odd(300'000, '1');
    write_file(folder / "a", even);
    using Entries = std::filesystem::directory_iterator;
    const auto entries = [&] { return std::distance(Entries(folder.path()), Entries()); };
    for (int trial = 0; trial < 20; ++trial) {
        const auto before = entries();
        const pid_t child = ::fork();
        if (child == 0) {
            for (int i = 0;; ++i) write_file(folder / "a", i % 2 ? even : odd);
        }
        ::usleep(static_cast<useconds_t>(3000 + 700 * trial));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const std::string now = read_file(folder / "a");
        REQUIRE((now == even || now == odd));
        // Between the two steps that give a file its name one may be caught; never more.
        REQUIRE(entries() <= before + 1);
    }
}

TEST_CASE("CSV quotes what needs it and keeps every digit", "[common][csv]") {
    Csv table({"name", "value", "ok"});
    table.row("plain", 0.1, true);
    table.row("a,b", 1.0 / 3, false);
    table.row(std::string("say \"hi\""), -5, true);
    table.row("two\nlines", std::numeric_limits<double>::quiet_NaN(), 1e300);
    table.row("", 0.1f, std::uint64_t{18446744073709551615u});
    CHECK(table.text() ==
          "name,value,ok\r\nplain,0.1,true\r\n\"a,b\",0.3333333333333333,false\r\n\"say "
          "\"\"hi\"\"\",-5,true\r\n"
          "\"two\nlines\",nan,1e+300\r\n,0.1,18446744073709551615\r\n");
    CHECK_THROWS_AS(table.row(1, 2), std::invalid_argument);
    CHECK_THROWS_AS(table.row(1, 2, 3, 4), std::invalid_argument);
    const rungs::TemporaryFolder folder;
    table.write(folder / "t.csv");
    CHECK(read_file(folder / "t.csv") == table.text());
    CHECK_THROWS_AS(table.write("/dev/full"), FileError);
}
