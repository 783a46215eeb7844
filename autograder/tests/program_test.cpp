// The program as a student uses it: every verb, every wrong use, and what it leaves behind when
// things go wrong.
#include <pty.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include "json_schema.hpp"
#include "program_fixture.hpp"
#include "rungs/catch.hpp"

using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

void check_schema(const Json& result) {
    const JsonSchema schema(
        Json::parse(TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "docs/result.schema.json")));
    const auto errors = schema.errors(result);
    CAPTURE(errors);
    CHECK(errors.empty());
}

/// Processes other than this one whose command line or executable names `text`.
int processes_that_name(const std::string& text) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid()))
            continue;
        std::error_code error;
        std::string line = fs::read_symlink(entry.path() / "exe", error).string();
        std::ifstream in(entry.path() / "cmdline");
        line.append(std::istreambuf_iterator<char>(in), {});
        count += line.find(text) != std::string::npos;
    }
    return count;
}

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Points for modelled speed, which is that of a sum of so many floats.
void model_speed(const SmallWorkbook& workbook, int size) {
    std::string manifest = SmallWorkbook::manifest();
    manifest.insert(manifest.find("hints ="),
                    "speed = { points = 5, baseline = \"01_atomic\", zero = 1.5, full = 2.5, "
                    "modelled = { zero = 1.5, full = 2.5 } }\n");
    manifest.insert(manifest.find("[rungs.01"), "[[modelled]]\nproblem = \"sum\"\nsizes = [" +
                                                    std::to_string(size) + "]\nkind = \"uniform\"\n");
    workbook.folder.write("chapters/01_reduction/chapter.toml", manifest);
}

}  // namespace

/// The verbs of a help text: words that begin a line behind two blanks, from `from` on.
static std::set<std::string> verbs_of(const std::string& help, const std::string& from) {
    std::set<std::string> verbs;
    std::istringstream lines(help.substr(help.find(from)));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        if (line.empty() && !verbs.empty()) break;
        if (line.size() > 2 && line.rfind("  ", 0) == 0 && line[2] != ' ') {
            verbs.insert(line.substr(2, line.find(' ', 2) - 2));
        }
    }
    return verbs;
}

/// How many columns a text takes.
static std::size_t width_of(const std::string& text) {
    std::size_t most = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
    return most;
}

TEST_CASE("every verb has help with an example, and the launcher knows the same verbs", "[program]") {
    const SmallWorkbook workbook;
    const std::string help = workbook.run({"--help"}).out;
    CHECK(width_of(help) <= 100);
    const std::set<std::string> verbs = verbs_of(help, "Subcommands:");
    CHECK(verbs.size() > 10);
    for (const std::string& verb : verbs) {
        CAPTURE(verb);
        const Outcome outcome = workbook.run({verb, "--help"});
        CHECK(outcome.status == 0);
        CHECK_THAT(outcome.out, ContainsSubstring("Example: ./rungs " + verb));
        CHECK(width_of(outcome.out) <= 100);
        CHECK(outcome.err.empty());
    }
    CHECK_THAT(workbook.run({"--version"}).out, StartsWith("rungs "));
    const std::string launcher = Process({RUNGS_ROOT "/rungs", "--help"}, {}).finish(60).out;
    CHECK(width_of(launcher) <= 100);
    std::set<std::string> launchers = verbs_of(launcher, "usage:");
    CHECK(launchers.erase("docs") == 1);     // needs no program
    CHECK(launchers.erase("package") == 1);  // has one of its own
    CHECK(launchers.erase("new") == 1);      // so has this one
    CHECK(launchers.erase("cases") == 1);    // has programs of its own
    CHECK(launchers == verbs);
}

TEST_CASE("wrong use ends with status 2 and the nearest names", "[program]") {
    const SmallWorkbook workbook;
    const auto wrong = [&](std::vector<std::string> arguments, const std::string& answer) {
        const Outcome outcome = workbook.run(arguments);
        CAPTURE(arguments);
        CHECK(outcome.status == 2);
        CHECK(outcome.out.empty());
        CHECK_THAT(outcome.err, StartsWith("rungs: "));
        CHECK_THAT(outcome.err, ContainsSubstring(answer));
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    };
    wrong({}, "--help");
    wrong({"chekc"}, "did you mean check?");
    wrong({"frobnicate"}, "--help lists them");
    wrong({"check", "02"}, "did you mean 01");
    wrong({"check", "reductoin"}, "did you mean reduction");
    wrong({"check", "zebra"}, "the chapters are 01_reduction");
    wrong({"check", "01/04"}, "did you mean 01/01 or 01/03?");
    wrong({"check", "01/shared_tere"}, "did you mean 01/shared_tree");
    wrong({"check", "01/zebra"}, "its rungs are 01_atomic 03_shared_tree");
    wrong({"check", "shared_tree"}, "did you mean 01/shared_tree?");
    wrong({"hint", "3"}, "did you mean 01/03?");
    wrong({"run", "01", "--n", "5"}, "./rungs run 01 -- --help");
    wrong({"check", ""}, "unknown chapter ''");
    wrong({"check", "/tmp/other.cu"}, "is not in a chapter's folder");
    wrong({"check", "--backend", "gpu"}, "--backend");
    wrong({"check", "--seed", "-1"}, "--seed -1");
    wrong({"check", "--seed", "0x"}, "--seed 0x");
    wrong({"check", "--seed", "99999999999999999999"}, "--seed");
    wrong({"check", "--submission", "nowhere"}, "there is no such folder");
    wrong({"check", "--submission", ".", "--solution"}, "exclude each other");
    wrong({"check", "--nonsense"}, "--nonsense");
    wrong({"check", "--jobs", "0"}, "--jobs");
    wrong({"demo", "--jobs", "many"}, "--jobs");
    wrong({"hint"}, "rung is required");
    wrong({"hint", "01"}, "name one rung of it");
    wrong({"reset", "01"}, "name one rung of it");
    wrong({"reset", "01/01"}, "git checkout");
    wrong({"run", "zebra"}, "unknown chapter");
    wrong({"watch", "01/zebra"}, "unknown rung");
    wrong({"test"}, "launcher");
}

TEST_CASE("a rung is found by every name it has", "[program]") {
    const SmallWorkbook workbook;
    for (const std::string name :
         {"01/03", "1/3", "01/shared_tree", "01/03_shared_tree", "reduction/03", "01_reduction/shared_tree",
          "chapters/01_reduction/03_shared_tree.cu", "./chapters/../chapters/01_reduction/03_shared_tree.cu",
          "chapters/01_reduction/03_shared_tree"}) {
        CAPTURE(name);
        CHECK_THAT(workbook.run({"hint", name, "--all"}).out, StartsWith("03_shared_tree"));
    }
    Process::Setup inside = workbook.setup();
    inside.folder = (workbook.folder.path() / "chapters/01_reduction").string();
    CHECK(workbook.run({"hint", "03_shared_tree.cu"}, inside).status == 0);
}

TEST_CASE("hints come one by one and are remembered", "[program]") {
    const SmallWorkbook workbook;
    const Outcome first = workbook.run({"hint", "01/03"});
    CHECK_THAT(first.out, ContainsSubstring("first nudge"));
    CHECK(first.out.find("second nudge") == std::string::npos);
    CHECK_THAT(workbook.run({"hint", "01/03"}).out, ContainsSubstring("second nudge"));
    CHECK_THAT(workbook.run({"hint", "01/03"}).out, ContainsSubstring("no more hints"));
    CHECK_THAT(workbook.run({"hint", "01/01"}).out, ContainsSubstring("is given"));

    SECTION("in the folder for state where there is one") {
        const TemporaryFolder state;
        Process::Setup elsewhere = workbook.setup();
        elsewhere.environment["XDG_STATE_HOME"] = state.path().string();
        CHECK(workbook.run({"hint", "01/03"}, elsewhere).out.find("second nudge") == std::string::npos);
        CHECK_THAT(workbook.run({"hint", "01/03"}, elsewhere).out, ContainsSubstring("second nudge"));
        CHECK_FALSE(state.listing("rungs").empty());
    }
    SECTION("damaged progress is no progress, and no obstacle") {
        for (const char* damage :
             {"", "{", "[]",
              "{\"schema\": \"rungs.progress/1\", \"rungs\": {\"01_reduction/03_shared_tree\": 7}}"}) {
            workbook.folder.write("build/progress.json", damage);
            const Outcome outcome = workbook.run({"hint", "01/03"});
            CHECK(outcome.status == 0);
            CHECK(outcome.out.find("second nudge") == std::string::npos);
        }
    }
    SECTION("progress that cannot be stored is said, and no obstacle") {
        fs::remove(workbook.folder.path() / "build/progress.json");
        fs::create_directory(workbook.folder.path() / "build/progress.json");
        const Outcome outcome = workbook.run({"hint", "01/03"});
        CHECK(outcome.status == 0);
        CHECK_THAT(outcome.out, ContainsSubstring("could not store"));
    }
}

TEST_CASE("list and next show the way", "[program]") {
    const SmallWorkbook workbook;
    const Outcome list = workbook.run({"list"});
    CHECK(list.status == 0);
    CHECK_THAT(list.out, ContainsSubstring("01 Reduction  0 of 10 points"));
    CHECK_THAT(list.out, ContainsSubstring("\u00b7 01_atomic           given"));
    CHECK_THAT(list.out, ContainsSubstring("\u00b7 03_shared_tree     - / 10"));
    const Outcome next = workbook.run({"next"});
    CHECK(next.status == 0);
    CHECK_THAT(next.out, ContainsSubstring("chapters/01_reduction/03_shared_tree.cu:"));
    CHECK_THAT(next.out, ContainsSubstring("./rungs check 01/03"));
    // The line that is named is the TODO's.
    const std::string text = next.out.substr(next.out.find(".cu:") + 4);
    const int line = std::stoi(text);
    std::istringstream in(workbook.starter);
    std::string content;
    for (int i = 0; i < line; ++i) std::getline(in, content);
    CHECK_THAT(content, ContainsSubstring("TODO"));
}

TEST_CASE("a file that is as it was handed out is recognised, and only such a file", "[program][judge]") {
    const SmallWorkbook workbook;
    const auto reason = [&] {
        const Outcome outcome = workbook.run({"check", "01/03", "--backend", "cpu", "--json", "-"});
        CHECK(outcome.status == 1);
        return nlohmann::json::parse(outcome.out.substr(outcome.out.find("\n{") + 1))
            .at("rungs")
            .at(0)
            .at("reason")
            .get<std::string>();
    };
    CHECK_THAT(reason(), ContainsSubstring("as handed out: "));
    // The verdict is kept; what is said of the file is of the file that is there.
    CHECK_THAT(reason(), ContainsSubstring("as handed out: "));
    workbook.folder.write(SmallWorkbook::student, workbook.starter + "// begun\n");
    CHECK(reason().find("as handed out") == std::string::npos);
}

TEST_CASE("reset puts the starter back and keeps the student's version", "[program]") {
    const SmallWorkbook workbook;
    CHECK(workbook.starter.find("SOLUTION") == std::string::npos);
    workbook.folder.write(SmallWorkbook::student, "// my work\n");
    const Outcome outcome = workbook.run({"reset", "01/03"});
    CHECK(outcome.status == 0);
    CHECK(workbook.folder.read(SmallWorkbook::student) == workbook.starter);
    const std::size_t at = outcome.out.find("chapters/01_reduction/03_shared_tree.cu.bak-");
    REQUIRE(at != std::string::npos);
    const std::string backup = outcome.out.substr(at, outcome.out.find('\n', at) - at);
    CHECK(workbook.folder.read(backup) == "// my work\n");

    SECTION("a second reset within the same second loses nothing") {
        workbook.folder.write(SmallWorkbook::student, "// second work\n");
        CHECK(workbook.run({"reset", "01/03"}).status == 0);
        CHECK(workbook.folder.read(backup) == "// my work\n");
        std::string all;
        for (const auto& entry : fs::directory_iterator(workbook.folder.path() / "chapters/01_reduction")) {
            if (entry.path().string().find(".bak-") != std::string::npos)
                all += TemporaryFolder::content_of(entry.path());
        }
        CHECK_THAT(all, ContainsSubstring("// second work"));
    }
    SECTION("an untouched starter makes no backup") {
        const std::string before = workbook.folder.listing("chapters/01_reduction");
        CHECK_THAT(workbook.run({"reset", "01/03"}).out, ContainsSubstring("nothing was changed"));
        CHECK(workbook.folder.listing("chapters/01_reduction") == before);
    }
    SECTION("a deleted file comes back") {
        fs::remove(workbook.folder.path() / SmallWorkbook::student);
        const Outcome lost = workbook.run({"check", "01/03"});
        CHECK(lost.status == 3);
        CHECK_THAT(
            lost.err,
            ContainsSubstring("03_shared_tree.cu is missing; to restore its starter: ./rungs reset 01/03"));
        // Of a chapter, the other rungs are judged.
        const Outcome chapter = workbook.run({"check", "01", "--backend", "cpu"});
        CHECK(chapter.status == 1);
        CHECK_THAT(chapter.out,
                   ContainsSubstring("01_atomic") && ContainsSubstring("there is no file 03_shared_tree.cu"));
        CHECK_THAT(chapter.out, ContainsSubstring("./rungs reset 01/03 restores the starter"));
        // Nothing else needs it.
        CHECK(workbook.run({"check", "01/01"}).status == 0);
        CHECK(workbook.run({"check", "01/03", "--solution"}).status == 0);
        CHECK(workbook.run({"list"}).status == 0);
        const TemporaryFolder handed_in;
        handed_in.write("03_shared_tree.cu", workbook.solution);
        CHECK(workbook.run({"check", "01/03", "--submission", handed_in.path().string()}).status == 0);
        CHECK_THAT(workbook.run({"reset", "01/03"}).out, ContainsSubstring("was missing"));
        CHECK(workbook.folder.read(SmallWorkbook::student) == workbook.starter);
    }
    SECTION("without a solution it cannot be done, and says what can") {
        fs::remove(workbook.folder.path() / "solutions/01_reduction/03_shared_tree.cu");
        workbook.folder.write(SmallWorkbook::student, "// third work\n");
        const Outcome none = workbook.run({"reset", "01/03"});
        CHECK(none.status == 3);
        CHECK_THAT(none.err, ContainsSubstring("git checkout -- chapters/01_reduction/03_shared_tree.cu"));
        CHECK(workbook.folder.read(SmallWorkbook::student) == "// third work\n");
    }
    SECTION("on a full disk the student's file stays") {
        workbook.folder.write(SmallWorkbook::student, std::string(3000, 'x'));
        const std::string before = workbook.folder.listing("chapters/01_reduction");
        Process::Setup small = workbook.setup();
        small.file_size = 500;
        const Outcome full = workbook.run({"reset", "01/03"}, small);
        CHECK(full.status == 3);
        CHECK_FALSE(full.err.empty());
        CHECK(workbook.folder.read(SmallWorkbook::student) == std::string(3000, 'x'));
        CHECK(workbook.folder.listing("chapters/01_reduction") == before);
    }
}

TEST_CASE("without a GPU the cuda backend is status 3 and never a pass", "[program]") {
    const SmallWorkbook workbook;
    const Outcome outcome = workbook.run({"check", "--backend", "cuda", "--json", "result.json"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.out, ContainsSubstring("NOT_RUN"));
    CHECK_THAT(outcome.out, ContainsSubstring("--backend cpu"));
    const Json result = Json::parse(workbook.folder.read("result.json"));
    check_schema(result);
    CHECK(result["backend"] == "cuda");
    CHECK(result["undecided"] == 2);
    CHECK(result["score"].is_null());
    CHECK_THAT(outcome.out, ContainsSubstring("no score: 2 of 2 undecided"));
    for (const Json& rung : result["rungs"]) {
        CHECK(rung["status"] == "not_checked");
        CHECK(rung["points"].is_null());
    }
    CHECK(workbook.run({"check", "--solution", "--backend", "cuda"}).status == 3);
    CHECK(workbook.run({"demo", "--backend", "cuda"}).status == 3);
    const Outcome bench = workbook.run({"bench", "01"});
    CHECK(bench.status == 3);
    CHECK_THAT(bench.err, ContainsSubstring("a benchmark needs a GPU"));
    CHECK(workbook.run({"run", "01", "--backend", "cuda"}).status == 3);
}

TEST_CASE("a result file is written whole or not at all", "[program]") {
    const SmallWorkbook workbook;
    SECTION("standard output holds the result and nothing else") {
        const Outcome outcome = workbook.run({"check", "--backend", "cuda", "--json", "-"});
        CHECK(outcome.status == 3);
        check_schema(Json::parse(outcome.out));
        CHECK_THAT(outcome.err, ContainsSubstring("NOT_RUN"));
    }
    SECTION("over the limit on file sizes the old one stays") {
        workbook.folder.write("result.json", "before");
        Process::Setup small = workbook.setup();
        small.file_size = 600;
        const Outcome outcome = workbook.run({"check", "--backend", "cuda", "--json", "result.json"}, small);
        CHECK(outcome.status == 3);
        CHECK_THAT(outcome.err, ContainsSubstring("result.json: could not write"));
        CHECK(workbook.folder.read("result.json") == "before");
        CHECK(workbook.folder.listing(".").find(".tmp") == std::string::npos);
    }
    SECTION("a place that cannot be written is status 3") {
        CHECK(workbook.run({"check", "--backend", "cuda", "--json", "/dev/full"}).status == 3);
        CHECK(workbook.run({"check", "--backend", "cuda", "--json", "/proc/none/result.json"}).status == 3);
        CHECK(workbook.run({"check", "--backend", "cuda", "--json", "chapters"}).status == 3);
    }
}

namespace {

/// A workbook with places that nothing can be written to.
struct Unwritable {
    Unwritable() {
        workbook.folder.write("hand_in/03_shared_tree.cu", workbook.solution);
        workbook.folder.write("read_only", "before");
        fs::create_directories(workbook.folder / "page.html");
        fs::create_directory(workbook.folder / "closed");
    }

    void refused(std::vector<std::string> arguments, const std::string& path, const std::string& why,
                 const Process::Setup& setup) const {
        arguments.push_back(path);
        CAPTURE(arguments);
        const Outcome outcome = workbook.run(arguments, setup);
        CHECK(outcome.status == 3);
        CHECK(outcome.out.empty());
        CHECK_THAT(outcome.err, StartsWith("rungs: ") && ContainsSubstring(path) && ContainsSubstring(why));
        CHECK_FALSE(fs::exists(workbook.folder / "build/progress.json"));
        CHECK(workbook.folder.read("read_only") == "before");
    }

    SmallWorkbook workbook;
    std::vector<std::vector<std::string>> all{
        {"check", "--backend", "cpu", "--json"},
        {"check", "--backend", "cpu", "--submission", "hand_in", "--json"},
        {"demo", "--backend", "cpu", "--json"}};
    Process::Setup usual = workbook.setup();
};

}  // namespace

TEST_CASE("what cannot be written is refused before anything is judged", "[program]") {
    const Unwritable places;
    const Process::Setup& usual = places.usual;
    Process::Setup full = usual;
    full.file_size = 600;
    for (const std::vector<std::string>& command : places.all) {
        places.refused(command, "none/result.json", "the folder does not exist: create it", usual);
        places.refused(command, "read_only/result.json", "is a file, not a folder", usual);
        places.refused(command, "chapters", "this is a folder: name a file", usual);
        places.refused(command, "/proc/result.json", "could not write", usual);
        places.refused(command, "/dev/full", "could not write", usual);
        if (command[0] == "check")
            places.refused(command, "result.json", "the file is larger than this system allows", full);
    }
    places.refused({"demo", "--backend", "cpu", "--out"}, "page.html", "this is a folder: name a file",
                   usual);
    places.refused({"demo", "--backend", "cpu", "--out"}, "read_only/report", "could not make the folder",
                   usual);
    places.refused({"demo", "--backend", "cpu", "--out"}, "/proc/report", "could not make the folder", usual);
}

TEST_CASE("where a user may not write is refused before anything is judged", "[program]") {
    if (geteuid() == 0) RUNGS_SKIP("root may write anywhere");
    const Unwritable places;
    const fs::path root = places.workbook.folder.path();
    fs::permissions(root / "read_only", fs::perms::owner_read);
    fs::permissions(root / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    for (const std::vector<std::string>& command : places.all) {
        places.refused(command, "read_only", "you may not write there", places.usual);
        places.refused(command, "closed/result.json", "you may not write there", places.usual);
    }
    places.refused({"demo", "--backend", "cpu", "--out"}, "closed/report", "you may not write there",
                   places.usual);
}

TEST_CASE("output that nobody takes is noticed", "[program]") {
    const SmallWorkbook workbook;
    SECTION("a full disk") {
        Process::Setup full = workbook.setup();
        full.out_file = "/dev/full";
        for (const std::vector<std::string>& verb :
             std::vector<std::vector<std::string>>{{"list"}, {"--help"}, {"next"}}) {
            const Outcome outcome = workbook.run(verb, full);
            CHECK(outcome.status == 3);
            CHECK_THAT(outcome.err, ContainsSubstring("No space left on device"));
        }
    }
    SECTION("a closed pipe, as of head") {
        Process::Setup closed = workbook.setup();
        closed.close_reader = true;
        const Outcome outcome = workbook.run({"list"}, closed);
        CHECK(outcome.status == 128 + SIGPIPE);
        CHECK(outcome.err.empty());
    }
}

TEST_CASE("colours and signs go only where they can be shown", "[program]") {
    const SmallWorkbook workbook;
    CHECK(workbook.run({"list"}).out.find('\033') == std::string::npos);
    Process::Setup setup = workbook.setup();
    setup.environment["CLICOLOR_FORCE"] = "1";
    CHECK(workbook.run({"list"}, setup).out.find('\033') != std::string::npos);
    setup.environment["NO_COLOR"] = "1";
    CHECK(workbook.run({"list"}, setup).out.find('\033') == std::string::npos);
    setup.environment["LC_ALL"] = "C";
    for (const char* verb : {"list", "next", "doctor"}) CHECK(is_ascii(workbook.run({verb}, setup).out));
    SECTION("lines keep to the width of the terminal") {
        setup.environment["COLUMNS"] = "60";
        std::istringstream lines(workbook.run({"list"}, setup).out);
        for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 60);
    }
}

TEST_CASE("a broken manifest is named with line and column", "[program]") {
    const SmallWorkbook workbook;
    const auto broken = [&](const std::string& from, const std::string& to, const std::string& answer) {
        std::string text = SmallWorkbook::manifest();
        text.replace(text.find(from), from.size(), to);
        workbook.folder.write("chapters/01_reduction/chapter.toml", text);
        for (const char* verb : {"check", "list", "next"}) {
            const Outcome outcome = workbook.run({verb});
            CHECK(outcome.status == 3);
            CHECK_THAT(outcome.err, ContainsSubstring(answer));
            CHECK(outcome.out.empty());
        }
    };
    broken("points = 10", "points = \"ten\"", "chapter.toml:14:10: ");
    broken("points = 10", "pionts = 10", "unknown key 'pionts'");
    broken("title = \"Reduction\"", "title = \"Reduction", "chapter.toml:1:");
}

TEST_CASE("a build that is missing or damaged is status 3", "[program]") {
    const SmallWorkbook workbook;
    workbook.folder.write("build/toolchain.json", "{");
    Outcome outcome = workbook.run({"check"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("toolchain.json"));
    fs::remove(workbook.folder.path() / "build/toolchain.json");
    outcome = workbook.run({"list"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("build again"));
    CHECK(workbook.run({"doctor"}).status == 3);
}

TEST_CASE("no compiler is status 3", "[program]") {
    const SmallWorkbook workbook;
    Json tools = Json::parse(workbook.folder.read("build/toolchain.json"));
    tools["cpu"]["compiler"] = "/nowhere/g++";
    workbook.folder.write("build/toolchain.json", tools.dump());
    const Outcome outcome = workbook.run({"check", "--backend", "cpu"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("/nowhere/g++"));
}

TEST_CASE("run starts the chapter's program with its arguments", "[program]") {
    const SmallWorkbook workbook;
    const Outcome missing = workbook.run({"run", "01", "--backend", "cpu"});
    CHECK(missing.status == 3);
    CHECK_THAT(missing.err, ContainsSubstring("is not built"));
    for (const char* whose : {"student", "solution"}) {
        const fs::path program =
            workbook.folder.write(std::string("build/bin/01_reduction.") + whose + ".cpu",
                                  std::string("#!/bin/sh\necho ") + whose + " \"$@\"\nexit 7\n");
        fs::permissions(program, fs::perms::owner_all);
    }
    const Outcome student = workbook.run({"run", "01", "--", "--bodies", "2048", "a b"});
    CHECK(student.status == 7);
    CHECK(student.out == "student --bodies 2048 a b\n");
    CHECK(workbook.run({"run", "reduction", "--solution", "--backend", "cpu"}).out == "solution\n");
    // On the CPU backend, a launch that does not end is ended.
    workbook.folder.write("build/bin/01_reduction.student.cpu", "#!/bin/sh\necho $RUNGS_SIMT_TIME_LIMIT\n");
    CHECK(workbook.run({"run", "01", "--backend", "cpu"}).out == "60\n");
    Process::Setup longer = workbook.setup();
    longer.environment["RUNGS_SIMT_TIME_LIMIT"] = "600";
    CHECK(workbook.run({"run", "01", "--backend", "cpu"}, longer).out == "600\n");
}

TEST_CASE("doctor names what is here, and the command for what is not", "[program]") {
    const SmallWorkbook workbook;
    const Outcome outcome = workbook.run({"doctor"});
    for (const char* text :
         {"processor", "isolation", "cmake", "backend cpu", "nvcc", "GPU", "cores", "GiB"}) {
        CHECK_THAT(outcome.out, ContainsSubstring(text));
    }
    const TemporaryFolder empty;
    Process::Setup bare = workbook.setup();
    bare.environment["PATH"] = empty.path().string();
    const Outcome without = workbook.run({"doctor"}, bare);
    CHECK(without.status == 3);
    CHECK_THAT(without.out, ContainsSubstring("./rungs demo says how to get it here"));
    CHECK_THAT(without.out,
               ContainsSubstring("not found: build-essential binutils cmake ninja-build python3"));
}

TEST_CASE("the line to look at is an error's, not a warning's", "[program][judge]") {
    const SmallWorkbook workbook;
    std::string leaky = workbook.solution;
    const auto replace = [&](const std::string& what, const std::string& with) {
        leaky.replace(leaky.find(what), what.size(), with);
    };
    replace("terms(i)", "2.0f * terms(i)");
    replace("    if (blocks == 0) return;",
            "    float* lost = nullptr;\n    CUDA_CHECK(cudaMalloc(&lost, 4));\n"
            "    if (blocks == 0) return;");
    workbook.folder.write(SmallWorkbook::student, leaky);
    const auto line_of = [&](const std::string& text) {
        const auto end = leaky.begin() + static_cast<std::ptrdiff_t>(leaky.find(text));
        return std::to_string(1 + std::count(leaky.begin(), end, '\n'));
    };
    const Outcome outcome = workbook.run({"check", "01/03", "--backend", "cpu"});
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.out, ContainsSubstring("03_shared_tree.cu:" + line_of("cudaMalloc(&lost")));
    CHECK_THAT(outcome.out, ContainsSubstring("at         chapters/01_reduction/03_shared_tree.cu:" +
                                              line_of("void shared_tree_kernel(")));
    // A list has room for what is wrong, not for the case.
    CHECK_THAT(workbook.run({"list"}).out,
               ContainsSubstring("WRONG: ") && !ContainsSubstring("WRONG: sum of"));
}

TEST_CASE("what was wrong in the case that was tried is reported beside a fault of another case",
          "[program][judge]") {
    const SmallWorkbook workbook;
    std::string mine = workbook.solution;
    const auto replace = [&](const std::string& what, const std::string& with) {
        REQUIRE(mine.find(what) != std::string::npos);
        mine.replace(mine.find(what), what.size(), with);
    };
    const auto told = [&] {
        workbook.folder.write(SmallWorkbook::student, mine);
        return workbook.run({"check", "01/03", "--backend", "cpu"}).out;
    };
    SECTION("of another case") {  // of 0 elements the sum is wrong, of more they are not all there
        replace("    if (blocks == 0) return;\n",
                "    if (blocks == 0) return (void)cudaMemsetAsync(sum, 1, sizeof(float), stream);\n");
        replace("i < n ? terms(i) : 0.0f", "terms(i)");
        CHECK_THAT(told(), ContainsSubstring("  OOB ") && ContainsSubstring("\n  there      WRONG: "));
    }
    SECTION("in the same case the one comes of the other") {
        replace("__syncthreads();", ";");
        CHECK_THAT(told(), ContainsSubstring("RACE") && !ContainsSubstring("\n  there "));
    }
}

TEST_CASE("after a pass, check names the next exercise", "[program][judge]") {
    const SmallWorkbook workbook;
    const Outcome given = workbook.run({"check", "01/01", "--backend", "cpu"});
    CHECK(given.status == 0);
    CHECK_THAT(given.out, ContainsSubstring("next: 03_shared_tree, chapters/01_reduction/03_shared_tree.cu"));
    workbook.folder.write(SmallWorkbook::student, workbook.solution);
    const Outcome last = workbook.run({"check", "01", "--backend", "cpu"});
    CHECK(last.status == 0);
    CHECK_THAT(last.out, !ContainsSubstring("next:"));
}

TEST_CASE("the solution passes, the starter does not, and the result says so", "[program][judge]") {
    const SmallWorkbook workbook;
    const Outcome good = workbook.run({"check", "--solution", "--backend", "cpu", "--json", "good.json"});
    INFO(good.out << good.err);
    REQUIRE(good.status == 0);
    const Json all = Json::parse(workbook.folder.read("good.json"));
    check_schema(all);
    CHECK(all["score"] == 10);
    CHECK(all["max_score"] == 10);
    CHECK(all["rungs"][0]["given"] == true);
    CHECK(all["rungs"][1]["file"] == "solutions/01_reduction/03_shared_tree.cu");
    CHECK(all["rungs"][1]["speed"]["judged"] == false);
    CHECK_THAT(good.out, ContainsSubstring("speed: not judged on this backend"));

    const Outcome bad = workbook.run({"check", "01", "--backend", "cpu", "--json", "bad.json"});
    INFO(bad.out << bad.err);
    CHECK(bad.status == 1);
    const Json result = Json::parse(workbook.folder.read("bad.json"));
    check_schema(result);
    CHECK(result["rungs"][0]["verdict"] == "OK");
    CHECK(result["rungs"][1]["verdict"] == "WRONG");
    CHECK(result["rungs"][1]["points"] == 0);
    CHECK(result["rungs"][1]["correctness"]["first_mismatches"].size() >= 1);
    for (const char* text : {"WRONG", "03_shared_tree.cu:", "tried", "index", "./rungs hint 01/03",
                             "stopped at the first failure, case "}) {
        CHECK_THAT(bad.out, ContainsSubstring(text));
    }
    // Only the student's own rungs are progress.
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("\u2717 03_shared_tree     0 / 10  WRONG"));
    workbook.folder.write(SmallWorkbook::student, workbook.solution);
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("changed since it was WRONG"));
    CHECK(workbook.run({"check", "01/03", "--backend", "cpu"}).status == 0);
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("\u2713 03_shared_tree    10 / 10"));
    CHECK_THAT(workbook.run({"next"}).out, ContainsSubstring("Every rung passes"));
}

TEST_CASE("points for speed count before a check as after it, also for a file that is refused", "[program]") {
    const SmallWorkbook workbook;
    model_speed(workbook, 257);
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("- / 15"));
    fs::create_directory(workbook.folder.path() / "in");
    fs::create_symlink("/dev/null", workbook.folder.path() / "in/03_shared_tree.cu");
    const Outcome refused =
        workbook.run({"check", "01/03", "--submission", "in", "--backend", "cpu", "--json", "-"});
    INFO(refused.err);
    CHECK(Json::parse(refused.out)["rungs"][0]["verdict"] == "COMPILE_ERROR");
    CHECK(Json::parse(refused.out)["max_score"] == 15);
}

TEST_CASE("points for speed are not lost where it could not be modelled", "[program][judge]") {
    const SmallWorkbook workbook;
    model_speed(workbook, 300);  // a size that no other case has
    workbook.folder.write(SmallWorkbook::student, workbook.solution);
    const auto graded = [&](int status) {
        const Outcome outcome = workbook.run({"check", "01/03", "--backend", "cpu", "--json", "-"});
        INFO(outcome.err);
        CHECK(outcome.status == status);
        return Json::parse(outcome.out)["rungs"][0];
    };
    CHECK(graded(0)["max_points"] == 15);

    workbook.folder.write(SmallWorkbook::student, workbook.solution_with("if (n == 300) throw 1;"));
    Json rung = graded(3);
    CHECK(rung["verdict"] == "SUSPECT");
    CHECK_THAT(rung["reason"].get<std::string>(), ContainsSubstring("could not be modelled: 03_shared_tree"));
    CHECK(rung["points"].is_null());

    workbook.folder.write(SmallWorkbook::student, workbook.solution);
    fs::remove(workbook.folder.path() / "solutions/01_reduction/03_shared_tree.cu");
    rung = graded(3);
    CHECK(rung["verdict"] == "INFRA");
    CHECK_THAT(rung["reason"].get<std::string>(), ContainsSubstring("there is no file 03_shared_tree.cu"));
    CHECK(rung["points"].is_null());
}

TEST_CASE("the compiler's warnings about a right rung are shown, too", "[program][judge]") {
    const SmallWorkbook workbook;
    workbook.folder.write(SmallWorkbook::student, workbook.solution_with("bool between = 1 < 2 < 3;"));
    for (int time = 0; time < 2; ++time) {  // the second time nothing is compiled
        const Outcome outcome = workbook.run({"check", "01/03", "--backend", "cpu"});
        INFO(outcome.out << outcome.err);
        CHECK(outcome.status == 0);
        CHECK_THAT(outcome.out, ContainsSubstring("OK, with remarks"));
        CHECK_THAT(outcome.out, ContainsSubstring("have their mathematical meaning"));
    }
}

TEST_CASE("of lines that no case reaches a remark is made, unless they say why", "[program][judge]") {
    const SmallWorkbook workbook;
    for (const bool explained : {false, true}) {
        std::string source = workbook.solution;
        const std::string last = "    if (threadIdx.x == 0) atomicAdd";
        REQUIRE(source.find(last) != std::string::npos);
        source.insert(source.find(last),
                      std::string(explained ? "    // unchecked: n is never so large\n" : "") +
                          "    if (n == 123456789)\n        partial[0] = 0;\n");
        workbook.folder.write(SmallWorkbook::student, source);
        const Outcome outcome = workbook.run({"check", "01/03", "--backend", "cpu"});
        INFO(outcome.out << outcome.err);
        CHECK(outcome.status == 0);
        CHECK((outcome.out.find("was not reached by any check case") == std::string::npos) == explained);
        CHECK((outcome.out.find("with remarks") == std::string::npos) == explained);
    }
}

TEST_CASE("the same seed replays the same inputs", "[program][judge]") {
    const SmallWorkbook workbook;
    std::string twice = workbook.solution;
    twice.replace(twice.find("terms(i)"), std::strlen("terms(i)"), "2.0f * terms(i)");
    workbook.folder.write(SmallWorkbook::student, twice);
    const auto mismatches = [&](const std::string& seed) {
        const Outcome outcome =
            workbook.run({"check", "01/03", "--backend", "cpu", "--seed", seed, "--json", "-"});
        return Json::parse(outcome.out)["rungs"][0]["correctness"]["first_mismatches"];
    };
    const Json first = mismatches("42");
    CHECK(first == mismatches("0x2a"));
    CHECK(first != mismatches("43"));
}

TEST_CASE("a submission's files stand in for the exercises, never for given rungs", "[program][judge]") {
    const SmallWorkbook workbook;
    workbook.folder.write("hand_in/03_shared_tree.cu", workbook.solution);
    workbook.folder.write("hand_in/01_atomic.cu", "this would not compile");
    workbook.folder.write("hand_in/03_shard_tree.cu", "a misspelt name");
    const Outcome outcome = workbook.run({"check", "--submission", "hand_in", "--backend", "cpu"});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out, ContainsSubstring("not graded: 03_shard_tree.cu"));
    CHECK_THAT(outcome.out, ContainsSubstring("not graded: 01_atomic.cu"));
    // The student's own progress is not touched by somebody else's files.
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("- / 10"));
}

TEST_CASE("only files of the submission itself are judged", "[program][judge]") {
    const SmallWorkbook workbook;
    workbook.folder.write("hand_in/03_shared_tree.cu", workbook.solution);

    SECTION("an empty folder passes nothing") {
        fs::create_directory(workbook.folder.path() / "empty");
        const Outcome none =
            workbook.run({"check", "01/03", "--submission", "empty", "--backend", "cpu", "--json", "-"});
        CHECK(none.status == 1);
        CHECK(Json::parse(none.out)["rungs"][0]["verdict"] == "COMPILE_ERROR");
        const Outcome told = workbook.run({"check", "01/03", "--submission", "empty", "--backend", "cpu"});
        // No line of a file that is not there.
        CHECK_THAT(told.out, ContainsSubstring(" empty/03_shared_tree.cu\n"));
        CHECK_THAT(told.out, ContainsSubstring("there is no file 03_shared_tree.cu"));
    }
    const fs::path links = workbook.folder.path() / "links";
    const auto refused = [&](const char* why) {
        const Outcome bad = workbook.run({"check", "01/03", "--submission", "links", "--backend", "cpu"});
        INFO(bad.out << bad.err);
        CHECK(bad.status == 1);
        // To be copied: in one line, and with quotes around a name that has a blank.
        CHECK_THAT(bad.out, ContainsSubstring("./rungs check 01/03 --submission '" + links.string() +
                                              "' --backend cpu --seed 0x"));
        CHECK_THAT(bad.out, ContainsSubstring("COMPILE_ERROR"));
        CHECK_THAT(bad.out, ContainsSubstring(why));
    };
    SECTION("a link to a right answer elsewhere is not an answer") {
        fs::create_directory(links);
        fs::create_symlink("../hand_in/03_shared_tree.cu", links / "03_shared_tree.cu");
        refused("03_shared_tree.cu is a link out of the submission");
    }
    SECTION("nor is a folder that is a link") {
        fs::create_directory(links);
        fs::create_directory_symlink("../hand_in", links / "01_reduction");
        refused("03_shared_tree.cu is a link out of the submission");
    }
    SECTION("a link within the submission is followed") {
        fs::create_symlink("03_shared_tree.cu", workbook.folder.path() / "hand_in/other.cu");
        fs::create_directory(workbook.folder.path() / "hand_in/01_reduction");
        fs::create_symlink("../other.cu", workbook.folder.path() / "hand_in/01_reduction/03_shared_tree.cu");
        CHECK(workbook.run({"check", "01/03", "--submission", "hand_in", "--backend", "cpu"}).status == 0);
    }
    SECTION("a pipe is not waited for") {
        fs::create_directory(links);
        REQUIRE(mkfifo((links / "03_shared_tree.cu").c_str(), 0600) == 0);
        refused("03_shared_tree.cu is not a regular file");
    }
}

TEST_CASE("a rung file that is missing, empty, binary or a whole program gets an honest verdict",
          "[program][judge]") {
    const SmallWorkbook workbook;
    const auto verdict = [&](const std::string& content) {
        workbook.folder.write("in/03_shared_tree.cu", content);
        const Outcome outcome =
            workbook.run({"check", "01/03", "--submission", "in", "--backend", "cpu", "--json", "-"});
        INFO(outcome.err);
        CHECK(outcome.status == 1);
        const Json result = Json::parse(outcome.out);
        check_schema(result);
        CHECK(result["score"] == 0);
        return result["rungs"][0]["verdict"].get<std::string>();
    };
    CHECK(verdict("") == "COMPILE_ERROR");
    CHECK(verdict(std::string("\x7f"
                              "ELF\0\x01\xff\xfe",
                              8)) == "COMPILE_ERROR");
    CHECK(verdict("#include \"reduction.cuh\"\nint x = ;\n") == "COMPILE_ERROR");
    CHECK(verdict(workbook.solution + "\nint main() { return 0; }\n") == "COMPILE_ERROR");
    SECTION("messages carry the student's file and line") {
        workbook.folder.write("in/03_shared_tree.cu", "#include \"reduction.cuh\"\n\nint x = ;\n");
        const Outcome outcome = workbook.run({"check", "01/03", "--submission", "in", "--backend", "cpu"});
        CHECK_THAT(outcome.out, ContainsSubstring("03_shared_tree.cu:3"));
    }
}

TEST_CASE("demo grades the solutions and leaves a page and a result", "[program][judge]") {
    const SmallWorkbook workbook;
    const Outcome outcome = workbook.run({"demo", "--backend", "cpu"});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out, ContainsSubstring((workbook.folder.path() / "report/index.html").string()));
    CHECK_THAT(outcome.out, ContainsSubstring((workbook.folder.path() / "report/result.json").string()));
    const std::string page = workbook.folder.read("report/index.html");
    CHECK_THAT(page, StartsWith("<!DOCTYPE html>"));
    CHECK_THAT(page, ContainsSubstring("03_shared_tree"));
    CHECK(page.find("http") == page.find("http-equiv"));
    check_schema(Json::parse(workbook.folder.read("report/result.json")));
    const Outcome elsewhere = workbook.run({"demo", "--backend", "cpu", "--out", "page.html", "--json", "-"});
    CHECK(elsewhere.status == 0);
    check_schema(Json::parse(elsewhere.out));
    CHECK(fs::exists(workbook.folder.path() / "page.html"));
}

namespace {

/// Whether a rung's worker runs below a process.
bool has_worker(pid_t process) {
    std::error_code gone;
    for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
        std::ifstream children(thread.path() / "children");
        for (pid_t child = 0; children >> child;) {
            std::ifstream in("/proc/" + std::to_string(child) + "/cmdline");
            const std::string line(std::istreambuf_iterator<char>(in), {});
            if (line.rfind("rungs-worker", 0) == 0 || has_worker(child)) return true;
        }
    }
    return false;
}

/// Two more exercises, so that there are rungs to be judged at once, and limits that are soon met.
void add_rungs(const SmallWorkbook& workbook) {
    std::string manifest = SmallWorkbook::manifest() + "time_limit = 1\n";
    for (const std::string name : {"08_grid_stride", "09_warp_shuffle"}) {
        manifest += "[rungs." + name + "]\nidea = \"an idea\"\npoints = 10\nhints = [\"a nudge\"]\n";
        const std::string file = "01_reduction/" + name + ".cu";
        const std::string solution = TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "solutions" / file);
        workbook.folder.write("solutions/" + file, solution);
        workbook.folder.write("chapters/" + file, solution);
    }
    workbook.folder.write("chapters/01_reduction/chapter.toml", manifest);
}

/// `rung` with a launcher that never returns.
std::string endless(std::string rung) {
    const std::string launcher = "cudaStream_t stream) {";
    for (std::size_t at = rung.find(launcher); at != std::string::npos; at = rung.find(launcher, at + 1)) {
        rung.insert(at + launcher.size(), " volatile bool on = true; while (on) {} ");
    }
    return rung;
}

/// A result without what two runs never have in common.
Json without_times(Json result) {
    result.erase("started");
    result.erase("seconds");
    for (Json& rung : result["rungs"]) {
        rung.erase("seconds");
        rung.erase("compile");
        rung.erase("profile");
        rung["checks"].erase("seconds");
        // Blocks run on all cores, so float atomics add up in another order each time.
        rung["correctness"].erase("error");
    }
    return result;
}

}  // namespace

TEST_CASE("Ctrl-C leaves no process and no half-written file", "[program][judge]") {
    const SmallWorkbook workbook;
    workbook.folder.write("result.json", "before");
    // Slow enough to be met in the middle, whatever the machine: the rung never ends.
    const std::string rung = endless(workbook.solution);
    workbook.folder.write(SmallWorkbook::student, rung);
    const auto interrupted = [&](double after, int number, bool working = false) {
        Process::Setup setup = workbook.setup();
        setup.own_group = true;
        Process process({RUNGS_PROGRAM, "check", "01/03", "--backend", "cpu", "--json", "result.json"},
                        setup);
        REQUIRE(process.wait_for("seed"));
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(240);
        const bool can_look = fs::exists("/proc/thread-self/children");  // a kernel may be built without
        if (working && !can_look) after = 3;
        while (working && can_look && !has_worker(process.pid())) {
            REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        std::this_thread::sleep_for(std::chrono::duration<double>(after));
        process.signal_group(number);  // as a terminal does
        const Outcome outcome = process.finish();
        CHECK(outcome.status == 128 + number);
        CHECK(workbook.folder.read("result.json") == "before");
        CHECK(processes_that_name(workbook.folder.path().string()) == 0);
        CHECK_THAT(outcome.err, ContainsSubstring("stopped"));
    };
    interrupted(0.05, SIGINT);  // while it is compiled
    interrupted(0.6, SIGINT);
    interrupted(0.5, SIGTERM, true);  // while it runs
    CHECK(workbook.folder.read(SmallWorkbook::student) == rung);
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("- / 10"));  // no verdict was made up
}

TEST_CASE("rungs that are judged at once give the same as one after the other", "[program][judge]") {
    const SmallWorkbook workbook;
    add_rungs(workbook);
    workbook.folder.write(SmallWorkbook::student, endless(workbook.solution));  // is judged twice
    const std::string other = "chapters/01_reduction/09_warp_shuffle.cu";
    workbook.folder.write(other, "int x = ;\n");
    std::vector<Json> results;
    for (const char* jobs : {"1", "4"}) {
        const Outcome outcome = workbook.run(
            {"check", "--backend", "cpu", "--seed", "7", "--jobs", jobs, "--json", "result.json"});
        INFO(outcome.out << outcome.err);
        CHECK(outcome.status == 1);
        const std::size_t rows[] = {
            outcome.out.find("01_atomic        OK"), outcome.out.find("03_shared_tree   TIMEOUT"),
            outcome.out.find("08_grid_stride   OK"), outcome.out.find("09_warp_shuffle  COMPILE_ERROR")};
        CHECK(std::is_sorted(std::begin(rows), std::end(rows)));
        CHECK(rows[3] != std::string::npos);
        results.push_back(without_times(Json::parse(workbook.folder.read("result.json"))));
        check_schema(Json::parse(workbook.folder.read("result.json")));
    }
    CHECK(results[0] == results[1]);
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("10 of 30 points"));
}

TEST_CASE("Ctrl-C keeps what was finished behind a rung that was not", "[program][judge]") {
    const SmallWorkbook workbook;
    add_rungs(workbook);
    std::string manifest = workbook.folder.read("chapters/01_reduction/chapter.toml");
    workbook.folder.write("chapters/01_reduction/chapter.toml",
                          manifest.replace(manifest.find("time_limit = 1"), 14, "time_limit = 99"));
    workbook.folder.write(SmallWorkbook::student, endless(workbook.solution));
    Process::Setup setup = workbook.setup();
    setup.own_group = true;
    Process process({RUNGS_PROGRAM, "check", "01/03", "01/08", "--backend", "cpu", "--jobs", "2", "--json",
                     "result.json"},
                    setup);
    // The other one is done, and kept, while the rung before it goes on.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(240);
    for (std::string stored;
         stored.find("08_grid_stride") == std::string::npos && std::chrono::steady_clock::now() < end;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (fs::exists(workbook.folder.path() / "build/progress.json"))
            stored = workbook.folder.read("build/progress.json");
    }
    process.signal_group(SIGINT);
    const Outcome outcome = process.finish();
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 128 + SIGINT);
    CHECK_THAT(outcome.err, ContainsSubstring("stopped"));
    CHECK(outcome.out.find("03_shared_tree") == std::string::npos);
    CHECK_THAT(outcome.out, ContainsSubstring("08_grid_stride  OK"));
    CHECK_FALSE(fs::exists(workbook.folder.path() / "result.json"));
    CHECK(processes_that_name(workbook.folder.path().string()) == 0);
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("10 of 30 points"));
}

TEST_CASE("watch checks on every kind of save", "[program][judge]") {
    const SmallWorkbook workbook;
    const bool poll = GENERATE(false, true);
    CAPTURE(poll);
    std::vector<std::string> command{RUNGS_PROGRAM, "watch", "--backend", "cpu"};
    if (poll) command.push_back("--poll");
    workbook.folder.write(SmallWorkbook::student, "#error one\n");
    Process process(command, workbook.setup());
    REQUIRE(process.wait_for("COMPILE_ERROR", 2));  // the row of the table and the details
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    // In place.
    workbook.folder.write(SmallWorkbook::student, "#error two\n");
    REQUIRE(process.wait_for("#error two"));
    // By a new file under the old name, as vim and many others do.
    workbook.folder.write("chapters/01_reduction/.03.swp", "#error three\n");
    fs::rename(workbook.folder.path() / "chapters/01_reduction/.03.swp",
               workbook.folder.path() / SmallWorkbook::student);
    REQUIRE(process.wait_for("#error three"));
    workbook.folder.write(SmallWorkbook::student, workbook.solution);
    REQUIRE(process.wait_for("This rung passes"));
    process.signal(SIGINT);
    const Outcome outcome = process.finish();
    CHECK(outcome.status == 130);
    CHECK(outcome.out.find('\033') == std::string::npos);
    CHECK(processes_that_name(workbook.folder.path().string()) == 0);
}

TEST_CASE("watch of a chapter checks whichever of its rungs is saved", "[program][judge]") {
    const SmallWorkbook workbook;
    workbook.folder.write(SmallWorkbook::student, "#error one\n");
    Process process({RUNGS_PROGRAM, "watch", "01", "--backend", "cpu"}, workbook.setup());
    REQUIRE(process.wait_for("COMPILE_ERROR", 2));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::string given = "chapters/01_reduction/01_atomic.cu";
    workbook.folder.write(given, workbook.folder.read(given) + "\n");
    REQUIRE(process.wait_for("01_atomic  OK"));
    process.signal(SIGINT);
    CHECK(process.finish().status == 130);
}

TEST_CASE("watch takes keys on a terminal and gives it back as it was", "[program][judge]") {
    const SmallWorkbook workbook;
    workbook.folder.write(SmallWorkbook::student, "#error one\n");
    int terminal = -1, other = -1;
    REQUIRE(openpty(&terminal, &other, nullptr, nullptr, nullptr) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        setsid();
        for (int i = 0; i < 3; ++i) dup2(other, i);
        for (int i = 3; i < 64; ++i) close(i);
        for (const auto& [name, value] : workbook.setup().environment) {
            value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
        }
        setenv("TERM", "xterm", 1);
        if (chdir(workbook.folder.path().c_str()) != 0) _exit(126);
        execl(RUNGS_PROGRAM, RUNGS_PROGRAM, "watch", "--backend", "cpu", nullptr);
        _exit(127);
    }
    termios before{}, after{};
    tcgetattr(other, &before);
    std::string screen;
    const auto wait_for = [&](const std::string& text, double seconds = 240) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        while (screen.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) {
            pollfd ready{terminal, POLLIN, 0};
            char buffer[4096];
            if (poll(&ready, 1, 100) > 0) {
                const ssize_t got = read(terminal, buffer, sizeof buffer);
                if (got <= 0) break;
                screen.append(buffer, static_cast<std::size_t>(got));
            }
        }
        const bool found = screen.find(text) != std::string::npos;
        screen.clear();
        return found;
    };
    const auto press = [&](char key) { CHECK(write(terminal, &key, 1) == 1); };
    CHECK(wait_for("q quit"));
    press('h');
    CHECK(wait_for("first nudge"));
    press('l');
    CHECK(wait_for("01 Reduction"));
    press('n');
    CHECK(wait_for("./rungs check 01/03"));
    press('x');
    CHECK(wait_for("press x again"));
    press('x');
    CHECK(wait_for("is the starter again"));
    CHECK(workbook.folder.read(SmallWorkbook::student) == workbook.starter);
    press('q');
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0)
        wait_for("(nothing: only so that its output is taken)", 0.05);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    tcgetattr(other, &after);
    CHECK(before.c_lflag == after.c_lflag);
    close(terminal);
    close(other);
}
