// The maintainer's gates, on small workbooks made for the test: green when all is well, red for each thing
// that is not.
#include "starters/gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "program/starter.hpp"
#include "program_fixture.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"
#include "starters/lesson.hpp"

using namespace rungs;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using judge::Verdict;
namespace fs = std::filesystem;

namespace {

constexpr const char* solution = R"(#include "c.cuh"
// TODO 2.1: fold
// BEGIN SOLUTION
fold();
// END SOLUTION
)";

constexpr const char* lesson = R"(# 1 Topic

<!-- ladder -->
| rung | idea | points |
|:--|:--|:--|
| [01_naive](01_naive.cu) | one thread each | given |
| [02_tree](02_tree.cu) | a tree | 10 + 5 for speed |
<!-- end -->

## 01 naive

<!-- snippet: 01_naive.cu kernel -->
```cpp
for (;;) {
    work();
}
```
<!-- end -->

## 02 tree

Worth 10 points and 5 points more for speed. TODO 2.1 is all there is; `./rungs check 01/02` looks at it.
)";

/// A workbook that passes every gate.
class Workbook {
  public:
    Workbook() {
        folder.write("chapters/01_topic/chapter.toml", R"(title = "Topic"
summary = "A topic."
namespace = "topic"
contract = "c.cuh"
[problems]
sum = "Sum"
[[cases]]
sizes = [1]
kinds = ["uniform"]
[rungs.01_naive]
idea = "one thread each"
[rungs.02_tree]
idea = "a tree"
points = 10
speed = { points = 5, baseline = "01_naive", zero = 1.0, full = 2.0 }
hints = ["fold"]
)");
        folder.write("chapters/01_topic/c.cuh", "");
        folder.write("chapters/01_topic/01_naive.cu",
                     "// [kernel]\n    for (;;) {\n        work();\n    }\n// [kernel]\n");
        folder.write("chapters/01_topic/README.md", lesson);
        folder.write("chapters/01_topic/02_tree.cu", make_starter(solution, "x"));
        folder.write("solutions/01_topic/02_tree.cu", solution);
    }

    Manifest manifest() const { return read_manifest(folder.path() / "chapters/01_topic"); }
    const fs::path& root() const { return folder.path(); }

    TemporaryFolder folder;
};

/// All findings in one text.
std::string text_of(const std::vector<GateFinding>& findings) {
    std::string text;
    for (const GateFinding& finding : findings) text += finding.text + "\n";
    return text;
}

/// A judge that gives solutions and given rungs `right`, starters `pristine`, and what is OK all points that
/// there are, up to so many.
std::vector<GateFinding> verdicts(const Workbook& workbook, Verdict right, Verdict pristine,
                                  const CompileFunction& compile = nullptr, double points = 100) {
    const TemporaryFolder scratch;
    const JudgeFunction judge = [&](const Manifest& manifest, const RungEntry& rung, const fs::path& source,
                                    Backend) {
        judge::RungResult result;
        result.chapter = manifest.chapter;
        result.rung = rung.name;
        const std::string content = TemporaryFolder::content_of(source);
        const bool is_right = rung.given() || content.find("fold()") != std::string::npos;
        result.verdict = is_right ? right : pristine;
        result.checks.done = true;
        result.max_points = rung.points;
        if (result.verdict == Verdict::ok)
            result.points = std::min(points, judge::max_points(rung, Backend::cpu));
        return result;
    };
    return check_verdicts(workbook.root(), "", scratch.path(), {Backend::cpu}, judge, compile,
                          [](const std::string&) {});
}

std::string lesson_with(const std::string& from, const std::string& to) {
    std::string text = lesson;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a workbook in good order passes every gate", "[gate]") {
    const Workbook workbook;
    CHECK(text_of(check_starters(workbook.root(), false)).empty());
    CHECK(text_of(check_lessons(workbook.root(), false)).empty());
    CHECK(text_of(check_exercises(workbook.root())).empty());
    CHECK(text_of(verdicts(workbook, Verdict::ok, Verdict::wrong)).empty());
}

TEST_CASE("a stale or missing starter is named with its first line that differs, and can be written",
          "[gate]") {
    const Workbook workbook;
    workbook.folder.write("chapters/01_topic/02_tree.cu", "#include \"c.cuh\"\n// my own try\n");
    const std::string stale = text_of(check_starters(workbook.root(), false));
    CHECK_THAT(stale, ContainsSubstring("chapters/01_topic/02_tree.cu:2 is stale"));
    CHECK_THAT(stale, ContainsSubstring("// my own try"));
    CHECK(text_of(check_starters(workbook.root(), true)).empty());
    CHECK(workbook.folder.read("chapters/01_topic/02_tree.cu") == make_starter(solution, "x"));

    fs::remove(workbook.root() / "chapters/01_topic/02_tree.cu");
    CHECK_THAT(text_of(check_starters(workbook.root(), false)), ContainsSubstring("02_tree.cu is missing"));
    CHECK(text_of(check_starters(workbook.root(), true)).empty());
    CHECK(text_of(check_starters(workbook.root(), false)).empty());

    workbook.folder.write("solutions/01_topic/02_tree.cu", "// TODO\n// BEGIN SOLUTION\n");
    CHECK_THAT(text_of(check_starters(workbook.root(), false)),
               StartsWith("solutions/01_topic/02_tree.cu:2: BEGIN SOLUTION without"));
}

TEST_CASE("a starter that passes turns the gate red", "[gate]") {
    const Workbook workbook;
    CHECK_THAT(text_of(verdicts(workbook, Verdict::ok, Verdict::ok)),
               ContainsSubstring("a starter that passes is a bug"));
    CHECK_THAT(text_of(verdicts(workbook, Verdict::ok, Verdict::slow)),
               ContainsSubstring("a starter that passes is a bug"));
}

TEST_CASE("a starter has to fail with an honest verdict", "[gate]") {
    const Workbook workbook;
    for (const Verdict honest :
         {Verdict::wrong, Verdict::timeout, Verdict::deadlock, Verdict::out_of_bounds, Verdict::race,
          Verdict::uninit, Verdict::barrier, Verdict::runtime_signal, Verdict::runtime_error}) {
        CHECK(text_of(verdicts(workbook, Verdict::ok, honest)).empty());
    }
    for (const Verdict other :
         {Verdict::compile_error, Verdict::runtime_exit, Verdict::protocol, Verdict::suspect}) {
        const auto found = verdicts(workbook, Verdict::ok, other);
        REQUIRE(found.size() == 1);
        CHECK_FALSE(found[0].ours);
    }
    for (const Verdict ours : {Verdict::infra, Verdict::not_run}) {
        const auto found = verdicts(workbook, Verdict::ok, ours);
        REQUIRE(found.size() == 1);
        CHECK(found[0].ours);  // could not be checked: not a pass of the gate, and no fault of the starter
    }
}

TEST_CASE("solutions and given rungs have to pass", "[gate]") {
    const Workbook workbook;
    const std::string red = text_of(verdicts(workbook, Verdict::wrong, Verdict::wrong));
    CHECK_THAT(red, ContainsSubstring("chapters/01_topic/01_naive.cu is WRONG"));
    CHECK_THAT(red, ContainsSubstring("solutions/01_topic/02_tree.cu is WRONG"));
}

TEST_CASE("solutions have to have all points, those for modelled speed too", "[gate]") {
    Workbook workbook;
    CHECK_THAT(
        text_of(verdicts(workbook, Verdict::slow, Verdict::wrong)),
        ContainsSubstring("solutions/01_topic/02_tree.cu is SLOW on the cpu backend; it has to be OK"));
    CHECK(text_of(verdicts(workbook, Verdict::ok, Verdict::wrong, nullptr, 10)).empty());  // not modelled
    std::string manifest = workbook.folder.read("chapters/01_topic/chapter.toml");
    const auto change = [&](const std::string& from, const std::string& to) {
        const std::size_t at = manifest.find(from);
        REQUIRE(at != std::string::npos);
        manifest.replace(at, from.size(), to);
    };
    change("full = 2.0 }", "full = 2.0, modelled = { zero = 1.0, full = 2.0 } }");
    change("[rungs.01_naive]",
           "[[modelled]]\nproblem = \"sum\"\nsizes = [1]\nkind = \"uniform\"\n[rungs.01_naive]");
    workbook.folder.write("chapters/01_topic/chapter.toml", manifest);
    CHECK(text_of(verdicts(workbook, Verdict::ok, Verdict::wrong)).empty());
    for (const double points : {10.0, 14.9}) {
        CHECK_THAT(text_of(verdicts(workbook, Verdict::ok, Verdict::wrong, nullptr, points)),
                   ContainsSubstring(fmt::format("it has {} of 15 points, and has to have all", points)));
    }
}

TEST_CASE("a line that no check case reaches turns the gate red, unless the solution says why", "[gate]") {
    const Workbook workbook;
    const auto found = [&](const std::string& source, std::vector<unsigned> unchecked) {
        workbook.folder.write("solutions/01_topic/02_tree.cu", source);
        const TemporaryFolder scratch;
        const JudgeFunction judge = [&](const Manifest&, const RungEntry& rung, const fs::path& file,
                                        Backend) {
            judge::RungResult result;
            const bool right =
                rung.given() || TemporaryFolder::content_of(file).find("fold()") != std::string::npos;
            result.verdict = right ? Verdict::ok : Verdict::wrong;
            if (right) result.points = judge::max_points(rung, Backend::cpu);
            result.checks.done = true;
            if (!rung.given()) result.checks.unchecked = result.checks.unchecked_by_cases = unchecked;
            return result;
        };
        return text_of(check_verdicts(workbook.root(), "", scratch.path(), {Backend::cpu}, judge, nullptr,
                                      [](const std::string&) {}));
    };
    std::string reason = solution;
    reason.insert(reason.find("fold();"), "// unchecked: no case is large enough\n");
    CHECK(found(solution, {}).empty());
    CHECK_THAT(found(solution, {4}),
               StartsWith("solutions/01_topic/02_tree.cu: line 4 was not reached by any check case"));
    CHECK(found(reason, {5}).empty());
    CHECK_THAT(found(reason, {}), StartsWith("solutions/01_topic/02_tree.cu:5 is reached"));
    CHECK_THAT(found(reason, {2, 5}), ContainsSubstring("line 2 was"));
}

TEST_CASE("each barrier and fence that is a statement is taken out by itself", "[gate]") {
    const std::string source =
        "__syncthreads();  // not this: __syncwarp();\n"
        "if (last) cooperative_groups::this_grid().sync();\n"
        "team.wait(); __threadfence_block();\n"
        "const int n = __syncthreads_count(x);\n"
        "__shfl_down_sync(~0u, x, 1);\n"
        "__syncwarp(0xff);";
    std::string text;
    for (const Barrier& one : barriers_of(source)) text += std::to_string(one.line) + " " + one.call + "\n";
    CHECK(text ==
          "1 __syncthreads()\n2 cooperative_groups::this_grid().sync()\n3 team.wait()\n"
          "3 __threadfence_block()\n6 __syncwarp(0xff)\n");
    CHECK_THROWS_WITH(with_switched_barriers(source), ContainsSubstring("no line for a variable"));
    const std::string switched = with_switched_barriers("// a\n#include <b>\n\n" + source);
    CHECK_THAT(switched,
               StartsWith("// a\n#include <b>\n__device__ unsigned long long barrier_left_out = 0x"));
    CHECK_THAT(switched, ContainsSubstring("\n(barrier_left_out == 0 ? static_cast<void>(0) : "
                                           "__syncthreads());  // not this: __syncwarp();\n"
                                           "if (last) (barrier_left_out == 1 ? static_cast<void>(0) : "
                                           "cooperative_groups::this_grid().sync());\n"));
    CHECK(std::count(switched.begin(), switched.end(), '\n') ==
          3 + std::count(source.begin(), source.end(), '\n'));
}

TEST_CASE("a barrier that nothing misses turns the gate red, unless the solution says why", "[gate]") {
    const Workbook workbook;
    const auto found = [&](const std::string& with, const std::string& fault, const std::string& whole = "") {
        std::string source = solution;
        source.replace(source.find("fold();"), 7, with);
        workbook.folder.write("solutions/01_topic/02_tree.cu", source);
        const TemporaryFolder scratch;
        int tried = 0;
        const auto findings = check_barriers(
            workbook.root(), "01_topic", scratch.path(),
            [&](const Manifest&, const RungEntry&, const fs::path& file, std::size_t barrier) {
                ++tried;
                CHECK(TemporaryFolder::content_of(file).find("barrier_left_out == 0 ?") != std::string::npos);
                return barrier == 0 ? fault : whole;
            },
            [](const std::string&) {});
        CHECK(tried == (whole.empty() ? 2 : 1));
        return text_of(findings);
    };
    CHECK(found("__syncthreads();", "a race").empty());
    CHECK_THAT(found("__syncthreads();", ""),
               StartsWith("solutions/01_topic/02_tree.cu:4 without __syncthreads() passes"));
    CHECK(found("// unchecked: twice\n__syncwarp();", "").empty());
    CHECK_THAT(found("__syncthreads();", "a race", "another race"),
               StartsWith("solutions/01_topic/02_tree.cu with all of its barriers: another race"));
    CHECK_THAT(found("// unchecked: twice\n__syncwarp();", "a race"),
               ContainsSubstring(":5 without __syncwarp() is found"));
}

TEST_CASE("sources that do not compile for the GPU turn the gate red", "[gate]") {
    const Workbook workbook;
    int compiled = 0;
    const auto found = verdicts(workbook, Verdict::ok, Verdict::wrong, [&](const Manifest&, const fs::path&) {
        ++compiled;
        return std::string("error: no such intrinsic");
    });
    CHECK(compiled == 1);  // the starter; the build compiles the given rung and the solution
    CHECK_THAT(text_of(found),
               ContainsSubstring(
                   "the starter of 01_topic/02_tree does not compile with nvcc:\nerror: no such intrinsic"));
}

TEST_CASE("every exercise has a solution and a TODO", "[gate]") {
    const Workbook workbook;
    SECTION("no solution") {
        fs::remove(workbook.root() / "solutions/01_topic/02_tree.cu");
        CHECK_THAT(text_of(check_exercises(workbook.root())),
                   ContainsSubstring("solutions/01_topic/02_tree.cu is missing"));
    }
    SECTION("a solution of a given rung, and one of no rung") {
        workbook.folder.write("solutions/01_topic/01_naive.cu", solution);
        workbook.folder.write("solutions/01_topic/07_none.cu", solution);
        const std::string red = text_of(check_exercises(workbook.root()));
        CHECK_THAT(red, ContainsSubstring("01_naive.cu: the manifest gives this rung no points"));
        CHECK_THAT(red, ContainsSubstring("07_none.cu: the manifest has no rung of that name"));
    }
    SECTION("no TODO") {
        workbook.folder.write("chapters/01_topic/02_tree.cu", "int x;\n");
        CHECK_THAT(text_of(check_exercises(workbook.root())), ContainsSubstring("has no TODO"));
    }
}

namespace {

constexpr const char* asks =
    "questions = [{ name = \"a\", ask = \"A?\", rung = \"01_a\", counter = \"launches\", "
    "case = { problem = \"sum\", sizes = [1], kind = \"uniform\" } }]\n";

/// What is found in a chapter whose rungs state their kinds, and which is in good order except for this: a
/// solution with other content, a change of the manifest, a word that the student does not write.
std::string kinds_findings(const std::string& file = "", const std::string& content = "",
                           const std::string& from = "", const std::string& to = "",
                           const std::string& chapter = "01_topic", const std::string& without = "") {
    const TemporaryFolder folder;
    const std::string more =
        "minutes = 10\ndifficulty = 1\nhints = [\"1\", \"2\", \"3\", \"4\"]\npoints = 5\n";
    std::string toml =
        "title = \"T\"\nsummary = \"S\"\nnamespace = \"t\"\ncontract = \"c.cuh\"\n[problems]\nsum = \"Sum\"\n"
        "[[cases]]\nsizes = [1]\nkinds = [\"uniform\"]\n";
    const std::vector<std::pair<const char*, const char*>> rungs{
        {"01_a", "given"},  {"02_b", "fill"},    {"03_c", "write"}, {"04_d", "write"},
        {"05_e", "repair"}, {"06_f", "predict"}, {"07_g", "summit"}};
    for (const auto& [name, kind] : rungs) {
        toml += std::string("[rungs.") + name + "]\nidea = \"i\"\nkind = \"" + kind + "\"\n" +
                (kind == std::string("predict") ? asks : "") + (kind == std::string("given") ? "" : more);
    }
    if (!from.empty()) {
        const std::size_t at = toml.find(from);
        REQUIRE(at != std::string::npos);
        toml.replace(at, from.size(), to);
    }
    folder.write("chapters/" + chapter + "/chapter.toml", toml);
    folder.write("chapters/" + chapter + "/c.cuh", "");
    folder.write("chapters/" + chapter + "/01_a.cu", "");
    std::string write =
        "#include \"c.cuh\"\n// TODO 3.1: all of it\n// BEGIN SOLUTION\n__global__ void k() {\n    "
        "__shared__ float "
        "x;\n}\nk<<<1, 1>>>();\n// END SOLUTION\n";
    if (!without.empty()) write.replace(write.find(without), without.size(), "same");
    for (const char* name : {"02_b", "03_c", "04_d", "07_g"})
        folder.write("solutions/" + chapter + "/" + name + ".cu", write);
    folder.write("solutions/" + chapter + "/05_e.cu",
                 "// TODO 5.1: find the fault\na;\nb;\n// BEGIN SOLUTION\nc;\n//~ d;\n// END SOLUTION\ne;\n");
    if (!file.empty()) folder.write("solutions/" + chapter + "/" + file, content);
    return text_of(check_exercises(folder.path()));
}

std::string lines_of_code(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "given(" + std::to_string(i) + ");\n";
    return text;
}

/// A solution with so many given lines, and so many of the student's.
std::string solution_of(int given, int own) {
    std::string text = lines_of_code(given) + "// TODO\n// BEGIN SOLUTION\n";
    for (int i = 0; i < own; ++i) text += "mine(" + std::to_string(i) + ");\n";
    return text + "// END SOLUTION\n";
}

}  // namespace

TEST_CASE(
    "a chapter whose rungs state their kinds has every kind, and files that are short and the student's",
    "[gate]") {
    CHECK(kinds_findings().empty());
    SECTION("every kind") {
        const std::string two = kinds_findings("", "", "kind = \"write\"", "kind = \"fill\"");
        CHECK(two == "chapters/01_topic/chapter.toml: rungs of kind write: 1; a chapter has at least 2\n");
        for (const std::string kind : {"repair", "predict", "summit"}) {
            const std::string line = "kind = \"" + kind + "\"\n" + (kind == "predict" ? asks : "");
            CHECK_THAT(kinds_findings("", "", line, "kind = \"fill\"\n"),
                       ContainsSubstring("rungs of kind " + kind + ": 0; a chapter has at least 1"));
        }
        CHECK_THAT(kinds_findings("06_f.cu", solution_of(1, 1)),
                   StartsWith("solutions/01_topic/06_f.cu: the counters are the solution"));
        CHECK(kinds_findings("", "", "kind = \"summit\"", "kind = \"fill\"", "00_first").empty());
    }
    SECTION("sizes") {
        CHECK_THAT(kinds_findings("07_g.cu", solution_of(100, 2)),
                   StartsWith("chapters/01_topic/07_g.cu: 101 lines; a starter has at most 100"));
        CHECK(
            kinds_findings("07_g.cu", solution_of(20, 200)).empty());  // a summit is as long as it has to be
        CHECK(kinds_findings("02_b.cu", solution_of(40, 77)).empty());
        CHECK_THAT(kinds_findings("02_b.cu", solution_of(40, 78)),
                   StartsWith("solutions/01_topic/02_b.cu: 121 lines; a solution has at most 120"));
    }
    SECTION("shares") {
        CHECK_THAT(kinds_findings("02_b.cu", solution_of(77, 23)),
                   ContainsSubstring("02_b.cu: 23 of 100 code lines are the student's; at least 25 %"));
        const std::string quarter = kinds_findings("02_b.cu", solution_of(75, 25));
        CHECK(quarter ==
              "chapters/01_topic/chapter.toml: 33 of 110 code lines of its solutions are the student's; at "
              "least 40 % have to be: leave more to write\n");
        CHECK(kinds_findings("05_e.cu", solution_of(90, 1)).empty());  // a repair is a line
        // What the starter has as well is not the student's, wherever it is.
        CHECK_THAT(
            kinds_findings("02_b.cu",
                           "// TODO\n// BEGIN SOLUTION\na;  // why\nb;\nc;\nd;\nx;\n//~ a;\n//~ b;\n//~ "
                           "c;\n//~ d;\n// END SOLUTION\n"),
            ContainsSubstring("02_b.cu: 1 of 5 code lines"));
    }
    SECTION("what a student writes somewhere") {
        for (const std::string word : {"__global__", "<<<", "__shared__"}) {
            CHECK(kinds_findings("", "", "", "", "01_topic", word) ==
                  "chapters/01_topic/chapter.toml: nowhere does a student write " + word +
                      ": leave it to one of the starters\n");
        }
    }
    SECTION("minutes, difficulty, hints") {
        CHECK_THAT(kinds_findings("", "", "minutes = 10\n", ""),
                   ContainsSubstring("chapter.toml: [rungs.02_b] has no 'minutes'"));
        CHECK_THAT(kinds_findings("", "", "difficulty = 1\n", ""),
                   ContainsSubstring("[rungs.02_b] has no 'difficulty'"));
        CHECK_THAT(kinds_findings("", "", "\"3\", \"4\"", "\"3\""),
                   ContainsSubstring("[rungs.02_b] has 3 hints"));
    }
    SECTION("a fault that costs nothing is none") {
        CHECK_THAT(kinds_findings("", "", "[rungs.01_a]", "[check]\nrequired = false\n[rungs.01_a]"),
                   ContainsSubstring("[rungs.05_e] is to be repaired"));
    }
}

TEST_CASE("what is to be repaired passes cases before its fault shows", "[gate]") {
    const Workbook workbook;
    const auto found = [&](Kind kind, int passed) {
        const TemporaryFolder scratch;
        std::string toml = workbook.folder.read("chapters/01_topic/chapter.toml");
        for (const auto& [idea, is] :
             {std::pair("one thread each", name_of(Kind::given)), {"a tree", name_of(kind)}}) {
            const std::string line = std::string("idea = \"") + idea + "\"\n";
            toml.insert(toml.find(line), std::string("kind = \"") + is + "\"\n");
        }
        const TemporaryFolder folder;
        folder.write("chapters/01_topic/chapter.toml", toml);
        folder.write("chapters/01_topic/c.cuh", "");
        folder.write("chapters/01_topic/01_naive.cu", "");
        folder.write("solutions/01_topic/02_tree.cu", solution);
        return text_of(check_verdicts(
            folder.path(), "", scratch.path(), {Backend::cpu},
            [&](const Manifest&, const RungEntry& rung, const fs::path& source, Backend) {
                judge::RungResult result;
                const bool right =
                    rung.given() || TemporaryFolder::content_of(source).find("fold()") != std::string::npos;
                result.verdict = right ? Verdict::ok : Verdict::race;
                result.correctness.passed = passed;
                return result;
            },
            nullptr, [](const std::string&) {}));
    };
    CHECK(found(Kind::repair, 3).empty());
    CHECK_THAT(
        found(Kind::repair, 0),
        ContainsSubstring("the starter of 01_topic/02_tree is RACE on the cpu backend; it passes no case"));
    CHECK(found(Kind::fill, 0).empty());
}

TEST_CASE("a lesson's regions are filled from what they show", "[gate][lesson]") {
    const Workbook workbook;
    const Manifest manifest = workbook.manifest();
    CHECK(fill_lesson(lesson, manifest, workbook.root(), "README.md") == lesson);
    CHECK(fill_lesson("<!-- ladder -->\n<!-- end -->\n", manifest, workbook.root(), "x") ==
          "<!-- ladder -->\n" + ladder_table(manifest) + "<!-- end -->\n");
    SECTION("what is in a code block is not a region") {
        const std::string text = "```\n<!-- ladder -->\n```\n";
        CHECK(fill_lesson(text, manifest, workbook.root(), "x") == text);
    }
    SECTION("a stale lesson is named, and can be written") {
        workbook.folder.write("chapters/01_topic/README.md", lesson_with("| a tree |", "| an old idea |"));
        CHECK_THAT(text_of(check_lessons(workbook.root(), false)),
                   ContainsSubstring("chapters/01_topic/README.md:7 is stale"));
        CHECK(check_lessons(workbook.root(), true).empty());
        CHECK(workbook.folder.read("chapters/01_topic/README.md") == lesson);
    }
    SECTION("no lesson, no ladder") {
        workbook.folder.write("chapters/01_topic/README.md", "# Topic\n## 01 naive\n## 02 tree\n");
        CHECK_THAT(text_of(check_lessons(workbook.root(), false)), ContainsSubstring("no ladder"));
        fs::remove(workbook.root() / "chapters/01_topic/README.md");
        CHECK_THAT(text_of(check_lessons(workbook.root(), false)), ContainsSubstring("README.md is missing"));
    }
    SECTION("kinds, minutes and difficulty are columns where the manifest has them") {
        Manifest kinds = manifest;
        kinds.kinds = true;
        kinds.rungs[1].kind = Kind::write;
        kinds.rungs[1].minutes = 25;
        kinds.rungs[1].difficulty = 2;
        RungEntry asked = kinds.rungs[1];
        asked.name = "03_traffic";
        asked.kind = Kind::predict;
        asked.speed.reset();
        kinds.rungs.push_back(asked);
        CHECK(ladder_table(kinds) ==
              "| rung | idea | kind | minutes | difficulty | points |\n|:--|:--|:--|--:|--:|:--|\n"
              "| [01_naive](01_naive.cu) | one thread each | given |  |  |  |\n"
              "| [02_tree](02_tree.cu) | a tree | write | 25 | 2 of 5 | 10 + 5 for speed |\n"
              "| [03_traffic](03_traffic.toml) | a tree | predict | 25 | 2 of 5 | 10 |\n");
    }
    SECTION("hints are folded, and their summaries say which step they are") {
        CHECK(fill_lesson("<!-- hints: 02 -->\n<!-- end -->\n", manifest, workbook.root(), "x") ==
              "<!-- hints: 02 -->\n<details><summary>Hint 1 of 1</summary>fold</details>\n<!-- end -->\n");
        RungEntry rung = manifest.rungs[1];
        rung.hints = {"Who?", "Four of them.", "Fold while\n`i < n`.", "`for (;;)` && so on"};
        CHECK(folded_hints(rung) ==
              "<details><summary>Hint 1: a question</summary>Who?</details>\n"
              "<details><summary>Hint 2: a small case or a picture</summary>Four of them.</details>\n"
              "<details><summary>Hint 3: the method</summary>Fold while <code>i &lt; n</code>.</details>\n"
              "<details><summary>Hint 4: the first line of code</summary><code>for (;;)</code> &amp;&amp; so "
              "on</details>\n");
    }
    SECTION("a fourth hint is code, unless numbers are asked for") {
        RungEntry rung = manifest.rungs[1];
        rung.hints = {"a", "b", "c", "__shared__ float x[2];"};
        CHECK_THAT(folded_hints(rung),
                   ContainsSubstring("of code</summary><code>__shared__ float x[2];</code></details>"));
        rung.kind = Kind::predict;
        CHECK_THAT(folded_hints(rung), ContainsSubstring("the first step</summary>__shared__ float x[2];<"));
    }
    SECTION("measured numbers are a table with its origin") {
        workbook.folder.write("chapters/01_topic/bench/h200.csv",
                              "# machine: NVIDIA H200\n# date: 2026-01-31\n# command: ./rungs bench 01\n"
                              "rung,GB/s\r\n02_tree,521\r\n\"CUB, 3.0\",\"30\"\"77\"\r\n");
        const std::string open = "<!-- measured: bench/h200.csv -->\n";
        CHECK(fill_lesson(open + "<!-- end -->\n", manifest, workbook.root(), "x") ==
              open +
                  "| rung | GB/s |\n|:--|--:|\n| 02_tree | 521 |\n| CUB, 3.0 | 30\"77 |\n\n"
                  "Measured on NVIDIA H200, 2026-01-31, with `./rungs bench 01`.\n<!-- end -->\n");
    }
    SECTION("numbers that are not all measured say so") {
        const std::string table = measured_table(
            "# machine: M\n# date: D\n# how: The last is computed.\n# command: C\na,b\n1,2\n", "m.csv");
        CHECK_THAT(table,
                   EndsWith("\nThe last is computed. The measured numbers are from M, D, with `C`.\n"));
        CHECK_THAT(table, !ContainsSubstring("Measured on"));
    }
    SECTION("a bar in an idea does not end the cell") {
        Manifest barred = manifest;
        barred.rungs[0].idea = "a | b";
        CHECK_THAT(ladder_table(barred), ContainsSubstring("a \\| b"));
    }
}

TEST_CASE("broken regions are refused with their line", "[gate][lesson]") {
    const Workbook workbook;
    const auto refusal = [&](const std::string& text) {
        try {
            fill_lesson(text, workbook.manifest(), workbook.root(), "README.md");
        } catch (const LessonError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refusal("<!-- a remark -->\n") == "accepted");
    CHECK_THAT(refusal("\n<!-- ladder -->\n"),
               ContainsSubstring("README.md:2: this region has no <!-- end -->"));
    CHECK_THAT(refusal("<!-- end -->\n"), ContainsSubstring("README.md:1: <!-- end --> without"));
    CHECK_THAT(refusal("<!-- ladder -->\n<!-- ladder -->\n<!-- end -->\n"),
               ContainsSubstring(":2: a region inside"));
    CHECK_THAT(refusal("<!-- snippet: 01_naive.cu -->\n<!-- end -->\n"), ContainsSubstring("FILE MARK"));
    CHECK_THAT(refusal("<!-- hints: 07 -->\n<!-- end -->\n"), ContainsSubstring("README.md:1: expected"));
    CHECK_THAT(refusal("<!-- hints: 01 -->\n<!-- end -->\n"),
               ContainsSubstring("README.md:1: 01_naive has no hints"));
    CHECK_THAT(refusal("<!-- measured: bench/none.csv -->\n<!-- end -->\n"),
               ContainsSubstring("README.md:1: there is no file bench/none.csv"));
    CHECK_THAT(refusal("<!-- measured -->\n<!-- end -->\n"), ContainsSubstring("bench/FILE.csv"));
    CHECK_THAT(refusal("<!-- snippet: 09_none.cu kernel -->\n<!-- end -->\n"),
               ContainsSubstring("no file 09_none.cu"));
    CHECK_THAT(refusal("<!-- snippet: 01_naive.cu other -->\n<!-- end -->\n"),
               ContainsSubstring("no mark // [other]"));
    CHECK_THAT(refusal("<!-- snippet: 02_tree.cu kernel -->\n<!-- end -->\n"),
               ContainsSubstring("is an exercise"));
}

TEST_CASE("measured numbers without their origin, and what is no table, are refused with their line",
          "[gate][lesson]") {
    const std::string origin = "# machine: M\n# date: D\n# command: C\n";
    CHECK_NOTHROW(measured_table(origin + "a,b\n1,2\n", "m.csv"));
    CHECK_THROWS_WITH(measured_table("# machine: M\n# date: D\na,b\n", "m.csv"),
                      StartsWith("m.csv:1: no line '# command: ...'"));
    CHECK_THROWS_WITH(measured_table("# machine: M\n# command:\n# date: D\na,b\n", "m.csv"),
                      StartsWith("m.csv:1: no line '# command: ...'"));
    CHECK_THROWS_WITH(measured_table(origin + "a,b\n1,2\n3\n", "m.csv"),
                      StartsWith("m.csv:6: 1 cells under 2 columns"));
    CHECK_THROWS_WITH(measured_table(origin, "m.csv"), ContainsSubstring("the names of the columns"));
    CHECK_THROWS_WITH(measured_table(origin + "a,b\n# late\n", "m.csv"), StartsWith("m.csv:5: a comment"));
}

TEST_CASE("a snippet stands between two marks and loses its common indentation", "[gate][lesson]") {
    CHECK(snippet("// [k]\n    a\n\n      b\n// [k]\n", "k", "x") == "a\n\n  b\n");
    CHECK(snippet("// [k]\n// [inner]\na\n// [inner]\n// [k]\n", "k", "x") == "a\n");
    CHECK_THROWS_WITH(snippet("// [k]\na\n", "k", "x.cu"), ContainsSubstring("x.cu:1: only one mark"));
    CHECK_THROWS_WITH(snippet("// [k]\n// [k]\n// [k]\n", "k", "x.cu"), ContainsSubstring("x.cu:3: a third"));
}

TEST_CASE("a lesson must not contradict the manifest", "[gate][lesson]") {
    const Workbook workbook;
    const auto found = [&](const std::string& text) {
        std::string all;
        for (const std::string& one : contradictions(text, workbook.manifest(), workbook.root(), "README.md"))
            all += one + "\n";
        return all;
    };
    CHECK(found(lesson).empty());
    CHECK_THAT(found(lesson_with("# 1 Topic", "# 1 Other")),
               ContainsSubstring("README.md:1: the title does not contain"));
    CHECK_THAT(found(lesson_with("## 02 tree", "## The tree")), ContainsSubstring("no heading '## 02 tree'"));
    CHECK_THAT(found(lesson_with("## 02 tree", "## 02 tree\n## 03 more")),
               ContainsSubstring("a heading for 03_more"));
    CHECK_THAT(found(lesson_with("## 02 tree", "## 02 tree\n## 02 tree")),
               ContainsSubstring("a second heading"));
    CHECK_THAT(found(lesson_with("Worth 10 points", "Worth 12 points")), ContainsSubstring("says 12 points"));
    CHECK_THAT(found(lesson_with("TODO 2.1", "TODO 2.2")),
               ContainsSubstring("TODO 2.2 is not in 02_tree.cu"));
    CHECK_THAT(found(lesson_with("check 01/02", "check 01/04")),
               ContainsSubstring("names rung 04, which does not exist"));
    CHECK_THAT(found(lesson_with("check 01/02", "check 01/01")),
               ContainsSubstring("the section of 02_tree names rung 01"));
    CHECK_THAT(found(lesson_with("is all there is", "as in 04_ghost")),
               ContainsSubstring("'04_ghost' is neither a rung nor a chapter"));
}

TEST_CASE("a lesson has at most 3000 words outside of folds, code and generated parts", "[gate][lesson]") {
    CHECK(words_of("# 1 Topic\n\nFour words - and |:--| `code`.\n") == 6);
    CHECK(words_of("```\nnot these\n```\none\n") == 1);
    CHECK(words_of("<!-- hints: 02 -->\n<details><summary>a</summary>b</details>\n<!-- end -->\none\n") == 1);
    CHECK(words_of("one\n<details><summary>a\nb</summary>\n\nc\n\n</details>\ntwo\n") == 2);

    const Workbook workbook;
    const auto found = [&](std::size_t more) {
        std::string text = std::string(lesson) + "\n";
        for (std::size_t i = 0; i < more; ++i) text += "word\n";
        return contradictions(text, workbook.manifest(), workbook.root(), "README.md");
    };
    const std::size_t room = 3000 - words_of(lesson);
    CHECK(found(room).empty());
    REQUIRE(found(room + 1).size() == 1);
    CHECK_THAT(found(room + 1).front(), StartsWith("README.md:1: 3001 words outside of folds"));
}

TEST_CASE("the tool checks, writes, and answers wrong use", "[gate]") {
    const Workbook workbook;
    const auto tool = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), RUNGS_STARTERS);
        return Process(arguments, {}).finish();
    };
    const std::string root = workbook.root().string();
    workbook.folder.write("common/before_build.txt", "");
    CHECK(tool({"--root", root, "--check"}).status == 1);
    CHECK(tool({"--root", root, "--write"}).status == 0);
    CHECK(tool({"--root", root, "--check"}).status == 0);
    workbook.folder.write("chapters/01_topic/02_tree.cu", "my own try\n");
    const Outcome stale = tool({"--root", root, "--check"});
    CHECK(stale.status == 1);
    CHECK_THAT(stale.err, ContainsSubstring("02_tree.cu:1 is stale"));
    const Outcome written = tool({"--root", root, "--write"});
    CHECK(written.status == 0);
    CHECK_THAT(written.out, ContainsSubstring("chapters/01_topic/02_tree.cu is the starter again"));
    CHECK(tool({"--root", root, "--check", "--quiet"}).out.empty());
    CHECK(tool({}).status == 2);
    CHECK(tool({"--root", "/nowhere", "--check"}).status == 2);
    CHECK(tool({"--root", root, "--check", "--chapter", "01_topic"}).status == 2);
    CHECK(tool({"--root", root, "--check", "--seed", "7"}).status == 2);
    const Outcome nowhere = tool({"--root", root, "--gate", "--chapter", "02_nowhere"});
    CHECK(nowhere.status == 2);
    CHECK_THAT(nowhere.err, ContainsSubstring("there is no chapter 02_nowhere"));
    CHECK(tool({"--nonsense"}).status == 2);
    CHECK_THAT(tool({"--help"}).out, ContainsSubstring("Example:"));
    workbook.folder.write("chapters/01_topic/chapter.toml", "title = 1\n");
    CHECK(tool({"--root", root, "--check"}).status == 3);
}
