// What CTest sees of tests that fail, skip, or do both: by hidden tests of this program, each run
// as CTest runs one.
#include <filesystem>

#include "rungs/catch.hpp"
#include "testing/commands.h"

namespace {

int status_of(const std::string& test) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    return simt_testing::run("'" + self + "' '" + test + "'").status;
}

TEST_CASE("probe: passes", "[.probe]") { SUCCEED(); }

TEST_CASE("probe: fails 4 times", "[.probe]") {
    for (int i = 0; i < 4; ++i) CHECK(i < 0);
}

TEST_CASE("probe: fails 77 times", "[.probe]") {
    for (int i = 0; i < 77; ++i) CHECK(i < 0);
}

TEST_CASE("probe: skips", "[.probe]") { RUNGS_SKIP("nothing is here"); }

TEST_CASE("probe: fails, then skips", "[.probe]") {
    CHECK(std::string("a") == "b");
    RUNGS_SKIP("nothing is here");
}

TEST_CASE("probe: asserts nothing", "[.probe]") {}

TEST_CASE("a test that fails is never told as skipped, and one that skips never as passed") {
    CHECK(status_of("probe: passes") == 0);
    CHECK(status_of("probe: skips") == 77);
    for (const char* fails : {"probe: fails 4 times", "probe: fails 77 times", "probe: fails\\, then skips",
                              "probe: asserts nothing", "[.probe]", "probe: there is none of this name"}) {
        CAPTURE(fails);
        const int status = status_of(fails);
        CHECK(status != 0);
        CHECK(status != 77);
    }
}

}  // namespace
