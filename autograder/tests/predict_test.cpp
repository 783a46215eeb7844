// Rungs of kind predict: what a file of answers may say, what is counted, and how the
// program asks and grades.
#include "judge/predict.hpp"

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>

#include "judge/build/build.hpp"
#include "judge_fixture.hpp"
#include "program/starter.hpp"
#include "program_fixture.hpp"
#include "rungs/catch.hpp"
#include "starters/before_build.hpp"
#include "starters/gate.hpp"

using namespace rungs;
using namespace rungs::judge;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

constexpr const char* file = "chapters/01_reduction/07_traffic.toml";

/// Of 4321 floats: 136 requests of loads, 541 sectors; 17 blocks of the reference pass 8 barriers each.
constexpr const char* questions = R"([rungs.07_traffic]
kind = "predict"
idea = "count before you run"
minutes = 15
difficulty = 2
points = 10
hints = ["first nudge"]
[[rungs.07_traffic.questions]]
name = "sectors"
ask = "How many sectors do the loads of a call touch?"
rung = "01_atomic"
counter = "load_sectors"
case = { problem = "sum", sizes = [4321], kind = "uniform" }
[[rungs.07_traffic.questions]]
name = "barriers"
ask = "How many barriers does a block pass?"
rung = "03_shared_tree"
counter = "barriers"
per = 17
tolerance = 0.05
choices = [1, 8, 256]
case = { problem = "sum", sizes = [4321], kind = "uniform" }
)";

/// A question that no counter answers.
constexpr const char* from_the_lesson = R"([rungs.07_traffic]
kind = "predict"
idea = "count before you run"
minutes = 15
difficulty = 2
points = 10
hints = ["first nudge"]
[[rungs.07_traffic.questions]]
name = "instructions"
ask = "How many instructions are on the listing?"
answer = 19
tolerance = 0.02
)";

/// The small workbook, and a rung 07 that asks.
struct Asking : SmallWorkbook {
    explicit Asking(const std::string& asked = questions) {
        std::string text =
            replaced(manifest(), "[rungs.01_atomic]\n", "[rungs.01_atomic]\nkind = \"given\"\n");
        text = replaced(text, "[rungs.03_shared_tree]\n",
                        "[rungs.03_shared_tree]\nkind = \"write\"\nminutes = 25\n");
        folder.write("chapters/01_reduction/chapter.toml", text + asked);
        REQUIRE(run({"reset", "01/07"}).status == 0);
    }
    void answer(const std::string& sectors, const std::string& barriers) const {
        folder.write(file, "# mine\nsectors = " + sectors + "\n\nbarriers = " + barriers + "  # of each\n");
    }
    nlohmann::json check(int status, std::vector<std::string> more = {}) const {
        std::vector<std::string> words{"check", "01/07", "--backend", "cpu", "--json", "result.json"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = run(words);
        CAPTURE(outcome.out, outcome.err);
        CHECK(outcome.status == status);
        said = outcome.out;
        return nlohmann::json::parse(folder.read("result.json")).at("rungs").at(0);
    }
    mutable std::string said;
};

/// The program on a terminal of its own.
class OnTerminal {
  public:
    OnTerminal(const SmallWorkbook& workbook, const char* verb, const char* rung) {
        int other = -1;
        REQUIRE(openpty(&terminal_, &other, nullptr, nullptr, nullptr) == 0);
        child_ = fork();
        REQUIRE(child_ >= 0);
        if (child_ == 0) {
            setsid();
            for (int i = 0; i < 3; ++i) dup2(other, i);
            for (int i = 3; i < 64; ++i) close(i);
            for (const auto& [name, value] : workbook.setup().environment)
                value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
            if (chdir(workbook.folder.path().c_str()) != 0) _exit(126);
            execl(RUNGS_PROGRAM, RUNGS_PROGRAM, verb, rung, nullptr);
            _exit(127);
        }
        close(other);
    }
    ~OnTerminal() {
        if (child_ > 0) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
        close(terminal_);
    }
    bool wait_for(const std::string& text, double seconds = 240) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        while (screen.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) {
            pollfd ready{terminal_, POLLIN, 0};
            char buffer[4096];
            if (poll(&ready, 1, 100) <= 0) continue;
            const ssize_t got = read(terminal_, buffer, sizeof buffer);
            if (got <= 0) break;
            screen.append(buffer, static_cast<std::size_t>(got));
        }
        const std::size_t at = screen.find(text);
        if (at == std::string::npos) return false;
        screen.erase(0, at + text.size());
        return true;
    }
    void type(const std::string& line) const {
        CHECK(write(terminal_, (line + "\n").data(), line.size() + 1) ==
              static_cast<ssize_t>(line.size() + 1));
    }
    void interrupt() const { kill(child_, SIGINT); }
    int finish() {
        wait_for("(nothing: only so that its output is taken)", 240);
        int status = -1;
        waitpid(child_, &status, 0);
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::string screen;

  private:
    int terminal_ = -1;
    pid_t child_ = -1;
};

RungEntry two_questions() {
    RungEntry rung;
    rung.name = "07_traffic";
    rung.kind = Kind::predict;
    rung.questions.resize(2);
    rung.questions[0].name = "sectors";
    rung.questions[1].name = "barriers";
    rung.questions[1].choices = {1, 8};
    return rung;
}

/// Whether a text tells the number of sectors, 541 or 541.0. Seeds and seconds have any digits.
bool tells(const std::string& text) {
    return std::regex_search(text, std::regex(R"((^|[^0-9a-fx.])541(?![0-9a-f]|\.[0-9]*[1-9]))"));
}

}  // namespace

TEST_CASE("what is a told number, and what is none", "[predict]") {
    for (const char* text : {"counted 541", "(541)", "541.", "541.0,", "answer\":541.0}", "541 sectors"})
        CHECK(tells(text));
    for (const char* text : {"0x8541ad", "0.541 s", "541.7 s", "1541", "5412", "0x541"})
        CHECK_FALSE(tells(text));
}

TEST_CASE("a file of answers is read line by line, and what is wrong is named with its line", "[predict]") {
    const RungEntry rung = two_questions();
    const auto refusal = [&](const std::string& text) {
        try {
            read_answers(rung, text, "07.toml");
        } catch (const Rejected& why) {
            return std::string(why.what());
        }
        return std::string("accepted");
    };
    const auto answers = read_answers(rung, "# a\n\n sectors=\t1.5e2 # why\r\nbarriers = \"8\"", "07.toml");
    CHECK(answers[0].value == 150.0);
    CHECK(answers[0].line == 3);
    CHECK(answers[1].value == 8.0);
    CHECK_FALSE(read_answers(rung, "sectors = \"?\"\n", "x")[0].value);
    CHECK(read_answers(rung, "sectors = ?\n", "x")[0].line == 1);
    CHECK(read_answers(rung, "", "x")[1].line == 0);
    CHECK(refusal("\nsectors 4\n") == "07.toml:2: expected NAME = NUMBER");
    CHECK(refusal("bytes = 4\n") == "07.toml:1: there is no question 'bytes'");
    CHECK(refusal("sectors = 4\nsectors = 5\n") == "07.toml:2: 'sectors' was answered in line 1 already");
    CHECK_THAT(refusal("barriers = 2\n"),
               ContainsSubstring("07.toml:1: barriers: 2 is not one of the choices 1, 8"));
    for (const char* junk : {"four", "4x", "nan", "inf", "1e999", "0x10", "4 5", "\"4", "[4]", "--1"}) {
        CAPTURE(junk);
        CHECK_THAT(refusal(std::string("sectors = ") + junk + "\n"),
                   ContainsSubstring("07.toml:1: sectors: '"));
    }
    CHECK(with_answer(rung, "# a\nsectors = \"?\"  # b\nbarriers = 8\n", "x", 0, "12") ==
          "# a\nsectors = 12\nbarriers = 8\n");
    CHECK(with_answer(rung, "sectors = 1", "x", 1, "8") == "sectors = 1\nbarriers = 8\n");
}

TEST_CASE("every counter of the manifest is one of the judge's", "[predict]") {
    Tally tally;
    tally.host.launches = 3;
    tally.launches.emplace_back();
    tally.launches[0].barriers = 5;
    tally.launches[0].basic_blocks = 10;
    tally.launches[0].active_lanes = 80;
    simt::check::SiteCounters load;
    load.requests = 10;
    load.sectors = 45;
    tally.launches[0].sites = {load};
    for (const std::string& name : counter_names()) {
        if (name.rfind("modelled", 0) != 0) CHECK_NOTHROW(counter_of(name, tally));
    }
    CHECK(counter_of("launches", tally) == 3);
    CHECK(counter_of("barriers", tally) == 5);
    CHECK(counter_of("active_lanes", tally) == 8);
    CHECK(counter_of("sectors_per_load", tally) == 4.5);
    CHECK(counter_of("global_bytes", tally) == 45 * 32);
    CHECK(counter_of("store_requests", tally) == 0);
    Question question;
    CHECK(is_right(question, 1.0 / 3.0, 0.333333333333));
    CHECK_FALSE(is_right(question, 0.333, 1.0 / 3.0));
    question.tolerance = 0.05;
    CHECK(is_right(question, 104.9, 100));
    CHECK_FALSE(is_right(question, 94.9, 100));
    CHECK_FALSE(is_right(question, 1, 0));
    CHECK(is_right(question, 0, 0));
}

TEST_CASE("answers are graded by what is counted, and none is given away", "[predict][judge]") {
    const Asking workbook;
    CHECK(workbook.folder.read(file) ==
          "# 07_traffic: count before you run.\n"
          "# Replace each \"?\" by a number. ./rungs predict 01/07 asks for them one by one, then shows the\n"
          "# counters; ./rungs check 01/07 grades them. The first complete set of answers that is graded\n"
          "# counts.\n\n"
          "# How many sectors do the loads of a call touch?\n"
          "# (one call of 01_atomic: sum, size 4321, kind uniform)\nsectors = \"?\"\n\n"
          "# How many barriers does a block pass?\n"
          "# (one call of 03_shared_tree: sum, size 4321, kind uniform; one of 1, 8, 256; within 5 %)\n"
          "barriers = \"?\"\n");
    const auto open = workbook.check(1);
    CHECK(open.at("verdict") == "WRONG");
    CHECK(open.at("points") == 0);
    CHECK(open.at("kind") == "predict");
    CHECK(open.at("reason") == "not answered yet: sectors, barriers; answers are graded once all are given");
    CHECK(open.at("causes").at(0).at("line") == 8);

    // Nobody finds the answers one by one.
    workbook.answer("541", "?");
    const auto part = workbook.check(1);
    CHECK(part.at("reason") == "not answered yet: barriers; answers are graded once all are given");
    CHECK(part.at("points") == 0);
    CHECK(part.at("predictions").empty());

    workbook.answer("540", "8");
    const auto half = workbook.check(1);
    CHECK(half.at("verdict") == "WRONG");
    CHECK(half.at("points") == 5);
    CHECK(half.at("max_points") == 10);
    CHECK(half.at("reason") == "1 of 2 answers are right");
    CHECK(half.at("predictions").at(0) ==
          nlohmann::json({{"name", "sectors"},
                          {"ask", "How many sectors do the loads of a call touch?"},
                          {"answer", 540.0},
                          {"right", false}}));
    CHECK_FALSE(tells(half.dump()));
    CHECK_FALSE(tells(workbook.said));
    CHECK(workbook.said.find("07_traffic.toml:2") == std::string::npos);  // which one is wrong

    workbook.answer("541", "8");
    const auto late = workbook.check(0);
    CHECK(late.at("points") == 5);
    CHECK(late.at("reason") == "the first answers were graded at 5 of 10 points: later ones earn no more");
    workbook.answer("a lot", "8");
    const auto junk = workbook.check(1);
    CHECK(junk.at("verdict") == "COMPILE_ERROR");
    CHECK_THAT(junk.at("reason").get<std::string>(),
               ContainsSubstring("07_traffic.toml:2: sectors: 'a lot' is no"));
    CHECK(junk.at("causes").at(0).at("line") == 2);

    // The reference is what is counted.
    const auto reference = workbook.check(0, {"--solution"});
    CHECK(reference.at("points") == 10);
    CHECK(reference.at("predictions").at(0).at("answer") == 541);
    CHECK(reference.at("file") == "chapters/01_reduction/chapter.toml");

    // A submission is read from its own file.
    workbook.folder.write("class/ada/07_traffic.toml", "sectors = 541\nbarriers = 1\n");
    const auto ada = workbook.check(1, {"--submission", "class/ada"});
    CHECK(ada.at("points") == 5);
    CHECK(ada.at("file") == "class/ada/07_traffic.toml");
    fs::create_symlink(workbook.folder.path() / file,
                       workbook.folder.write("class/bob/x", "").parent_path() / "07_traffic.toml");
    CHECK(workbook.check(1, {"--submission", "class/bob"}).at("verdict") == "COMPILE_ERROR");
}

TEST_CASE("what has no kernel is not explained, profiled or drawn, and is found by its file", "[predict]") {
    const Asking workbook;
    for (const char* verb : {"explain", "see"}) {
        const Outcome outcome = workbook.run({verb, "01/07"});
        CHECK(outcome.status == 2);
        CHECK_THAT(outcome.err,
                   ContainsSubstring("07_traffic asks for numbers and has no kernel: ./rungs predict 01/07"));
    }
    CHECK(workbook.run({"predict", "01/03"}).status == 2);
    CHECK_THAT(workbook.run({"hint", file}).out, ContainsSubstring("first nudge"));
    const Outcome blind = workbook.run({"predict", "01/07"});  // standard input is /dev/null
    CHECK(blind.status == 2);
    CHECK_THAT(blind.err, ContainsSubstring("write the answers into chapters/01_reduction/07_traffic.toml"));
    workbook.folder.write(file, "sectors = many\n");
    CHECK_THAT(workbook.run({"predict", "01/07"}).err,
               ContainsSubstring("07_traffic.toml:1: sectors: 'many' is no"));
}

TEST_CASE("list and next tell kind, minutes and difficulty, before the first build too",
          "[predict][program]") {
    const Asking workbook;
    const Outcome list = workbook.run({"list"});
    CHECK_THAT(list.out, ContainsSubstring("01 Reduction  0 of 20 points"));
    CHECK_THAT(list.out, ContainsSubstring("01_atomic                  given                sum") ||
                             ContainsSubstring("given                one atomicAdd"));
    CHECK_THAT(list.out, ContainsSubstring("- / 10  write   25 min       sequential addressing"));
    CHECK_THAT(list.out, ContainsSubstring("- / 10  predict 15 min  2/5  count before you run"));
    const auto early = [&](const std::string& verb) {
        const std::string text = before_build(workbook.folder.path()), mark = "@ " + verb + "\n";
        const std::size_t begin = text.find(mark) + mark.size();
        return text.substr(begin, text.find("\n@ ", begin) + 1 - begin);
    };
    CHECK(early("list") == list.out);
    const Outcome next = workbook.run({"next"});
    CHECK_THAT(next.out, ContainsSubstring("  kind    write, about 25 minutes\n"));
    CHECK(early("next") == next.out);
    // The next one is the one that asks.
    workbook.folder.write(
        "chapters/01_reduction/chapter.toml",
        replaced(workbook.folder.read("chapters/01_reduction/chapter.toml"),
                 "kind = \"write\"\nminutes = 25\nidea = \"sequential addressing\"\npoints = 10\n",
                 "kind = \"given\"\nidea = \"i\"\n"));
    const Outcome asks = workbook.run({"next"});
    CHECK_THAT(asks.out, ContainsSubstring("  kind    predict, about 15 minutes, difficulty 2 of 5\n"
                                           "  answer  ./rungs predict 01/07\n"
                                           "  edit    chapters/01_reduction/07_traffic.toml:8\n"));
    CHECK(early("next") == asks.out);
}

TEST_CASE("predict asks, keeps every answer, shows what is counted, and later answers earn no more",
          "[predict][judge]") {
    const Asking workbook;
    {
        OnTerminal first(workbook, "predict", "01/07");
        CHECK(first.wait_for("1 of 2"));
        CHECK(first.wait_for("How many sectors do the loads"));
        first.type("lots");
        CHECK(first.wait_for("'lots' is not a number"));
        first.type("540");
        CHECK(first.wait_for("one of 1, 8, 256"));
        first.interrupt();
        CHECK(first.finish() == 130);
        CHECK_FALSE(tells(first.screen));
    }
    CHECK_THAT(workbook.folder.read(file),
               ContainsSubstring("sectors = 540\n") && ContainsSubstring("barriers = \"?\"\n"));
    {
        OnTerminal second(workbook, "predict", "01/07");
        CHECK(second.wait_for("2 of 2"));  // the first has its answer
        second.type("?");
        CHECK(second.wait_for("not answered yet: barriers; the counters are shown once all are"));
        CHECK(second.finish() == 1);
    }
    OnTerminal third(workbook, "predict", "01/07");
    CHECK(third.wait_for("one of 1, 8, 256"));
    third.type("8");
    CHECK(third.wait_for("sectors"));
    CHECK(third.wait_for("your answer 540; counted 541"));
    CHECK(third.wait_for("your answer 8; counted 8"));
    CHECK(third.wait_for("5 of 10 points"));
    CHECK(third.wait_for("Hottest lines"));  // of 01_atomic, which is given
    CHECK(third.wait_for("01_01_sectors.svg"));
    CHECK(third.wait_for("03_shared_tree"));  // an exercise: totals, and no line of its solution
    CHECK(third.wait_for("barriers of blocks"));
    CHECK(third.wait_for("no pictures: your 03_shared_tree is not solved yet"));
    CHECK(third.finish() == 1);
    CHECK(third.screen.find("shared_tree.cu") == std::string::npos);
    CHECK_THAT(workbook.run({"list"}).out, ContainsSubstring("5 / 10"));

    workbook.answer("541", "8");
    const auto late = workbook.check(0);
    CHECK(late.at("verdict") == "OK");
    CHECK(late.at("points") == 5);
    CHECK(late.at("reason") == "the first answers were graded at 5 of 10 points: later ones earn no more");
    const Outcome again =
        workbook.run({"predict", "01/07"});  // nothing is left to ask: no terminal is needed
    CHECK(again.status == 0);
    CHECK_THAT(again.out, ContainsSubstring("5 of 10 points"));

    // What is drawn of an exercise is the student's own, right or wrong.
    const auto drawn = [&](const std::string& own) {
        workbook.folder.write(SmallWorkbook::student, own);
        return workbook.run({"predict", "01/07"}).out;
    };
    const std::string right = drawn(workbook.solution);
    CHECK_THAT(right, ContainsSubstring("03_shared_tree, warp 0 of block 0"));
    CHECK_THAT(right, ContainsSubstring("01_03_sectors.svg") && !ContainsSubstring("not right yet"));
    const std::string wrong =
        drawn(replaced(workbook.solution, "atomicAdd(sum, partial[0])", "atomicAdd(sum, 2 * partial[0])"));
    CHECK_THAT(wrong,
               ContainsSubstring("01_03_sectors.svg") && ContainsSubstring("The rung is not right yet"));
    CHECK_THAT(drawn("this does not compile\n"), ContainsSubstring("no pictures: your 03_shared_tree"));
    fs::remove(workbook.folder.path() / SmallWorkbook::student);
    const Outcome without = workbook.run({"predict", "01/07"});
    CHECK(without.status == 0);
    CHECK_THAT(without.out, ContainsSubstring("no pictures: your 03_shared_tree"));
}

TEST_CASE("watch checks a file of answers that is saved", "[predict][judge]") {
    const Asking workbook;
    Process process({RUNGS_PROGRAM, "watch", "01/07", "--backend", "cpu"}, workbook.setup());
    REQUIRE(process.wait_for("not answered yet: sectors, barriers", 2));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    workbook.answer("541", "8");
    CHECK(process.wait_for("07_traffic  OK"));
    process.signal(SIGINT);
    CHECK(process.finish().status == 130);
}

TEST_CASE("the gates make the file of answers, and hold that it fails and that what is counted passes",
          "[predict][gate]") {
    const Asking workbook;
    CHECK(check_starters(workbook.folder.path(), false).empty());
    workbook.answer("1", "8");
    const auto stale = check_starters(workbook.folder.path(), false);
    REQUIRE(stale.size() == 1);
    CHECK_THAT(stale[0].text, ContainsSubstring("07_traffic.toml:1 is stale"));
    CHECK(check_starters(workbook.folder.path(), true).empty());
    CHECK(check_starters(workbook.folder.path(), false).empty());
    const TemporaryFolder scratch;
    std::string judged;
    const auto found = check_verdicts(
        workbook.folder.path(), "", scratch.path(), {Backend::cpu},
        [&](const Manifest& manifest, const RungEntry& rung, const fs::path& source, Backend) {
            RungResult result;
            result.verdict = Verdict::ok;
            if (rung.kind == Kind::predict) {
                judged += source.filename().string() + " ";
                if (source.filename() != "chapter.toml") {
                    result.verdict = Verdict::wrong;
                    CHECK(TemporaryFolder::content_of(source) == make_answers(manifest, rung));
                }
            } else if (source.string().find(scratch.path().string()) == 0) {
                result.verdict = Verdict::wrong;
            }
            return result;
        },
        [](const Manifest&, const fs::path& source) {
            CHECK(source.extension() == ".cu");
            return std::string();
        },
        [](const std::string&) {});
    CHECK(found.empty());
    CHECK(judged == "chapter.toml 07_traffic.toml ");
}

TEST_CASE("questions that cannot be counted are refused with their line", "[predict][manifest]") {
    const Asking workbook;
    const std::string good = workbook.folder.read("chapters/01_reduction/chapter.toml");
    const auto refusal = [&](const std::string& from, const std::string& to) {
        workbook.folder.write("chapters/01_reduction/chapter.toml", replaced(good, from, to));
        try {
            read_manifest(workbook.folder.path() / "chapters/01_reduction");
        } catch (const ManifestError& error) {
            CHECK_THAT(error.what(), ContainsSubstring("chapter.toml:"));
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    const std::string ask = "case = { problem = \"sum\", sizes = [4321], kind = \"uniform\" }\n";
    CHECK_THAT(refusal("counter = \"barriers\"", "counter = \"fences\""),
               ContainsSubstring("'counter' must be one of: launches"));
    CHECK_THAT(refusal("rung = \"01_atomic\"", "rung = \"02_none\""),
               ContainsSubstring("must name a rung that has a kernel"));
    CHECK_THAT(refusal("rung = \"01_atomic\"", "rung = \"07_traffic\""),
               ContainsSubstring("must name a rung that has a kernel"));
    CHECK_THAT(refusal("name = \"barriers\"", "name = \"sectors\""),
               ContainsSubstring("two questions 'sectors'"));
    CHECK_THAT(refusal("name = \"barriers\"", "name = \"Barriers now\""), ContainsSubstring("must be a key"));
    CHECK_THAT(refusal(ask, ""), ContainsSubstring("'sectors' needs a 'case'"));
    CHECK_THAT(refusal("counter = \"barriers\"", "counter = \"modelled_speedup\""),
               ContainsSubstring("'over'"));
    CHECK_THAT(refusal("counter = \"barriers\"", "counter = \"barriers\"\nover = \"01_atomic\""),
               ContainsSubstring("modelled_speedup"));
    CHECK_THAT(
        refusal("points = 10\nhints = [\"first nudge\"]", "points = 10\nhints = [\"h\"]\ntime_limit = 3"),
        ContainsSubstring("has no kernel, and so no 'time_limit'"));
    CHECK_THAT(refusal("kind = \"write\"", "kind = \"predict\""),
               ContainsSubstring("needs the key 'questions'"));
    CHECK_THAT(refusal("kind = \"predict\"", "kind = \"fill\""),
               ContainsSubstring("'questions' are for rungs of kind predict"));
    workbook.folder.write("chapters/01_reduction/07_traffic.cu", "");
    CHECK_THAT(refusal("minutes = 15", "minutes = 16"),
               ContainsSubstring("is a file 07_traffic.toml, not 07_traffic.cu"));
}

TEST_CASE("what no counter says has its answer in the manifest", "[predict][judge]") {
    const Asking workbook(from_the_lesson);
    CHECK_THAT(workbook.folder.read(file), ContainsSubstring("# (from the lesson; within 2 %)"));
    workbook.folder.write(file, "instructions = 14\n");
    CHECK(workbook.check(1).at("verdict") == "WRONG");
    CHECK_THAT(workbook.said, ContainsSubstring("0 of 1 answers are right"));
    workbook.folder.write(file, "instructions = 19.25\n");
    CHECK(workbook.check(0).at("verdict") == "OK");
    CHECK(workbook.check(0, {"--solution"}).at("points") == 10);

    CHECK_THAT(workbook.run({"predict", "01/07"}).out, ContainsSubstring("your answer 19.25; right is 19"));

    const std::string manifest = workbook.folder.read("chapters/01_reduction/chapter.toml");
    workbook.folder.write("chapters/01_reduction/chapter.toml", manifest + "counter = \"barriers\"\n");
    CHECK_THROWS_WITH(read_manifest(workbook.folder.path() / "chapters/01_reduction"),
                      ContainsSubstring("a question with an 'answer' has no 'counter'"));
}

TEST_CASE("a rung ahead of a summit's reference is recognised", "[summit][judge]") {
    const SmallWorkbook workbook;
    std::string text = replaced(SmallWorkbook::manifest(), "[rungs.01_atomic]\n",
                                "[[modelled]]\nproblem = \"sum\"\nsizes = [2097152]\nkind = \"integers\"\n"
                                "[rungs.01_atomic]\nkind = \"given\"\n");
    text = replaced(text, "[rungs.03_shared_tree]\n",
                    "[rungs.03_shared_tree]\nkind = \"summit\"\n"
                    "speed = { points = 20, baseline = \"01_atomic\", modelled = true }\n");
    workbook.folder.write("chapters/01_reduction/chapter.toml", text);
    const auto check = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"check", "01/03", "--backend", "cpu", "--json", "result.json"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = workbook.run(words);
        CAPTURE(outcome.out, outcome.err);
        CHECK(outcome.status == 0);
        const bool told = outcome.out.find("modelled ahead of the reference") != std::string::npos;
        const auto rung = nlohmann::json::parse(workbook.folder.read("result.json")).at("rungs").at(0);
        CHECK(rung.at("kind") == "summit");
        CHECK(rung.at("modelled").at("beats_reference") == told);
        CHECK(rung.at("points") == 30);
        return told;
    };
    CHECK_FALSE(check({"--solution"}));
    // The next rung's idea, as a student's own summit.
    std::string ahead =
        TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "solutions/01_reduction/08_grid_stride.cu");
    for (std::size_t at; (at = ahead.find("grid_stride")) != std::string::npos;)
        ahead.replace(at, std::string("grid_stride").size(), "shared_tree");
    workbook.folder.write(SmallWorkbook::student, ahead);
    CHECK(check({}));
}
