// The list of a chapter's mistakes: what it may hold, and what is wrong with a verdict.
#include "cases/mistakes.hpp"

#include <stdexcept>

#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace rungs;

namespace {

/// A workbook of one chapter with two rungs.
struct Made {
    explicit Made(const std::string& list) {
        folder.write("solutions/01_a/02_two.cu", "void a::two(int n) { if (n < 2) return; }\n");
        folder.write("chapters/01_a/01_one.cu", "void a::one(int n) {}\nvoid a::one(long n) {}\n");
        folder.write("chapters/01_a/exam/mistakes.toml", list);
    }
    std::vector<Mistake> read() const { return read_mistakes(folder.path(), "01_a"); }
    std::string refused() const {
        try {
            read();
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }
    TemporaryFolder folder;
};

const std::string entry =
    "[[mistake]]\nrung = \"02_two\"\nname = \"less\"\nverdict = \"WRONG\"\ntold = [\"x\"]\n";

judge::RungResult result_of(judge::Verdict verdict, double points, const std::string& text) {
    judge::RungResult result;
    result.verdict = verdict;
    result.points = points;
    result.max_points = 10;
    result.causes.push_back({.kind = verdict, .text = text});
    return result;
}

}  // namespace

TEST_CASE("a listed mistake is the reference with its changes", "[cases]") {
    const Made made(entry + "change = [[\"n < 2\", \"n < 1\"], [\"return\", \"\"]]\n" +
                    "[[mistake]]\nrung = \"02_two\"\nname = \"the rung before\"\nverdict = \"SLOW\"\n"
                    "code_of = \"01_one\"\nwhy = \"it is right\"\n");
    const std::vector<Mistake> mistakes = made.read();
    REQUIRE(mistakes.size() == 2);
    CHECK(mistakes[0].title() == "01/02 less");
    CHECK(mistakes[0].source == "void a::two(int n) { if (n < 1) ; }\n");
    CHECK(mistakes[0].told == std::vector<std::vector<std::string>>{{"x"}});
    CHECK(mistakes[1].source == "void a::two(int n) {}\nvoid a::two(long n) {}\n");
    CHECK(mistakes[1].why == "it is right");
    CHECK(in_slice(mistakes, "01_a", Slice()).size() == 2);
    CHECK(read_mistakes(made.folder.path(), "02_without").empty());
}

TEST_CASE("a list of mistakes that cannot be understood is refused with file and line", "[cases]") {
    CHECK(Made(entry).refused().empty());
    const std::pair<std::string, const char*> faults[] = {
        {entry + "tld = [\"y\"]\n", "there is no key 'tld'"},
        {entry + "change = [[\"n < 3\", \"\"]]\n", ":6: the reference does not have: n < 3"},
        {entry + "change = [[\"n < 2\"]]\n", ":6: a text and what it becomes"},
        {entry + "change = [[\"\", \"n\"]]\n", ":6: a text is expected"},
        {entry + "why = \"y\"\n", "either 'told'"},
        {entry + entry, ":6: another mistake has this name"},
        {"[[mistake]]\nrung = \"02_two\"\nname = \"less\"\nverdict = \"WRONG\"\n", "either 'told'"},
        {"[[mistake]]\nrung = \"02_two\"\nname = \"less\"\nverdict = \"WRONG\"\ntold = [[\"\"]]\n",
         "a text is"},
        {"[[mistake]]\nrung = \"02_two\"\nverdict = \"WRONG\"\ntold = [\"x\"]\n", "'name' is missing"},
        {"[[mistakes]]\n", "[[mistake]] entries are expected"},
        {"title = 1\n" + entry, "[[mistake]] entries are expected"},
        {"[[mistake]\n", "mistakes.toml:1: "},
    };
    for (const auto& [text, why] : faults) {
        CAPTURE(text);
        CHECK_THAT(Made(text).refused(), ContainsSubstring("mistakes.toml:") && ContainsSubstring(why));
    }
    CHECK_THAT(Made("[[mistake]]\nrung = \"02_two\"\nname = \"less\"\nverdict = \"WORNG\"\ntold = [\"x\"]\n")
                   .refused(),
               ContainsSubstring("mistakes.toml:1: no verdict is called 'WORNG'"));
    CHECK_THAT(
        Made("[[mistake]]\nrung = \"03_x\"\nname = \"l\"\nverdict = \"WRONG\"\ntold = [\"x\"]\n").refused(),
        ContainsSubstring("03_x.cu"));
}

TEST_CASE("a mistake's verdict, points and words are compared", "[cases]") {
    Mistake mistake;
    mistake.verdict = "WRONG";
    mistake.told = {{"the last block"}, {"left out", "forgotten"}};
    const auto fault = [&](judge::Verdict verdict, double points, const std::string& text) {
        return fault_of(mistake, result_of(verdict, points, text));
    };
    CHECK(fault(judge::Verdict::wrong, 0, "the last block is forgotten").empty());
    CHECK_THAT(fault(judge::Verdict::wrong, 0, "the last block is wrong"),
               ContainsSubstring("'left out' or 'forgotten'"));
    CHECK_THAT(fault(judge::Verdict::wrong, 0, "it is left out"), ContainsSubstring("'the last block'"));
    CHECK_THAT(fault(judge::Verdict::wrong, 1, "the last block is left out"),
               ContainsSubstring("1 of 10 points"));
    CHECK_THAT(fault(judge::Verdict::race, 0, "the last block is left out"),
               ContainsSubstring("RACE, expected WRONG"));
    mistake.verdict = "SLOW";
    mistake.told.clear();
    CHECK(fault(judge::Verdict::slow, 8, "").empty());
    CHECK_THAT(fault(judge::Verdict::slow, 10, ""), ContainsSubstring("10 of 10 points"));
    mistake.verdict = "OK";
    CHECK(fault(judge::Verdict::ok, 10, "").empty());
}
