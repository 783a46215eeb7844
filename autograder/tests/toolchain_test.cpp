#include <cstdio>
#include <filesystem>
#include <string>

#include "judge/build/toolchain.hpp"
#include "modes_of_build.hpp"
#include "rungs/catch.hpp"

namespace rungs::judge {
namespace {

using Catch::Matchers::ContainsSubstring;

/// What the compiler says of the headers that it opens for an empty file: "! " before one that is
/// precompiled, "x " before one that is, but not for these options.
std::string headers_of_nothing(const BackendTools& tools, const std::string& prelude) {
    std::string command = tools.compiler + " -include " + prelude;
    for (const std::string& flag : tools.compile) command += " '" + flag + "'";
    command += " -fmax-errors=20 -fdiagnostics-color=never -H -x c++ -c /dev/null -o /dev/null 2>&1";
    std::FILE* pipe = popen(command.c_str(), "re");
    REQUIRE(pipe != nullptr);
    std::string said;
    for (char buffer[4096]; std::fgets(buffer, sizeof buffer, pipe);) said += buffer;
    CHECK(pclose(pipe) == 0);
    return said;
}

}  // namespace

// A compiler that does not take it says nothing, and reads the header itself.
TEST_CASE("the compiler takes what is precompiled for rungs, in either mode") {
    if (const std::string why = why_no_preludes(); !why.empty()) RUNGS_SKIP(why);
    const Toolchain toolchain = read_toolchain(std::filesystem::path(RUNGS_BUILD) / "toolchain.json");
    for (const Mode mode : {Mode::run, Mode::check}) {
        const BackendTools* tools = toolchain.tools(Backend::cpu, mode);
        if (mode == Mode::check && !why_no_check_mode().empty()) continue;
        REQUIRE(tools);
        CHECK(tools->preludes.size() > 1);
        for (const std::string& prelude : tools->preludes) {
            CAPTURE(prelude);
            CHECK_THAT(headers_of_nothing(*tools, prelude), ContainsSubstring("! " + prelude + ".gch"));
        }
    }
}

}  // namespace rungs::judge
