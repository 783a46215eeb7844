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
        folder.write("build/default/build.ninja", build + all + "\nbuild all: phony rungs_tools\n");
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

TEST_CASE("what failing tests printed stands at the end once more", "[launcher]") {
    const SmallTree tree(1);
    tree.folder.write("build/default/CTestTestfile.cmake",
                      "add_test(good echo fine)\n"
                      "add_test(bad sh -c \"seq 100; exit 1\")\n"
                      "add_test([=[worse, with a comma]=] sh -c \"echo oops; exit 1\")\n"
                      "add_test(skipped sh -c \"exit 4\")\n"
                      "set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 4)\n");
    const Outcome outcome = tree.run({"test"});
    CHECK(outcome.status == 1);
    const std::string last =
        outcome.out.substr(std::min(outcome.out.size(), outcome.out.find("The last lines")));
    CHECK_THAT(last, ContainsSubstring("\nbad\n  41\n  42\n") && ContainsSubstring("\n  100\n"));
    CHECK(last.find("  40\n") == std::string::npos);
    CHECK_THAT(last, ContainsSubstring("\nworse, with a comma\n  oops\n"));
    CHECK(last.find("fine") == std::string::npos);
    CHECK(last.find("skipped") == std::string::npos);

    const Outcome good = tree.run({"test", "-R", "good"});
    CHECK(good.status == 0);
    CHECK(good.out.find("The last lines") == std::string::npos);
}

TEST_CASE("before the first build, list, next and hint say what the program says after it", "[launcher]") {
    const TemporaryFolder folder;
    for (const char* linked : {"chapters", "solutions"})
        fs::create_symlink(fs::path(RUNGS_ROOT) / linked, folder.path() / linked);
    fs::permissions(folder.write("rungs", TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "rungs")),
                    fs::perms::owner_all);
    for (const char* name : {"CMakeLists.txt", "common/ladders.awk", "common/packages.txt"})
        folder.write(name, TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / name));
    auto tools = nlohmann::json::parse(TemporaryFolder::content_of(fs::path(RUNGS_BUILD) / "toolchain.json"));
    tools["root"] = folder.path().string();
    tools["build"] = (folder.path() / "later").string();
    tools["cuda"] = nullptr;
    folder.write("later/toolchain.json", tools.dump());

    Process::Setup setup;
    setup.environment = {{"RUNGS_PRESET", ""}, {"XDG_STATE_HOME", ""},
                         {"NO_COLOR", ""},     {"CLICOLOR_FORCE", ""},
                         {"COLUMNS", ""},      {"RUNGS_BUILD", (folder.path() / "later").string()}};
    setup.folder = folder.path().string();
    for (const char* locale : {"C.UTF-8", "C"}) {
        setup.environment["LC_ALL"] = locale;
        for (std::vector<std::string> verb :
             std::vector<std::vector<std::string>>{{"--version"},
                                                   {"list"},
                                                   {"next"},
                                                   {"hint", "01/01"},
                                                   {"hint", "07/08", "--all"},
                                                   {"hint", "reduction/shared_tree", "--all"}}) {
            CAPTURE(locale, verb);
            verb.insert(verb.begin(), (folder.path() / "rungs").string());
            const Outcome before = Process(verb, setup).finish(60);
            verb[0] = RUNGS_PROGRAM;
            const Outcome after = Process(verb, setup).finish(60);
            CHECK(before.status == 0);
            CHECK(before.out == after.out);
            CHECK(before.err.empty());
        }
    }
    CHECK_FALSE(fs::exists(folder.path() / "build"));
}

}  // namespace
}  // namespace rungs::test
