// Starters are made from solutions.
#include "program/starter.hpp"

#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

std::string starter(const std::string& solution) { return make_starter(solution, "03_x.cu"); }

/// The message of a refused solution; fails the test when it is taken.
std::string refusal(const std::string& solution) {
    try {
        make_starter(solution, "03_x.cu");
    } catch (const StarterError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a starter drops the regions and takes their stubs", "[starters]") {
    CHECK(starter("a\n"
                  "    // TODO 3.1: fold\n"
                  "    // BEGIN SOLUTION\n"
                  "    fold();\n"
                  "    // END SOLUTION\n"
                  "z\n") == "a\n    // TODO 3.1: fold\nz\n");
    CHECK(starter("// TODO 1: return it\n// BEGIN SOLUTION\n    //~ return 0;\n  return x;\n//~\n// "
                  "END SOLUTION\n") == "// TODO 1: return it\n    return 0;\n\n");
    SECTION("a TODO of several lines") {
        CHECK(starter("// TODO 1: first\n// second\n//\n// third\n// BEGIN SOLUTION\nx\n// END SOLUTION\n") ==
              "// TODO 1: first\n// second\n//\n// third\n");
    }
    SECTION("several regions, each with its TODO") {
        CHECK(starter("// TODO 1\n// BEGIN SOLUTION\nx\n// END SOLUTION\nb\n// TODO 2\n// BEGIN "
                      "SOLUTION\ny\n// END SOLUTION\nc\n") == "// TODO 1\nb\n// TODO 2\nc\n");
    }
    SECTION("one TODO at the top of the file, which does not point at a planted fault") {
        CHECK(starter("// A kernel.\n// TODO 4.1: find the fault\n\na;\n// BEGIN SOLUTION\nb;\n//~ c;\n"
                      "// END SOLUTION\n") == "// A kernel.\n// TODO 4.1: find the fault\n\na;\nc;\n");
        CHECK_THAT(refusal("a;\n// TODO 4.1: find it\na;\n// BEGIN SOLUTION\nb;\n// END SOLUTION\n"),
                   ContainsSubstring("03_x.cu:4: no TODO"));
    }
    SECTION("what is said to the gates") {
        const std::string solution =
            "// unchecked: why\na;\n// TODO 1\n// BEGIN SOLUTION\n"
            "    // unchecked: because\n    x;\n// END SOLUTION\n";
        CHECK(starter(solution) == "a;\n// TODO 1\n");
        CHECK(unchecked_lines(solution) == std::vector<Lines>{{2, 2}, {6, 6}});
        CHECK(unchecked_lines("// unchecked: large\nvoid f(int a,\n       int b) {\n    g();  // {\n}\nh();\n"
                              "// unchecked: rare\nif (x)\n    y();\nz();\n") ==
              std::vector<Lines>{{2, 5}, {8, 9}});
    }
    SECTION("a file without a newline at its end gets one") {
        CHECK(starter("// TODO 1\n// BEGIN SOLUTION\nx\n// END SOLUTION\nlast") == "// TODO 1\nlast\n");
    }
}

TEST_CASE("broken markers are refused with their line", "[starters]") {
    const std::string good = "// TODO 1\n// BEGIN SOLUTION\nx\n// END SOLUTION\n";
    REQUIRE(refusal(good) == "accepted");

    CHECK_THAT(refusal("// TODO\n// BEGIN SOLUTION\nx\n// BEGIN SOLUTION\ny\n// END SOLUTION\n"),
               ContainsSubstring("03_x.cu:4: BEGIN SOLUTION inside the region of line 2"));
    CHECK_THAT(refusal(good + "// END SOLUTION\n"), ContainsSubstring("03_x.cu:5: END SOLUTION without"));
    CHECK_THAT(refusal("a\n// TODO\n// BEGIN SOLUTION\nx\n"),
               ContainsSubstring("03_x.cu:3: BEGIN SOLUTION without"));
    CHECK_THAT(refusal("a\n// BEGIN SOLUTION\nx\n// END SOLUTION\n"),
               ContainsSubstring("03_x.cu:2: no TODO"));
    CHECK_THAT(refusal("// TODO\ncode();\n// BEGIN SOLUTION\nx\n// END SOLUTION\n"),
               ContainsSubstring(":3: no TODO"));
    CHECK_THAT(
        refusal("// TODO\n// BEGIN SOLUTION\nx\n// END SOLUTION\n// BEGIN SOLUTION\nx\n// END SOLUTION\n"),
        ContainsSubstring(":5: no TODO"));
    CHECK_THAT(refusal("//~ stub\n" + good), ContainsSubstring("03_x.cu:1: a stub line"));
    CHECK_THAT(refusal("// TODO\n// BEGIN SOLUTION\n\n// END SOLUTION\n"),
               ContainsSubstring(":4: the region of line 2 holds no answer"));
    CHECK_THAT(refusal("// TODO\r\n// BEGIN SOLUTION\r\nx\r\n// END SOLUTION\r\n"),
               ContainsSubstring("03_x.cu:1: the line ends with CR LF"));
    CHECK_THAT(refusal("// TODO\n//BEGIN SOLUTION\nx\n//END SOLUTION\n"),
               ContainsSubstring(":2: not quite a marker"));
    CHECK_THAT(refusal("// TODO\n// BEGIN SOLUTION\nx\n// END SOLUTION.\n"),
               ContainsSubstring(":4: not quite a marker"));
    CHECK_THAT(refusal("int x;\n"), ContainsSubstring("no // BEGIN SOLUTION region"));
    CHECK_THAT(refusal(""), ContainsSubstring("no // BEGIN SOLUTION region"));
    CHECK_THAT(refusal(std::string("\0\n", 2) + good), ContainsSubstring(":1: a NUL byte"));
    CHECK_THROWS_WITH(make_starter_from("/nowhere/03_x.cu"),
                      ContainsSubstring("/nowhere/03_x.cu: could not read"));
}

TEST_CASE("every solution of the workbook makes its starter", "[starters]") {
    const auto pairs = starter_pairs(RUNGS_ROOT);
    CHECK(pairs.size() >= 4);
    for (const StarterPair& pair : pairs) {
        CAPTURE(pair.rung);
        const std::string made = make_starter_from(pair.solution);
        CHECK(made.find("SOLUTION") == std::string::npos);
        CHECK(made.find("//~") == std::string::npos);
        CHECK_THAT(made, ContainsSubstring("TODO"));
    }
}

TEST_CASE("only rung files of chapters that exist may be in solutions", "[starters]") {
    const TemporaryFolder root;
    CHECK_THROWS_WITH(starter_pairs(root.path()), ContainsSubstring("no such folder"));
    fs::create_directories(root.path() / "chapters" / "01_a");
    root.write("solutions/01_a/01_x.cu", "");
    root.write("solutions/01_a/02_y.cu", "");
    CHECK(starter_pairs(root.path()).size() == 2);
    CHECK(starter_pairs(root.path())[1].rung == "02_y");
    SECTION("a stray file") {
        root.write("solutions/01_a/notes.txt", "");
        CHECK_THROWS_WITH(starter_pairs(root.path()),
                          ContainsSubstring("notes.txt: expected only rung files"));
    }
    SECTION("a chapter without a lesson") {
        root.write("solutions/02_b/01_x.cu", "");
        CHECK_THROWS_WITH(starter_pairs(root.path()), ContainsSubstring("no chapters/02_b"));
    }
}

TEST_CASE("the first difference names its line", "[starters]") {
    CHECK(first_difference("a\nb\n", "a\nb\n").line == 0);
    const Difference changed = first_difference("a\nb\nc\n", "a\nx\nc\n");
    CHECK(changed.line == 2);
    CHECK(changed.expected == "b");
    CHECK(changed.found == "x");
    CHECK(first_difference("a\nb\n", "a\n").found == "(the file ends here)");
    CHECK(first_difference("a\n", "a\nb\n").line == 2);
    CHECK(first_difference("a\n", "a").line == 1);
    CHECK(first_difference("", "").line == 0);
}
