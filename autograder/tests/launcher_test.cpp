// The launcher itself, ./rungs at the root: what it says while it builds, on a tree made for the test.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <thread>

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
        folder.write("build/default/build.ninja", build + all +
                                                      "\nbuild all: phony rungs_tools\nbuild class.o: step\n"
                                                      "build rungs_class: phony class.o\n");
    }

    void executable(const std::string& name, const std::string& content) const {
        fs::permissions(folder.write(name, content), fs::perms::owner_all);
    }

    Outcome run(std::vector<std::string> arguments,
                std::map<std::string, std::string> environment = {}) const {
        Process::Setup setup;
        setup.environment = std::move(environment);
        setup.environment.insert(
            {{"RUNGS_PRESET", ""}, {"RUNGS_CMAKE_ARGS", ""}, {"RUNGS_SKIP_PACKAGES", ""}});
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

TEST_CASE("what a class needs is built for the verbs for a class alone", "[launcher]") {
    const SmallTree tree(1);
    const fs::path of_class = tree.folder.path() / "build/default/class.o";
    CHECK(tree.run({"list"}).status == 0);
    CHECK_FALSE(fs::exists(of_class));
    const Outcome outcome = tree.run({"review", "graded"});
    CHECK(outcome.out == "program review graded\n");
    CHECK(fs::exists(of_class));
}

TEST_CASE("a package without a place is refused before anything is built", "[launcher]") {
    const SmallTree tree(1, "false");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"package"}, {"package", "--rungs", "02/3", "--no-gpu"}}) {
        const Outcome refused = tree.run(arguments);
        CHECK(refused.status == 2);
        CHECK_THAT(refused.err,
                   ContainsSubstring("package needs --out FILE") && !ContainsSubstring("building"));
    }
    for (const char* place : {"--out=x", "--out"})
        CHECK(tree.run({"package", place, "x"}).status == 3);  // the build
}

TEST_CASE("a build that fails is status 3 with the compiler's words", "[launcher]") {
    const SmallTree tree(1, "echo 'a.cpp:3: error: no such thing' && false");
    const Outcome outcome = tree.run({"list"});
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, ContainsSubstring("a.cpp:3: error: no such thing"));
    CHECK_THAT(outcome.err, ContainsSubstring("the build failed"));
    // Ninja's own words, and the command, are in the log.
    for (const char* word : {"FAILED", "ninja:", "touch"}) CHECK(outcome.err.find(word) == std::string::npos);
}

TEST_CASE("a rung that does not compile and stops its chapter's program is named", "[launcher]") {
    const SmallTree tree(0);
    tree.folder.write("chapters/01_a/chapter.toml", "");
    const std::string file = (tree.folder.path() / "build/default/build.ninja").string();
    tree.folder.write("build/default/build.ninja",
                      TemporaryFolder::content_of(file) +
                          "rule make\n  command = echo '05_b.cu:3: error: no such thing' && false\n"
                          "build dir/01_a.student.cpu.rungs.dir/x/01_a/05_b.cu.o: make\n"
                          "build 01_a.student.cpu: phony dir/01_a.student.cpu.rungs.dir/x/01_a/05_b.cu.o\n");
    const Outcome outcome = tree.run({"run", "01", "--backend", "cpu"});
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, ContainsSubstring("05_b.cu:3: error: no such thing") &&
                                ContainsSubstring("01/05 does not compile") &&
                                ContainsSubstring("./rungs reset 01/05"));
}

TEST_CASE("a build for which the disk is too small says only that", "[launcher]") {
    const SmallTree tree(1, "echo 'ld: final link failed: No space left on device' && false");
    const Outcome outcome = tree.run({"list"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("the disk is full at " + tree.folder.path().string()));
    CHECK(outcome.err.find("ld:") == std::string::npos);
}

TEST_CASE("what failing tests printed is printed again at the end", "[launcher]") {
    const SmallTree tree(1);
    tree.folder.write("build/default/CTestTestfile.cmake",
                      "add_test(good echo fine)\n"
                      "add_test(bad sh -c \"seq 100; exit 1\")\n"
                      "add_test([=[worse, with a comma]=] sh -c \"echo oops; exit 1\")\n"
                      "add_test(skipped sh -c \"exit 77\")\n"
                      "set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)\n");
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

TEST_CASE("a run of all tests goes on where it was interrupted, unless a file has changed", "[launcher]") {
    const SmallTree tree(1);
    tree.folder.write("chapters/01_a/chapter.toml", "");
    const std::string went = (tree.folder.path() / "build/default/went").string();
    const auto runs_of = [&](const std::string& test) {
        const std::string all = fs::exists(went) ? TemporaryFolder::content_of(went) : std::string();
        std::size_t runs = 0;
        for (std::size_t at = 0; (at = all.find(test + "\n", at)) != std::string::npos; ++at) ++runs;
        return runs;
    };
    // `second` ends the launcher's tests as a kill would: what has passed so far is known,
    // no summary is printed.
    tree.folder.write("build/default/CTestTestfile.cmake",
                      "add_test(first sh -c \"echo first >> went\")\n"
                      "add_test(second sh -c \"echo second >> went; [ -e go ] || kill -9 $PPID\")\n"
                      "add_test(third sh -c \"echo third >> went\")\n"
                      "set_tests_properties(first second third PROPERTIES RUN_SERIAL ON)\n"
                      "set_tests_properties(second PROPERTIES DEPENDS first)\n"
                      "set_tests_properties(third PROPERTIES DEPENDS second)\n");
    CHECK(tree.run({"test", "--all", "-j1"}).status != 0);
    CHECK((runs_of("first") == 1 && runs_of("second") == 1 && runs_of("third") == 0));
    tree.folder.write("build/default/go", "");
    const Outcome rest = tree.run({"test", "--all", "-j1"});
    INFO(rest.out + rest.err);
    CHECK(rest.status == 0);
    CHECK_THAT(rest.err, ContainsSubstring("1 tests passed before"));
    CHECK((runs_of("first") == 1 && runs_of("second") == 2 && runs_of("third") == 1));
    // It ran to the end, so the next run begins again.
    CHECK(tree.run({"test", "--all", "-j1"}).status == 0);
    CHECK((runs_of("first") == 2 && runs_of("third") == 2));
    tree.folder.write("build/default/tests.passed", "");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    tree.folder.write("chapters/01_a/chapter.toml", "# changed\n");
    CHECK(tree.run({"test", "--all", "-j1"}).status == 0);
    CHECK(runs_of("first") == 3);
    // What passes in a slice says nothing of all cases.
    fs::remove(tree.folder.path() / "build/default/go");
    CHECK(tree.run({"test", "--all", "-j1"}).status != 0);
    CHECK(tree.run({"test", "-j1"}).status != 0);
    tree.folder.write("build/default/go", "");
    CHECK(tree.run({"test", "--all", "-j1"}).status == 0);
    CHECK(runs_of("first") == 6);
}

TEST_CASE("a run of the tests says which slice of the expensive cases it has tried", "[launcher]") {
    const SmallTree tree(1);
    tree.folder.write("build/default/CTestTestfile.cmake",
                      "add_test(one sh -c \"head -n 1 $RUNGS_SLICE; echo 'mistakes in 01_a: 3 of 20' >> "
                      "$RUNGS_SLICE.tried\")\n");
    const Outcome slice = tree.run({"test", "-V"});
    INFO(slice.out);
    CHECK(slice.status == 0);
    CHECK_THAT(slice.out, ContainsSubstring("The slice of commit") &&
                              ContainsSubstring("\n  mistakes in 01_a: 3 of 20\n"));
    tree.folder.write("build/default/CTestTestfile.cmake",
                      "add_test(one sh -c \"[ -z \\\"$RUNGS_SLICE\\\" ]\")\n");
    const Outcome all = tree.run({"test", "--all"});
    CHECK(all.status == 0);
    CHECK(all.out.find("slice") == std::string::npos);
}

TEST_CASE("cases runs the programs that know a word, and leaves with the worst of their statuses",
          "[launcher]") {
    const SmallTree tree(0);
    const std::string file = (tree.folder.path() / "build/default/build.ninja").string();
    tree.folder.write("build/default/build.ninja",
                      TemporaryFolder::content_of(file) +
                          "build exams rungs_cases rungs_attacks rungs_attacks_undefended: phony\n");
    // Knows one word; fails, if asked for more than names, with the given status.
    const auto knows = [](const std::string& word, int status) {
        return "#!/bin/sh\n[ \"$1\" != --names ] || { [ \"$2\" = " + word + " ] && echo " + word +
               "; exit; }\necho tried " + word + "\nexit " + std::to_string(status) + "\n";
    };
    tree.executable("build/default/bin/rungs_cases", knows("mistake", 1));
    tree.executable("build/default/bin/rungs_attacks", knows("attack", 3));
    const Outcome mistake = tree.run({"cases", "mistake"}), attack = tree.run({"cases", "attack"}),
                  none = tree.run({"cases", "other"});
    CHECK((mistake.status == 1 && mistake.out == "tried mistake\n"));
    CHECK((attack.status == 3 && attack.out == "tried attack\n"));
    CHECK((none.status == 2 && none.out.empty()));
    CHECK_THAT(none.err, ContainsSubstring("no listed mistake and no attack has that in its name: other"));
    tree.executable("build/default/bin/rungs_attacks", knows("mistake", 0));
    const Outcome both = tree.run({"cases", "mistake"});
    CHECK((both.status == 1 && both.out == "tried mistake\ntried mistake\n"));
}

TEST_CASE("a test run ends with the times of the build and of each label", "[launcher]") {
    const SmallTree tree(6);  // of 0.2 s
    tree.folder.write(
        "build/default/CTestTestfile.cmake",
        "add_test(one sleep 2)\nset_tests_properties(one PROPERTIES LABELS slow RUN_SERIAL ON)\n"
        "add_test(two true)\nset_tests_properties(two PROPERTIES LABELS quick RUN_SERIAL ON)\n");
    const Outcome outcome = tree.run({"test"});
    INFO(outcome.out);
    CHECK(outcome.status == 0);
    const std::string table =
        outcome.out.substr(std::min(outcome.out.size(), outcome.out.find("Where the time went")));
    const auto seconds_of = [&](const std::string& part) {
        const std::size_t at = table.find("\n  " + part + " ");
        REQUIRE(at != std::string::npos);
        int minutes = 0, seconds = 0;
        REQUIRE(std::sscanf(table.c_str() + at + 3 + part.size(), " %d:%d", &minutes, &seconds) == 2);
        return 60 * minutes + seconds;
    };
    CHECK(seconds_of("build") >= 1);
    CHECK(seconds_of("slow") >= 1);
    CHECK(seconds_of("quick") < seconds_of("slow"));
    CHECK(seconds_of("all") >= seconds_of("build") + seconds_of("slow"));
}

TEST_CASE("the exams of named chapters are built, and no option's value names one", "[launcher]") {
    const auto built = [](std::vector<std::string> arguments, const std::string& assignment = {}) {
        const SmallTree tree(0);
        if (!assignment.empty()) {
            arguments.push_back(
                tree.folder.write("class/assignment.toml", assignment).parent_path().string());
        }
        const std::string file = (tree.folder.path() / "build/default/build.ninja").string();
        std::string rules = TemporaryFolder::content_of(file) + "rule make\n  command = touch $out\n";
        for (const std::string chapter : {"01_a", "02_b"}) {
            tree.folder.write("chapters/" + chapter + "/chapter.toml", "");
            rules += "build " + chapter + ".exam.module: make\n";
        }
        tree.folder.write("build/default/build.ninja",
                          rules + "build exams: phony 01_a.exam.module 02_b.exam.module\n");
        const Outcome outcome = tree.run(arguments);
        INFO(outcome.err);
        CHECK(outcome.status == 0);
        std::string chapters;
        for (const std::string chapter : {"01_a", "02_b"})
            if (fs::exists(tree.folder.path() / "build/default" / (chapter + ".exam.module")))
                chapters += chapter + " ";
        return chapters;
    };
    CHECK(built({"check"}) == "01_a 02_b ");
    CHECK(built({"check", "--solution", "01/03"}) == "01_a ");
    CHECK(built({"check", "--json", "01"}) == "01_a 02_b ");
    CHECK(built({"check", "--json", "01", "02", "--again"}) == "02_b ");
    CHECK(built({"check", "--json=01", "b/03"}) == "02_b ");
    // A class needs those that its assignment names.
    CHECK(built({"grade"}, "title = \"01\"\nrungs = [\"02/03\", \"02/04\"]\n") == "02_b ");
    CHECK(built({"grade", "--out", "graded"}, "rungs = [ # \"02\"\n  'a/03',\n]\nroster = \"02\"\n") ==
          "01_a ");
    CHECK(built({"grade"}, "rungs = [\"01\", \"02/03\"]\n") == "01_a 02_b ");
    CHECK(built({"grade"}, "title = \"01\"\n") == "01_a 02_b ");
    CHECK(built({"grade"}, "rungs = [\"09/03\"]\n") == "01_a 02_b ");  // the program says what is wrong
    CHECK(built({"replay", "graded", "ada", "02/03"}) == "02_b ");
}

TEST_CASE("what is built answers while another launcher builds", "[launcher]") {
    const SmallTree tree(1);
    tree.executable("build/default/bin/cu2cpp", "#!/bin/sh\n");
    tree.executable("held/flock",
                    "#!/bin/sh\n[ \"$1\" != -n ]\n");  // another has the lock until somebody waits
    const std::string path = (tree.folder.path() / "held").string() + ":" + std::getenv("PATH");
    for (const char* verb : {"list", "next", "hint"}) {
        const Outcome outcome = tree.run({verb}, {{"PATH", path}});
        CHECK(outcome.status == 0);
        CHECK(outcome.out == std::string("program ") + verb + "\n");
        CHECK(outcome.err == "");
    }
    const std::string waits = "waiting for another ./rungs";
    CHECK_THAT(tree.run({"check"}, {{"PATH", path}}).err, ContainsSubstring(waits));
    fs::remove(tree.folder.path() / "build/default/bin/cu2cpp");  // a tool that is not built yet
    CHECK_THAT(tree.run({"list"}, {{"PATH", path}}).err, ContainsSubstring(waits));
}

TEST_CASE("a chapter's program is built for the CPU alone where nothing else can run", "[launcher]") {
    const auto built = [](const std::vector<std::string>& arguments) {
        const SmallTree tree(0);
        const fs::path build = tree.folder.path() / "build/default";
        tree.folder.write("chapters/01_a/chapter.toml", "");
        std::string rules = TemporaryFolder::content_of((build / "build.ninja").string()) +
                            "rule make\n  command = touch $out\n";
        std::string made;
        for (const std::string version : {"student", "solution"}) {
            const std::string name = "01_a." + version;
            for (const std::string backend : {".cpu", ".cuda"})
                rules += "build " + name + backend + ": make\n";
            rules += "build " + name + ": phony " + name + ".cpu " + name + ".cuda\n";
        }
        tree.folder.write("build/default/build.ninja", rules);
        const Outcome outcome = tree.run(arguments);
        INFO(outcome.err);
        CHECK(outcome.status == 0);
        for (const char* name : {"student.cpu", "student.cuda", "solution.cpu", "solution.cuda"}) {
            if (fs::exists(build / ("01_a." + std::string(name)))) made += name + std::string(" ");
        }
        return made;
    };
    bool gpu = false;
    for (const char* device : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu"})
        gpu = gpu || fs::exists(device);
    const std::string either = gpu ? "student.cpu student.cuda " : "student.cpu ";
    CHECK(built({"run", "01"}) == either);
    CHECK(built({"run", "a", "--", "--backend", "cpu"}) == either);
    CHECK(built({"run", "--backend", "cpu", "01"}) == "student.cpu ");
    CHECK(built({"run", "01_a", "--backend=cpu", "--solution"}) == "solution.cpu ");
}

/// The lines of the README's blocks of commands.
std::vector<std::string> commands_of_readme() {
    std::istringstream readme(TemporaryFolder::content_of((fs::path(RUNGS_ROOT) / "README.md").string()));
    std::vector<std::string> commands;
    bool inside = false;
    for (std::string line; std::getline(readme, line);) {
        if (line.rfind("```", 0) == 0) {
            inside = !inside;
        } else if (inside) {
            commands.push_back(line);
        }
    }
    return commands;
}

/// The commands by which ninja makes `targets` in the build of these tests: they name all that is made.
std::string commands_for(std::vector<std::string> targets) {
    targets.insert(targets.begin(), {"/usr/bin/env", "ninja", "-C", RUNGS_BUILD, "-t", "commands"});
    const Outcome outcome = Process(targets, {}).finish(60);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome.out;
}

TEST_CASE("the README runs verbs that there are, and programs that the demo has built", "[launcher]") {
    const SmallTree tree(0);
    const std::string help = tree.run({"--help"}).out;
    const std::string bin = (tree.folder.path() / "bin").string(), asked = bin + "/asked";
    tree.executable("bin/ninja", "#!/bin/sh\nprintf '%s\\n' \"$@\" >'" + asked + "'\n");
    CHECK(tree.run({"demo"}, {{"PATH", bin + ":" + std::getenv("PATH")}}).status == 0);
    std::istringstream words(TemporaryFolder::content_of(asked));
    std::vector<std::string> targets;
    for (std::string word; std::getline(words, word);) targets.push_back(word);
    REQUIRE(targets.size() > 2);
    CHECK(targets[0] == "-C");
    targets.erase(targets.begin(), targets.begin() + 2);
    const std::string commands = commands_for(targets);
    const auto is_made = [&](const std::string& name) {
        return commands.find(" " + name + " ") != std::string::npos;
    };

    std::size_t verbs = 0, programs = 0;
    for (const std::string& command : commands_of_readme()) {
        CAPTURE(command);
        std::smatch found;
        if (std::regex_search(command, found, std::regex("^\\./rungs ([a-z]+)"))) {
            ++verbs;
            CHECK_THAT(help, ContainsSubstring("\n  " + found[1].str() + " "));
        }
        if (!std::regex_search(command, found, std::regex("^build/default/(bin/[^ ]+)"))) continue;
        ++programs;
        if (is_made(found[1])) continue;
        // A script, which configuring has written: what it names is made.
        const std::string script =
            TemporaryFolder::content_of((fs::path(RUNGS_BUILD) / found[1].str()).string());
        const std::regex named("(" RUNGS_BUILD "/|\\$simt_programs/)([^\"'\\s]+)");
        for (auto file = std::sregex_iterator(script.begin(), script.end(), named);
             file != std::sregex_iterator(); ++file) {
            const fs::path part((*file)[2].str());
            const std::string name =
                (((*file)[1].str()[0] == '$' ? "bin" : "") / part).lexically_normal().string();
            CAPTURE(name);
            CHECK(is_made(name));
        }
    }
    CHECK(verbs > 10);
    CHECK(programs > 0);
}

TEST_CASE("warnings are errors where .ci/run builds, and nowhere unless asked", "[launcher]") {
    CHECK_THAT(TemporaryFolder::content_of((fs::path(RUNGS_ROOT) / ".ci/run").string()),
               ContainsSubstring("-DRUNGS_WARNINGS_AS_ERRORS=ON"));
    for (const char* file : {"common/cmake/RungsOptions.cmake", "common/simt/cmake/SimtOptions.cmake"}) {
        CHECK_THAT(TemporaryFolder::content_of((fs::path(RUNGS_ROOT) / file).string()),
                   ContainsSubstring("WARNINGS_AS_ERRORS \"Treat warnings in our own code as errors\" OFF)"));
    }
}

/// A tree that wants one package, on a machine that has a shell's usual tools, an ordinary user and no more;
/// and a program that says where CMake would look.
struct BareMachine : SmallTree {
    BareMachine() : SmallTree(1) {
        folder.write("common/packages.txt",
                     "# comment\n"
                     "build-essential core bin/sh gcc-c++ base-devel gcc-c++ compiler\n"
                     "libours-dev core include/ours.h ours-devel ours libours-devel what is ours\n"
                     "other docs include/other.h other other other of another group\n");
        executable("build/default/bin/rungs", "#!/bin/sh\necho \"$CMAKE_PREFIX_PATH\"\n");
        executable("bin/id", "#!/bin/sh\necho 1000\n");
        for (const char* tool : {"awk",  "cat",  "cp",    "df",    "dirname", "find",  "flock",    "grep",
                                 "head", "kill", "ln",    "mkdir", "mv",      "ninja", "readlink", "rm",
                                 "sed",  "sh",   "sleep", "sort",  "stty",    "tail",  "test",     "touch"}) {
            std::stringstream path(std::getenv("PATH"));
            for (std::string place; std::getline(path, place, ':');) {
                if (fs::exists(fs::path(place) / tool)) {
                    fs::create_symlink(fs::path(place) / tool, bin / tool);
                    break;
                }
            }
        }
    }

    /// Debian's tools: each call of apt-get is noted, and its install brings the package and a C library.
    void debian(const std::string& dpkg = "") const {
        executable("bin/dpkg-query", "#!/bin/sh\n");
        executable("bin/apt-get", R"(#!/bin/sh
here=$(dirname "$0")/..
echo "$@" >>"$here/calls"
[ ! -e "$here/offline" ] || { echo "E: no such host" >&2 && exit 100; }
for word; do case $word in Dir::Cache=*) cache=${word#*=}/archives ;; esac; done
case $* in *libours-dev*) touch "$cache/libc6_2.deb" "$cache/libours-dev_1.deb" "$cache/other_1.deb" ;; esac
)");
        executable("bin/dpkg", R"(#!/bin/sh
mkdir -p "$3/usr/include"
case $2 in
    *libc6*) touch "$3/libc.so.6" ;;
    *libours-dev*)
)" + dpkg + R"(
        touch "$3/usr/include/ours.h" ;;
esac
)");
    }

    Outcome run(std::vector<std::string> arguments, const std::string& prefix = "") const {
        return SmallTree::run(std::move(arguments),
                              {{"PATH", bin.string()}, {"CI", ""}, {"CMAKE_PREFIX_PATH", prefix}});
    }

    fs::path bin = folder.path() / "bin";
    fs::path calls = folder.path() / "calls";
    fs::path packages = folder.path() / "build/packages";
};

TEST_CASE("what is missing is named in the distribution's words, or found below a prefix", "[launcher]") {
    for (const auto& [tool, line] :
         std::map<std::string, std::string>{{"dnf", "sudo dnf install ours-devel"},
                                            {"pacman", "sudo pacman -S ours"},
                                            {"zypper", "sudo zypper install libours-devel"},
                                            {"none", "not installed: libours-dev"}}) {
        const BareMachine machine;
        machine.executable("bin/" + tool, "#!/bin/sh\n");
        const Outcome outcome = machine.run({"list", "all", "--yes"});
        CAPTURE(tool, outcome.err);
        CHECK(outcome.status == 3);
        CHECK_THAT(outcome.err, ContainsSubstring(line + " \n") && ContainsSubstring("CMAKE_PREFIX_PATH"));

        machine.folder.write("mine/include/ours.h", "");
        const std::string prefix = "/nowhere:" + (machine.folder.path() / "mine").string();
        CHECK(machine.run({"list", "all"}, prefix).out == prefix + "\n");
    }
}

TEST_CASE("who is no administrator unpacks packages below build/", "[launcher]") {
    const BareMachine machine;
    machine.debian();
    const Outcome asked = machine.run({"list", "all"});
    CHECK(asked.status == 3);
    CHECK_THAT(asked.err, ContainsSubstring("Add --yes") &&
                              ContainsSubstring("sudo apt-get install --no-install-recommends libours-dev"));
    CHECK_FALSE(fs::exists(machine.calls));

    const Outcome first = machine.run({"list", "all", "--yes"}, "/mine");
    INFO(first.err);
    CHECK(first.status == 0);
    CHECK(first.out == "/mine:" + (machine.packages / "usr").string() + "\n");
    CHECK(fs::exists(machine.packages / "usr/include/ours.h"));
    CHECK_FALSE(fs::exists(machine.packages / "libc.so.6"));
    CHECK_FALSE(fs::exists(machine.folder.path() / "build/packages.part"));

    const std::string calls = TemporaryFolder::content_of(machine.calls);
    CHECK(machine.run({"list", "all"}).out == (machine.packages / "usr").string() + "\n");
    CHECK(TemporaryFolder::content_of(machine.calls) == calls);
}

TEST_CASE("a package's link to a library that the system has is no dead end", "[launcher]") {
    const BareMachine machine;
    machine.debian(
        "mkdir \"$3/usr/bin\"; ln -s env \"$3/usr/bin/known\"; ln -s nowhere.1 \"$3/usr/bin/unknown\"\n");
    const Outcome outcome = machine.run({"list", "all", "--yes"});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(fs::read_symlink(machine.packages / "usr/bin/known") == "/usr/bin/env");
    CHECK(fs::read_symlink(machine.packages / "usr/bin/unknown") == "nowhere.1");
}

TEST_CASE("packages that could not be had or unpacked leave nothing that looks whole", "[launcher]") {
    const BareMachine machine;
    machine.debian();
    machine.folder.write("offline", "");
    const Outcome offline = machine.run({"list", "all", "--yes"});
    CHECK(offline.status == 3);
    CHECK_THAT(offline.err,
               ContainsSubstring("no such host") && ContainsSubstring("could not be downloaded"));
    fs::remove(machine.folder.path() / "offline");

    machine.debian("touch \"$3/half\"\necho \"no good: $2\" >&2\nexit 2\n");
    const Outcome half = machine.run({"list", "all", "--yes"});
    CHECK(half.status == 3);
    CHECK_THAT(half.err,
               ContainsSubstring("no good: ") && ContainsSubstring("could not be downloaded and unpacked"));
    CHECK_FALSE(fs::exists(machine.packages));

    machine.debian();
    CHECK(machine.run({"list", "all", "--yes"}).status == 0);
    CHECK_FALSE(fs::exists(machine.packages / "half"));
}

TEST_CASE("a compiler is not unpacked", "[launcher]") {
    const BareMachine machine;
    machine.debian();
    machine.folder.write("common/packages.txt", "build-essential core bin/no-such-compiler a b c compiler\n");
    const Outcome outcome = machine.run({"list", "all", "--yes"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err,
               ContainsSubstring("an administrator has to install the compiler: sudo apt-get install"));
    CHECK_FALSE(fs::exists(machine.calls));
}

TEST_CASE("before the first build, list, next and hint say what the program says after it", "[launcher]") {
    const TemporaryFolder folder;
    for (const char* linked : {"chapters", "solutions"})
        fs::create_symlink(fs::path(RUNGS_ROOT) / linked, folder.path() / linked);
    fs::permissions(folder.write("rungs", TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "rungs")),
                    fs::perms::owner_all);
    for (const char* name : {"CMakeLists.txt", "common/before_build.txt", "common/packages.txt"})
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
    // Before there is a program, the hints that have been read are not counted: the second command shows all.
    const Outcome first = Process({(folder.path() / "rungs").string(), "hint", "01/02"}, setup).finish(60);
    CHECK_THAT(first.out, ContainsSubstring("\nhint 1 of 4\n") && !ContainsSubstring("hint 2 of") &&
                              ContainsSubstring("\nall hints: ./rungs hint 01/02 --all\n"));
    CHECK_FALSE(fs::exists(folder.path() / "build"));
}

}  // namespace
}  // namespace rungs::test
