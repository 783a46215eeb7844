// The launcher itself, ./rungs at the root: what it says while it builds, on a tree made for the test.
#include "program_fixture.hpp"
#include "rungs/catch.hpp"

namespace rungs::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

/// A tree with the real launcher, a program that prints its arguments, and a build of `steps` short steps,
/// one after the other.
struct SmallTree {
    explicit SmallTree(int steps, const std::string& command = "sleep 0.2") {
        const auto executable = [&](const char* name, const std::string& content) {
            fs::permissions(folder.write(name, content), fs::perms::owner_all);
        };
        executable("rungs", TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "rungs"));
        executable("build/default/bin/rungs", "#!/bin/sh\necho program \"$@\"\n");
        folder.write("common/packages.txt", "");
        std::string build = "pool one\n  depth = 1\nrule step\n  pool = one\n  command = " + command +
                            " && touch $out\n  description = Building CXX object a/$out\n";
        std::string all = "build rungs_tools: phony";
        for (int i = 0; i < steps; ++i) {
            build += "build " + std::to_string(i) + ".o: step\n";
            all += " " + std::to_string(i) + ".o";
        }
        folder.write("build/default/build.ninja", build + all + "\n");
    }

    Outcome run(std::vector<std::string> arguments) const {
        Process::Setup setup;
        setup.environment = {{"RUNGS_PRESET", ""}, {"RUNGS_CMAKE_ARGS", ""}};
        arguments.insert(arguments.begin(), (folder.path() / "rungs").string());
        return Process(arguments, setup).finish(60);
    }

    TemporaryFolder folder;
};

TEST_CASE("a build in a log says how far it is, and nothing when there is nothing to do", "[launcher]") {
    const SmallTree tree(15);
    const Outcome first = tree.run({"list", "a b"});
    INFO(first.err);
    CHECK(first.status == 0);
    CHECK(first.out == "program list a b\n");
    CHECK_THAT(first.err, ContainsSubstring(" of 15 steps, 0:0"));
    CHECK(first.err.find('\r') == std::string::npos);
    const Outcome second = tree.run({"list"});
    CHECK(second.out == "program list\n");
    CHECK(second.err.empty());
}

TEST_CASE("a build that fails is status 3 with the compiler's words", "[launcher]") {
    const SmallTree tree(1, "echo 'a.cpp:3: error: no such thing' && false");
    const Outcome outcome = tree.run({"list"});
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, ContainsSubstring("a.cpp:3: error: no such thing"));
    CHECK_THAT(outcome.err, ContainsSubstring("the build failed"));
}

TEST_CASE("a build for which the disk is too small says only that", "[launcher]") {
    const SmallTree tree(1, "echo 'ld: final link failed: No space left on device' && false");
    const Outcome outcome = tree.run({"list"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("the disk is full at " + tree.folder.path().string()));
    CHECK(outcome.err.find("ld:") == std::string::npos);
}

}  // namespace
}  // namespace rungs::test
