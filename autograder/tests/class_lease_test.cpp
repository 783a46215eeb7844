// Who works in a folder: of many one, and a holder on another machine is watched, whatever its clock says.
#include "class/lease.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "class/assignment.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs;
using namespace rungs::classroom;
using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// As another machine has written it.
void elsewhere(const fs::path& file) {
    write_file(file, nlohmann::json{{"host", "elsewhere"},
                                    {"process", "1"},
                                    {"started", "2026-01-01T00:00:00Z"},
                                    {"boot", "another"},
                                    {"namespace", "pid:[1]"},
                                    {"began", "1"},
                                    {"job", "17"}}
                         .dump());
}

/// Sets the time of the last write, as a holder with a wrong clock does.
void touch(const fs::path& file, std::time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("of all processes one has the lease, and it goes with the holder", "[class][lease]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "lock";
    CHECK_FALSE(holder_of(file));
    {
        const Lease mine(file);
        CHECK(mine.taken_over().empty());
        REQUIRE(holder_of(file));
        CHECK(holder_of(file)->process == std::to_string(getpid()));
        CHECK_THROWS_WITH(Lease(file),
                          ContainsSubstring("is being graded by process " + std::to_string(getpid())));
    }
    CHECK_FALSE(fs::exists(file));

    // A process that is gone, or another one that has its number now.
    const pid_t child = fork();
    if (child == 0) {
        const auto* left = new Lease(file);
        _exit(left->lost() ? 1 : 0);
    }
    // One that has ended is gone, even if nobody has asked for its status: not every init does.
    siginfo_t ended{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
    REQUIRE(fs::exists(file));
    CHECK_FALSE(holder_of(file));
    waitpid(child, nullptr, 0);
    CHECK_FALSE(holder_of(file));
    nlohmann::json text = nlohmann::json::parse(read_file(file));
    text["process"] = std::to_string(getpid());
    text["began"] = "1";  // a tick of the clock may have seen both processes begin
    write_file(file, text.dump());
    CHECK_FALSE(holder_of(file));
    const Lease next(file);
    CHECK_THAT(next.taken_over(), ContainsSubstring("was interrupted"));
    CHECK(folder.listing() == "lock");
}

TEST_CASE("a holder on another machine is watched, and no clock is believed", "[class][lease]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "lock";
    elsewhere(file);
    for (const std::time_t last :
         {std::time_t{0}, std::time_t{2'000'000'000}}) {  // some file systems end in 2038
        // It shows signs of life, from a clock that is years off.
        touch(file, last);
        std::time_t now = last;
        int asked = 0;
        const auto holder =
            holder_of(file,
                      [&](const Holder& who) {
                          CHECK(who.text() == "process 1 on elsewhere (job 17) since 2026-01-01T00:00:00Z");
                          if (++asked == 3) touch(file, ++now);
                      },
                      {20ms, 60s});
        REQUIRE(holder);
        CHECK(asked >= 3);
        // It shows none.
        CHECK_FALSE(holder_of(file, {}, {20ms, 200ms}));
    }
    const Lease taken(file, {}, {20ms, 200ms});
    CHECK_THAT(taken.taken_over(), ContainsSubstring("(on elsewhere)"));
    CHECK_FALSE(taken.lost());
}

TEST_CASE("whoever has lost a lease notices, and leaves the other's alone", "[class][lease]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "lock";
    {
        const Lease mine(file, {}, {10ms, 60s});
        fs::remove(file);
        elsewhere(file);
        for (int i = 0; i < 6000 && !mine.lost(); ++i) std::this_thread::sleep_for(10ms);
        CHECK(mine.lost());
    }
    CHECK(fs::exists(file));
    write_file(file, "what is this\n");
    CHECK_THROWS_WITH(Lease(file), ContainsSubstring("not what rungs has written"));
    write_file(file, "");  // as earlier versions left it
    CHECK_NOTHROW(Lease(file));
}
