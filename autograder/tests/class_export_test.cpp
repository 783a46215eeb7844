// What is exported of a class, read back by other readers than ours and compared with the gradebook.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "class/export.hpp"
#include "class/spreadsheet.hpp"
#include "judge/confine/sandbox.hpp"
#include "judge/judge.hpp"
#include "judge/result/clean_text.hpp"
#include "made_class.hpp"
#include "program_fixture.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::classroom;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using Json = nlohmann::ordered_json;

namespace {

/// Runs a program to its end. @returns its status and output
rungs::test::Outcome start(const std::vector<std::string>& command, const std::string& folder = "") {
    Process::Setup setup;
    setup.environment = {
        {"RUNGS_BUILD", RUNGS_BUILD}, {"LC_ALL", "C.UTF-8"}, {"NO_COLOR", "1"}, {"COLUMNS", "120"}};
    setup.folder = folder;
    return Process(command, setup).finish();
}

rungs::test::Outcome export_to(const MadeClass& made, const std::string& to,
                               std::vector<std::string> more = {}) {
    std::vector<std::string> command = {RUNGS_PROGRAM, "export", made.path(), "--to", to};
    command.insert(command.end(), more.begin(), more.end());
    return start(command);
}

/// What Python's own reader makes of a file.
Json python(const std::string& kind, const std::filesystem::path& file, const std::string& folder = "") {
    std::vector<std::string> command = {"/usr/bin/env", "python3",
                                        std::string(RUNGS_ROOT) + "/autograder/tests/class_export_read.py",
                                        kind, file.string()};
    if (!folder.empty()) command.push_back(folder);
    const rungs::test::Outcome outcome = start(command);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.out);
}

const Student& student_of(const Gradebook& book, std::string_view id) {
    for (const Student& student : book.students) {
        if (student.person.id == id) return student;
    }
    throw std::runtime_error("nobody called " + std::string(id));
}

/// A Canvas export with a column of its own kind: quotes where none are needed, CRLF, a
/// mark, the test student.
std::string canvas_export() {
    return "\xEF\xBB\xBFStudent,ID,SIS User ID,SIS Login ID,Section,Reduction (77),Other (78),Final Score\r\n"
           ",,,,,Manual Posting,,\r\n"
           "    Points Possible,,,,,30.00,5,(read only)\r\n"
           "\"Lovelace, Ada\",101,sis-ada,alove,\"A, B\",,4,11\r\n"
           "\"=HYPERLINK(\"\"http://x\"\",\"\"80\"\")\",102,sis-ben,BEN1,A,\"1.00\",,\r\n"
           "\"O'Neil, Cleo \"\"C\"\"\",103,sis-cleo,,A,EX,,\r\n"
           "Dan,104,sis-dan,dan,A,3,,\r\n"
           "\"Late, Jon\",105,,jon@example.org,A,,,\r\n"
           "\"Student, Test\",999,,f00,A,,,\r\n";
}

}  // namespace

TEST_CASE("no cell begins a formula, however a spreadsheet reads it", "[class][export]") {
    for (const char* text : {"=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "  @x", "|x", "%x",
                             "\uFF1D1", "\uFF0B1", "\uFF0D1", "\uFF201", "\u22121"}) {
        CAPTURE(text);
        const std::string safe = spreadsheet_safe(text);
        // The CR is no character of a text, so nothing is left that could begin one.
        CHECK((safe.front() == '\'' || safe.rfind("\uFFFD", 0) == 0));
    }
    CHECK(spreadsheet_safe("Ada = x") == "Ada = x");
    CHECK(spreadsheet_safe("") == "");
    CHECK(csv_line({"a\"b", "c,d", "e\nf", " g"}) == "\"a\"\"b\",\"c,d\",\"e\nf\",\" g\"\r\n");
}

TEST_CASE("one cell of a table changes, and no other byte", "[class][export]") {
    const std::string bytes =
        "\xEF\xBB\xBF"
        "a;\"b;\"\"c\";d\n\n1;\"x\ny\";3\r4;5;6";
    const CsvFile file = read_csv(bytes);
    REQUIRE(file.separator == ';');
    REQUIRE(file.rows.size() == 3);
    CHECK(file.rows[0][0].text == "a");
    CHECK(file.rows[0][1].text == "b;\"c");
    CHECK(file.rows[1][1].text == "x\ny");
    CHECK(file.rows[2][2].text == "6");
    CHECK(file.with({}) == bytes);
    const std::string changed = file.with({{&file.rows[2][2], "7,5"}, {&file.rows[1][1], "8"}});
    CHECK(changed ==
          "\xEF\xBB\xBF"
          "a;\"b;\"\"c\";d\n\n1;\"8\";3\r4;5;7,5");
    CHECK_THROWS_WITH(read_csv("a,b\n1,\"2\n"),
                      ContainsSubstring("line 2") && ContainsSubstring("never closed"));
    CHECK_THROWS_WITH(read_csv("a,b\n1,\"2\"x\n"), ContainsSubstring("line 2"));
    CHECK_THROWS_WITH(read_csv("a,b\n1,2\"x\n"), ContainsSubstring("line 2"));
    CHECK_THROWS_WITH(read_csv(std::string("a\0b", 3)), ContainsSubstring("UTF-16"));
}

TEST_CASE("the help and the documentation have a row for each form", "[class][export]") {
    struct Form {
        std::string name, place, what;
    };
    const Form forms[] = {
#define EXPORT_FORM(name, writer, place, what) {name, place, what},
#include "class/export_forms.def"
    };
    const std::string page = rungs::TemporaryFolder::content_of(std::string(RUNGS_ROOT) + "/docs/exports.md");
    const std::string help = start({RUNGS_PROGRAM, "export", "--help"}).out;
    for (const Form& form : forms) {
        const bool below = form.place.starts_with("exports/");
        CHECK_THAT(page, ContainsSubstring("\n| `" + form.name + "` | " + form.what + " | " +
                                           (below ? "`DIR/" + form.place + "`" : form.place) + " |\n"));
        CHECK_THAT(help, ContainsSubstring(" " + form.name));
    }
}

TEST_CASE("no form that leaves the machine tells a seed", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.folder.path());
    for (const Detail detail : {Detail::points, Detail::reasons, Detail::all}) {
        std::vector<std::string> forms{to_csv(book, detail), to_junit(book, detail)};
        for (const Student& student : book.students) {
            forms.push_back(to_gradescope(book, student, detail, "visible").dump());
            forms.push_back(to_classroom50(book, student).dump());
            forms.push_back(student_page(book, student, detail, "0"));
        }
        for (const std::string& form : forms) {
            for (const char* secret : {"feedbeef", "seed 0x"}) CHECK(form.find(secret) == std::string::npos);
        }
    }
    // What is shown instead is there.
    CHECK(to_csv(book, Detail::reasons).find("at 08_grid_stride.cu:21") != std::string::npos);
}

TEST_CASE("a student sees no seed and no folder of the machine", "[class][export]") {
    CHECK(for_student("sum of 257 floats, kind uniform, seed 0x2a") == "sum of 257 floats, kind uniform");
    CHECK(for_student("--seed 42; seed=7 x") == "; x");
    CHECK(for_student("seeded with care, a seed is drawn") == "seeded with care, a seed is drawn");
    CHECK(for_student("/home/t/class/ben/03.cu:28: error") == "03.cu:28: error");
    CHECK(for_student("in '/opt/x y/z.cu' (/a/b/c)") == "in 'x y/z.cu' (c)");
    CHECK(for_student("3 GB/s of 4; out[i] / n; // why; a /= 2") ==
          "3 GB/s of 4; out[i] / n; // why; a /= 2");
    // A text that a student has made as long as they could.
    const std::string longest(1 << 20, '/');
    CHECK(for_student("x" + longest).size() > longest.size());
}

TEST_CASE("the gradebook that is exported is what was made", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    REQUIRE(book.max_score == 30);
    const std::map<std::string, std::optional<double>> scores = {
        {"ada", 30}, {"ben", 10.88}, {"cleo", 15}, {"dan", {}}, {"eve", {}}, {"fay", 21},
        {"gus", 15}, {"hal", 15},    {"ina", 0},   {"jon", 18}, {"kim", {}}};
    REQUIRE(book.students.size() == scores.size());
    for (const auto& [id, score] : scores) {
        CAPTURE(id);
        CHECK(student_of(book, id).score == score);
    }
    CHECK(open_count(book) == 3);
}

TEST_CASE("points have two decimals at most, and parts add up to their sum", "[class][export]") {
    MadeClass made;
    // What an older grader wrote, under a weight that no decimal number is.
    made.assignment["weights"] = {{"01_reduction", 1.0 / 3}};
    made.assignment["round_to"] = 0;
    made.write("assignment.json", made.assignment);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(made.folder / "records/ben")) {
        if (!entry.is_regular_file()) continue;
        Json record = Json::parse(TemporaryFolder::content_of(entry.path()));
        Json& points = record.at("result").at("points");
        if (points.is_number() && points > 0) points = points.get<double>() * 13.333333333333334 / 15;
        std::ofstream(entry.path()) << record;
    }
    const Gradebook book = read_gradebook(made.path());
    const auto is_told = [](double points) { return fmt::format("{}", points) == points_text(points); };
    for (const Student& student : book.students) {
        CAPTURE(student.person.id);
        const Json result = to_gradescope(book, student, Detail::all, "visible");
        double sum = 0, most = 0;
        for (const Json& test : result.at("tests")) {
            most += test.at("max_score").get<double>();
            CHECK(is_told(test.at("max_score")));
            if (!test.contains("score")) continue;
            sum += test.at("score").get<double>();
            CHECK((test.at("score") == 0 || is_told(test.at("score"))));
        }
        CHECK(points_text(most) == points_text(book.max_score));
        const Attempt* const attempt = counted_attempt(student);
        if (!student.score || !attempt || attempt->late_factor < 1) continue;
        CHECK(points_text(sum) == points_text(*student.score));
        CHECK((*student.score == 0 || is_told(*student.score)));
    }
    CHECK(student_of(book, "ben").score.has_value());
}

TEST_CASE("a table for spreadsheets says what the gradebook says", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    for (const char* detail : {"points", "reasons", "all"}) {
        const std::string file = (made.folder / (std::string(detail) + ".csv")).string();
        REQUIRE(export_to(made, "csv", {"--detail", detail, "--out", file}).status == 3);
        const Json rows = python("csv", file);
        REQUIRE(rows.size() == book.students.size() + 1);
        const std::size_t columns = rows[0].size();
        std::map<std::string, std::size_t> column;
        for (std::size_t i = 0; i < columns; ++i) column[rows[0][i]] = i;
        for (std::size_t s = 0; s < book.students.size(); ++s) {
            const Student& student = book.students[s];
            const Json& row = rows[s + 1];
            REQUIRE(row.size() == columns);
            CAPTURE(student.person.id, detail);
            CHECK(row[column.at("id")] == student.person.id);
            CHECK_THAT(
                row[column.at("name")].get<std::string>(),
                Equals(clean_utf8(student.person.name)) || Equals("'" + clean_utf8(student.person.name)));
            CHECK(row[column.at("state")] == state_of(student));
            CHECK(row[column.at("score")] == (student.score ? points_text(*student.score) : ""));
            const Attempt* const attempt = counted_attempt(student);
            for (std::size_t r = 0; r < 2; ++r) {
                const std::string name = book.assignment.rungs[r].short_name();
                const GradedRung* const rung = attempt ? &attempt->rungs[r] : nullptr;
                CHECK(row[column.at(name)] == (rung && rung->points ? points_text(*rung->points) : ""));
                if (!column.count(name + " verdict")) continue;
                CHECK(row[column.at(name + " verdict")] == (rung ? rung->verdict : ""));
                if (student.person.id == "kim")
                    CHECK(row[column.at(name + " reason")] == "kim.zip is not an archive");
            }
            for (const Json& cell : row) {
                const std::string text = cell;
                if (!text.empty()) CHECK(std::string("=+-@\t\r\n|%").find(text.front()) == std::string::npos);
            }
        }
        CHECK((column.count("01/03 decision") == 1) == (std::string(detail) == "all"));
    }
}

TEST_CASE("JUnit XML has a case for each rung, and none is skipped", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    const std::string file = (made.folder / "junit.xml").string();
    REQUIRE(export_to(made, "junit", {"--detail", "all", "--out", file}).status == 3);
    const Json junit = python("junit", file);
    REQUIRE(junit.at("suites").size() == book.students.size());
    int failures = 0, errors = 0;
    for (std::size_t s = 0; s < book.students.size(); ++s) {
        const Student& student = book.students[s];
        const Json& suite = junit["suites"][s];
        CAPTURE(student.person.id);
        CHECK(suite["name"] == student.person.id);
        CHECK(suite["properties"]["student"] == clean_utf8(student.person.name));
        CHECK(suite["properties"].contains("score") == student.score.has_value());
        REQUIRE(suite["cases"].size() == 2);
        for (std::size_t r = 0; r < 2; ++r) {
            const Json& one = suite["cases"][r];
            CHECK(one["classname"] == student.person.id + ".01_reduction");
            const Attempt* const attempt = counted_attempt(student);
            switch (attempt ? outcome_of(attempt->rungs[r]) : classroom::Outcome::missing) {
                case classroom::Outcome::passed:
                    CHECK(one["what"].empty());
                    break;
                case classroom::Outcome::open:
                    CHECK(one["what"] == Json{"error"});
                    if (student.person.id == "kim")
                        CHECK_THAT(one["message"][0].get<std::string>(),
                                   ContainsSubstring("not graded yet: kim.zip is not an archive"));
                    ++errors;
                    break;
                default:
                    CHECK(one["what"] == Json{"failure"});
                    ++failures;
            }
        }
    }
    CHECK(junit["counts"]["tests"] == "22");
    CHECK(junit["counts"]["failures"] == std::to_string(failures));
    CHECK(junit["counts"]["errors"] == std::to_string(errors));
    CHECK_FALSE(junit["counts"].contains("skipped"));  // Jenkins' schema has it at suites alone
    CHECK(errors == 4);                                // dan 1, eve 1, kim 2
    CHECK_THAT(junit["suites"][1]["cases"][1]["message"][0].get<std::string>(),
               ContainsSubstring("]]> & \"q\" 'a' \uFFFD"));
}

TEST_CASE("a human who takes points from a rung that passes makes no failure of it", "[class][export]") {
    const MadeClass made;
    const auto decide = [&](const char* who, double points, const Json& on) {
        Json decision = {{"points", points}, {"because", "ugly names"}, {"by", "teacher"}, {"when", "then"}};
        if (!on.is_null()) decision["on"] = on;
        made.write(std::string("decisions/") + who + "/1/01_reduction/03_shared_tree.1.json", decision);
    };
    const Json passed = {{"verdict", "OK"}, {"points", 10}, {"max_points", 10}};
    decide("ada", 9, passed);
    decide("cleo", 0, nullptr);
    decide("jon", 5, {{"verdict", "WRONG"}, {"points", 0}, {"max_points", 5}});
    decide("gus", 5, {{"verdict", "WRONG"}, {"points", 0}, {"max_points", 10}});
    const Gradebook book = read_gradebook(made.path());
    const auto rung = [&](const char* who) { return student_of(book, who).attempts[0].rungs[0]; };
    for (const char* who : {"ada", "cleo", "jon"}) CHECK(outcome_of(rung(who)) == classroom::Outcome::passed);
    CHECK(outcome_of(rung("gus")) == classroom::Outcome::failed);
    CHECK(decided_text(rung("ada")) == "decided");
    CHECK(decided_text(rung("cleo")) == "decided");  // what it was made on was not kept then
    CHECK(decided_text(rung("jon")) == "decided on an older verdict");
    CHECK(decided_text(rung("hal")).empty());

    const std::string file = (made.folder / "junit.xml").string();
    export_to(made, "junit", {"--out", file});
    const Json junit = python("junit", file);
    CHECK(junit["suites"][0]["cases"][0]["what"] == Json{"system-out"});
    const std::string text = made.folder.read("junit.xml");
    CHECK_THAT(text, !ContainsSubstring("type=\"OK\"") &&
                         ContainsSubstring("decided: 9 of 10 points: ugly names") &&
                         ContainsSubstring("decided on an older verdict: 5 of 10 points"));
    for (const char* who : {"ada", "jon"}) {
        const Student& student = student_of(book, who);
        CHECK_THAT(student_page(book, student, Detail::all, "1"),
                   !ContainsSubstring("not passed") && ContainsSubstring("<small>decided</small>") &&
                       !ContainsSubstring("ugly"));
        CHECK(to_gradescope(book, student, Detail::all, "visible")["tests"][0]["status"] == "passed");
        CHECK(to_classroom50(book, student)["tests"][0]["passed"] == true);
    }
    CHECK_THAT(class_page(book, "1", nullptr),
               ContainsSubstring("decided on an older verdict: then WRONG, 0 / 5; now OK, 10 / 10"));
    CHECK_THAT(export_to(made, "table").out, ContainsSubstring("graded, 1 decided\n") &&
                                                 ContainsSubstring("1 decided, 1 on an older verdict"));
    CHECK_THAT(to_csv(book, Detail::reasons), ContainsSubstring(",OK,,decided on an older verdict,"));
}

TEST_CASE("Gradescope's results have no score as long as a rung is open", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    const std::string out = (made.folder / "gs").string();
    REQUIRE(
        export_to(made, "gradescope", {"--detail", "all", "--visibility", "hidden", "--out", out}).status ==
        3);
    for (const Student& student : book.students) {
        CAPTURE(student.person.id);
        const std::string text = made.folder.read("gs/results/" + student.person.id + "/results.json");
        const Json result = Json::parse(text);
        CHECK(result.contains("score") == student.score.has_value());
        if (student.score) CHECK(result["score"] == *student.score);
        CHECK(result["visibility"] == "hidden");
        CHECK(result["test_output_format"] == "text");
        double most = 0;
        REQUIRE(result["tests"].size() == 2);
        const Attempt* const attempt = counted_attempt(student);
        for (std::size_t r = 0; r < 2; ++r) {
            const Json& test = result["tests"][r];
            most += test["max_score"].get<double>();
            const bool open = attempt && attempt->rungs[r].open();
            CHECK(test.contains("score") == !open);
            CHECK(test.contains("status") == !open);
            if (open) CHECK_THAT(test["output"].get<std::string>(), ContainsSubstring("Not graded yet"));
        }
        CHECK(most == book.max_score);  // the same for everybody
        for (const char* secret : {"feedbeef", "/home/teacher", "teacher", "copied from"})
            CHECK(text.find(secret) == std::string::npos);
    }
    SECTION("the zip hands out the result of the address that submits, and nothing else") {
        const std::string place = (made.folder / "gradescope").string();
        const Json names = python("zip", out + "/graded.zip", place + "/source");
        CHECK(names["setup.sh"] == "0o755");
        CHECK(names["run_autograder"] == "0o755");
        made.folder.write("gradescope/results/.keep", "");
        const auto submit = [&](const std::string& address, const std::string& other = "") {
            Json users = Json::array({{{"email", address}}});
            if (!other.empty()) users.push_back({{"email", other}});
            made.write("gradescope/submission_metadata.json", {{"users", users}});
            const rungs::test::Outcome outcome =
                start({"/usr/bin/env", "python3", "source/run_autograder"}, place);
            INFO(outcome.err);
            REQUIRE(outcome.status == 0);
            return Json::parse(made.folder.read("gradescope/results/results.json"));
        };
        CHECK(submit("JON@example.org") ==
              to_gradescope(book, student_of(book, "jon"), Detail::all, "hidden"));
        CHECK_FALSE(submit("stranger@example.org").contains("score"));
        // A group, graded alike or not, and with a member whom nobody knows.
        CHECK(submit("gus@example.org", "hal@example.org") ==
              to_gradescope(book, student_of(book, "gus"), Detail::all, "hidden"));
        CHECK(submit("jon@example.org", "stranger@example.org")["score"] == 18);
        CHECK_THAT(submit("ada@example.org", "jon@example.org")["output"].get<std::string>(),
                   ContainsSubstring("different grades"));
    }
}

TEST_CASE("Gradescope's autograder is the workbook and nothing that lies beside it", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    const TemporaryFolder root;
    root.write("rungs", "#!/bin/sh\n");
    std::filesystem::permissions(root / "rungs", std::filesystem::perms::owner_all);
    root.write("chapters/01_reduction/03_shared_tree.cu", "mine");
    root.write("chapters/01_reduction/03_shared_tree.cu.bak-1", "old");
    root.write("class/ben/03_shared_tree.cu", "a hand-in");
    root.write("results/ben.json", "a result");
    std::filesystem::create_symlink("/etc/passwd", root / "chapters" / "link");
    root.write("auto.zip", autograder_zip(book, root.path(), Detail::points, "visible"));
    CHECK(root.read("auto.zip") == autograder_zip(book, root.path(), Detail::points, "visible"));
    const Json names = python("zip", root / "auto.zip", (root / "unpacked").string());
    const Json expected = {{"setup.sh", "0o755"},
                           {"run_autograder", "0o755"},
                           {"not_graded.json", "0o644"},
                           {"assignment.toml", "0o644"},
                           {"workbook/chapters/01_reduction/03_shared_tree.cu", "0o644"},
                           {"workbook/rungs", "0o755"}};
    CHECK(nlohmann::json(names) == nlohmann::json(expected));
    CHECK_FALSE(Json::parse(root.read("unpacked/not_graded.json")).contains("score"));
    for (const char* script : {"setup.sh", "run_autograder"})
        CHECK(start({"/bin/sh", "-n", (root / "unpacked" / script).string()}).status == 0);
    CHECK_THAT(root.read("unpacked/assignment.toml"), ContainsSubstring("rungs = [\"01/03\", \"01/08\"]") &&
                                                          ContainsSubstring("\"01_reduction\" = 1.5"));
    SECTION("it grades with the commands, and leaves no score where they do not come to an end") {
        // The workbook's own program is played here: what it is asked, and what it leaves.
        const std::string place = (root / "unpacked").string();
        root.write("unpacked/source/workbook/rungs",
                   "#!/bin/sh\necho \"$*\" >> ../../calls\n[ -e ../../works ] || exit 3\n"
                   "while [ \"$1\" != --out ]; do shift; done\n"
                   "mkdir -p \"$2/results/submission\" && echo '{\"score\": 7}' > "
                   "\"$2/results/submission/results.json\"\n");
        std::filesystem::permissions(root / "unpacked" / "source/workbook/rungs",
                                     std::filesystem::perms::owner_all);
        for (const char* file : {"not_graded.json", "assignment.toml"})
            root.write(std::string("unpacked/source/") + file, root.read(std::string("unpacked/") + file));
        root.write("unpacked/submission/03_shared_tree.cu", "x");
        root.write("unpacked/results/.keep", "");
        start({"/bin/sh", place + "/run_autograder"}, place);
        CHECK_FALSE(Json::parse(root.read("unpacked/results/results.json")).contains("score"));
        root.write("unpacked/works", "");
        start({"/bin/sh", place + "/run_autograder"}, place);
        CHECK(Json::parse(root.read("unpacked/results/results.json"))["score"] == 7);
        CHECK_THAT(root.read("unpacked/calls"),
                   ContainsSubstring("grade ") && ContainsSubstring("--to gradescope --detail points "
                                                                    "--visibility visible"));
    }
}

TEST_CASE("Gradescope's autograder grades without CAP_SYS_ADMIN, or there is no image", "[class][export]") {
    if (geteuid() != 0) RUNGS_SKIP("root alone can give away what a container lacks");
    if (judge::sandbox_level().name < "S2") RUNGS_SKIP("this host holds hand-ins at less than S2");
    const SmallWorkbook all;
    const std::string here = all.folder.path().string(), place = here + "/gradescope";
    // The launcher would build for minutes, with a network; the programs of this build are there already.
    all.folder.write("rungs",
                     "#!/bin/sh\n[ \"$1\" != --yes ] || shift\n"
                     "RUNGS_BUILD='" +
                         place + "/source/workbook/build' '" RUNGS_PROGRAM "' \"$@\"\n");
    std::filesystem::permissions(all.folder / "rungs", std::filesystem::perms::owner_all);
    const auto zip_for = [&](const std::string& policy) {
        all.folder.write("class/assignment.toml", policy);
        all.folder.write("class/roster.csv", "id\neve\n");
        all.run({"grade", "class", "--out", "graded", "--below-s3"});
        std::filesystem::remove_all(place);
        const rungs::test::Outcome outcome =
            all.run({"export", "graded", "--to", "gradescope-autograder", "--out", "auto.zip"});
        python("zip", all.folder / "auto.zip", place + "/source");
        // What the launcher would have built.
        const std::string workbook = place + "/source/workbook";
        std::string tools = all.folder.read("build/toolchain.json");
        for (std::size_t at = 0; (at = tools.find(here, at)) != std::string::npos; at += workbook.size())
            tools.replace(at, here.size(), workbook);
        all.folder.write("gradescope/source/workbook/build/toolchain.json", tools);
        for (const char* headers : {"include", "simt"})
            std::filesystem::create_directory_symlink(std::filesystem::path(RUNGS_ROOT) / "common" / headers,
                                                      std::filesystem::path(workbook) / "common" / headers);
        std::filesystem::permissions(workbook + "/rungs", std::filesystem::perms::owner_all);
        return outcome;
    };
    const auto contained = [&](const std::string& script) {
        Process::Setup setup = all.setup();
        setup.folder = place;
        return Process({"/usr/bin/setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin",
                        "/bin/sh", script},
                       setup)
            .finish();
    };
    SECTION("by default the class asks for more, which is said here, and there by an image that fails") {
        const rungs::test::Outcome outcome = zip_for("roster = \"roster.csv\"\n");
        CHECK_THAT(outcome.out, ContainsSubstring("least_sandbox is S3, but Gradescope's containers "
                                                  "reach at most S2") &&
                                    ContainsSubstring("set least_sandbox = \"S2\""));
        const rungs::test::Outcome setup = contained("source/setup.sh");
        CAPTURE(setup.out, setup.err);
        CHECK(setup.status == 1);
        CHECK_THAT(setup.err, ContainsSubstring("the sandbox reaches only S2 here") &&
                                  ContainsSubstring("the class requires S3") &&
                                  ContainsSubstring("set\nleast_sandbox in assignment.toml"));
        CHECK_THAT(setup.out, ContainsSubstring("isolation S3"));
    }
    SECTION("at S2 it grades what comes") {
        const rungs::test::Outcome outcome = zip_for("roster = \"roster.csv\"\nleast_sandbox = \"S2\"\n");
        CHECK_THAT(outcome.out, !ContainsSubstring("least_sandbox"));
        const rungs::test::Outcome setup = contained("source/setup.sh");
        CAPTURE(setup.out, setup.err);
        CHECK(setup.status == 0);
        all.folder.write("gradescope/submission/03_shared_tree.cu", all.solution);
        all.folder.write("gradescope/results/.keep", "");
        const rungs::test::Outcome graded = contained("source/run_autograder");
        CAPTURE(graded.out, graded.err);
        CHECK(Json::parse(all.folder.read("gradescope/results/results.json"))["score"] == 10);
    }
}

TEST_CASE("Classroom 50 gets whole numbers, and nothing of who has no score", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    REQUIRE(whole_scale(book) == 100);  // 10.88
    made.folder.write("c50/dan/result.json", "of an earlier export");
    const std::string out = (made.folder / "c50").string();
    REQUIRE(export_to(made, "classroom50", {"--out", out}).status == 3);
    for (const Student& student : book.students) {
        CAPTURE(student.person.id);
        const auto file = made.folder / ("c50/" + student.person.id + "/result.json");
        REQUIRE(std::filesystem::exists(file) == student.score.has_value());
        if (!student.score) continue;
        const Json result = Json::parse(TemporaryFolder::content_of(file));
        CHECK(result["schema"] == "classroom50/result/v1");
        CHECK(result["score"].is_number_integer());
        CHECK(result["score"] == std::llround(100 * *student.score));
        CHECK(result["max-score"] == 3000);
        long long most = 0;
        for (const Json& test : result["tests"]) {
            CHECK(test["score"].is_number_integer());
            CHECK(test["score"] <= test["max-score"]);
            CHECK(test["passed"].is_boolean());
            CHECK_FALSE(test["test-name"].get<std::string>().empty());
            most += test["max-score"].get<long long>();
        }
        CHECK(most == 3000);
    }
}

TEST_CASE("a Canvas gradebook is filled in, and only its scores change", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    const std::string from = canvas_export();
    const FilledIn filled = fill_canvas(book, from, {.file = "grades.csv"});
    std::string expected = from;
    const auto replace = [&](const std::string& old, const std::string& text) {
        REQUIRE(expected.find(old) != std::string::npos);
        expected.replace(expected.find(old), old.size(), text);
    };
    replace("\"A, B\",,4", "\"A, B\",30,4");
    replace("A,\"1.00\",,", "A,\"10.88\",,");
    replace("jon@example.org,A,,,", "jon@example.org,A,18,,");
    CHECK(filled.bytes == expected);
    CHECK(filled.filled == 3);
    CHECK(filled.kept.size() == 2);     // cleo is excused, dan has no score
    CHECK(filled.without.size() == 4);  // fay, gus, hal and ina are in another section
    const auto refused = [&](std::string bytes, FillOptions options, const std::string& why) {
        options.file = "grades.csv";
        CHECK_THROWS_WITH(fill_canvas(book, std::move(bytes), options), ContainsSubstring(why));
    };
    SECTION("rows that are not one student are refused, all of them at once") {
        refused(from + "Stranger,1,,nobody,A,,,\r\n", {}, "no student of the class");
        refused(from + "Two,1,sis-gus,nobody,A,,,\r\n", {}, "except for 'SIS Login ID'");
        refused(from + "Two,1,sis-gus,hal,A,,,\r\n", {}, "it could be any of");
        refused(from + "Ada again,101,sis-ada,alove,A,,,\r\n", {}, "already");
        refused(from + "Short,1,sis-gus\r\n", {}, "too few cells");
        refused(from + "One,1,,nobody,A,,,\r\nTwo,2,,nobody2,A,,,\r\n", {}, "2 of its rows");
        MadeClass twins;
        twins.assignment["people"][6]["login"] = twins.assignment["people"][7]["login"] = "twin";
        twins.write("assignment.json", twins.assignment);
        CHECK_THROWS_WITH(
            fill_canvas(read_gradebook(twins.path()), from + "Twin,1,,twin,A,,,\r\n", {.file = "x"}),
            ContainsSubstring("it could be any of"));
    }
    SECTION("a number of Canvas's is no match for whom its login denies") {
        MadeClass numbers;
        numbers.assignment["people"][6]["id"] = "101";  // gus is called as Canvas calls ada
        numbers.write("assignment.json", numbers.assignment);
        const FilledIn same = fill_canvas(read_gradebook(numbers.path()), from, {.file = "x"});
        CHECK_THAT(same.bytes, ContainsSubstring("\"A, B\",30,4"));
    }
    SECTION("points are never scaled unasked") {
        std::string other = from;
        other.replace(other.find("30.00"), 5, "100");
        refused(other, {}, "the column's maximum is 100, and the class's is 30");
        const FilledIn scaled = fill_canvas(book, other, {.file = "x", .scale = true});
        CHECK_THAT(scaled.bytes, ContainsSubstring("\"A, B\",100,4"));
        CHECK_THAT(scaled.bytes, ContainsSubstring("\"36.27\""));
    }
    SECTION("the column can be named, and has to be one that Canvas takes") {
        refused(from, {.column = "Other"}, "the column's maximum is 5");
        refused(from, {.column = "78"}, "the column's maximum is 5");
        refused(from, {.column = "Reductions"},
                "name one with --column: Reduction (77), Other (78), Final Score");
        refused(from, {.column = "Final Score"}, "read only");
        refused("a,b\n1,2\n", {}, "not a gradebook exported by Canvas");
    }
    SECTION("where numbers have a comma, so have ours") {
        const FilledIn german = fill_canvas(
            book,
            "Student;ID;SIS Login ID;Section;Reduction (77)\n Points Possible;;;;30,00\nBen;1;ben1;A;\n",
            {.file = "x"});
        CHECK_THAT(german.bytes, ContainsSubstring("Ben;1;ben1;A;10,88\n"));
    }
    SECTION("by the program") {
        const auto file = made.folder.write("grades.csv", from);
        const rungs::test::Outcome outcome = export_to(made, "canvas", {"--from", file.string()});
        CHECK(outcome.status == 3);
        CHECK(outcome.out == expected);
        CHECK_THAT(outcome.err, ContainsSubstring("3 scores filled in") &&
                                    ContainsSubstring("4 students with a score but no row"));
        CHECK(made.folder.read("grades.csv") == from);
        CHECK(export_to(made, "canvas").status == 2);
    }
}

TEST_CASE("Moodle's worksheet and gradebook are filled in", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    const std::string head =
        "Identifier,\"Full name\",\"Email address\",Status,Grade,\"Maximum Grade\",\"Last "
        "modified (grade)\"\n";
    const std::string ada = "\"Participant 7\",\"Ada Lovelace\",ADA@example.org,Submitted,,30.00,-\n";
    const FilledIn filled = fill_moodle(book, head + ada, {.file = "w.csv"});
    CHECK(filled.bytes == head + "\"Participant 7\",\"Ada Lovelace\",ADA@example.org,Submitted,30,30.00,-\n");
    CHECK_THROWS_WITH(
        fill_moodle(book, head + "\"Participant 7\",X,x@example.org,,,30.00,-\n", {.file = "w.csv"}),
        ContainsSubstring("w.csv") && ContainsSubstring("no student of the class"));
    // Moodle passes over a grade above the maximum without a word.
    CHECK_THROWS_WITH(fill_moodle(book, head + "x,Ada,ada@example.org,,,20.00,-\n", {.file = "w.csv"}),
                      ContainsSubstring("maximum is 20"));
    MadeClass numbered;
    numbered.assignment["people"][0]["id"] = "7";
    numbered.assignment["people"][0]["columns"] = {{"Participant", "7"}};
    numbered.write("assignment.json", numbered.assignment);
    const FilledIn blind =
        fill_moodle(read_gradebook(numbered.path()),
                    "Identifier,Status,Grade,Maximum Grade\nParticipant 7,,,30\n", {.file = "w"});
    CHECK_THAT(blind.bytes, ContainsSubstring("Participant 7,,0,30"));  // 7 has handed nothing in
    const std::string gradebook =
        "First name,Email address,Assignment: Reduction (Real)\nBen,ben@example.org,-\n";
    CHECK_THAT(fill_moodle(book, gradebook, {.file = "g"}).bytes,
               ContainsSubstring("ben@example.org,10.88\n"));
    const std::string german = "Vollst\u00e4ndiger Name,E-Mail-Adresse,Bewertung\nBen,ben@example.org,\n";
    CHECK_THAT(
        fill_moodle(book, german, {.file = "g", .column = "Bewertung", .match = "E-Mail-Adresse"}).bytes,
        ContainsSubstring("Ben,ben@example.org,10.88\n"));
    CHECK_THROWS_WITH(fill_moodle(book, german, {.file = "g", .column = "Bewertung"}),
                      ContainsSubstring("--match"));
}

TEST_CASE("pages are well formed, run nothing and name nobody else", "[class][export]") {
    const MadeClass made;
    made.folder.write("similarity.json", R"({"schema": "rungs.similarity/1", "rungs": [{
        "chapter": "01_reduction", "rung": "03_shared_tree", "hand_ins": 7, "untouched": 0,
        "usual": {"words": 17, "structure": 39}, "equal": [["gus", "hal"]],
        "pairs": [{"student": "ada", "other": "eve", "words": 98, "structure": 96, "lines": [[7, 16, 18, 28], [3, 3, 4, 4]]},
                  {"student": "jon", "other": null, "words": 100, "structure": 100, "lines": [[9, 35, 9, 35]]}],
        "more": 0}]})");
    const Gradebook book = read_gradebook(made.path());
    for (const char* detail : {"points", "reasons", "all"}) {
        const std::string out = (made.folder / detail).string();
        REQUIRE(export_to(made, "html", {"--detail", detail, "--out", out}).status == 3);
        for (const Student& student : book.students) {
            CAPTURE(student.person.id, detail);
            const std::string name = "students/" + student.person.id + ".html";
            const Json page = python("html", out + "/" + name);
            CHECK(page["wrong"].empty());
            CHECK(page["active"].empty());
            CHECK(page["tables"] == page["captions"]);
            CHECK(page["headings in order"] == true);
            CHECK(page["ids are unique"] == true);
            const std::string bytes = made.folder.read(std::string(detail) + "/" + name);
            for (const Student& other : book.students) {
                if (&other == &student) continue;
                CHECK(bytes.find(other.person.email) == std::string::npos);
                const std::string theirs = clean_name(other.person.name);
                CHECK(page["text"].get<std::string>().find(theirs) == std::string::npos);
            }
            for (const char* secret :
                 {"feedbeef", "/home/teacher", "/tmp/x", "teacher", "copied from", "<script>"})
                CHECK(bytes.find(secret) == std::string::npos);
            const std::string text = page["text"];
            CHECK_THAT(text, ContainsSubstring(student.score ? points_text(*student.score) + " / 30"
                                                             : "\u2013 / 30"));
            const bool told = text.find("COMPILE_ERROR") != std::string::npos;
            if (student.person.id == "ben") CHECK(told == (std::string(detail) != "points"));
            const bool found = text.find("Put __syncthreads() between the two.") != std::string::npos;
            if (student.person.id == "cleo") CHECK(found == (std::string(detail) == "all"));
            const bool measured = text.find("2e-06, allowed 1e-06: |got - expected|") != std::string::npos;
            if (student.person.id == "gus") CHECK(measured == (std::string(detail) == "all"));
            CHECK(text.find("allowed 0") == std::string::npos);
            // Once for the hand-in, and at each rung if reasons are shown.
            std::size_t refused = 0;
            for (std::size_t at = 0; (at = text.find("kim.zip is not", at)) != std::string::npos; ++at)
                ++refused;
            CHECK((refused > 2) == (student.person.id == "kim" && std::string(detail) != "points"));
        }
    }
    const Json page = python("html", made.folder / "all" / "index.html");
    CHECK(page["wrong"].empty());
    CHECK(page["active"].empty());
    CHECK(page["tables"] == page["captions"]);
    CHECK(page["headings in order"] == true);
    CHECK(page["ids are unique"] == true);
    CHECK_THAT(made.folder.read("all/index.html"), !ContainsSubstring("</small>, "));
    const std::string text = page["text"];
    for (const char* part : {"11 students", "To look at", "Could not be checked", "Common findings",
                             "Decisions", "copied from Ada Lovelace", "7-16 = 18-28, 3 = 4", "the solution",
                             "Missing", "Refused", "Late", "5.0 h"})
        CHECK_THAT(text, part == std::string("5.0 h") ? ContainsSubstring("30.0 h late, keeps 60 %")
                                                      : ContainsSubstring(part));
}

TEST_CASE("a student's page says of a rung what the page of a run says", "[class][export]") {
    const MadeClass made;
    const Gradebook book = read_gradebook(made.path());
    std::size_t findings = 0;
    for (const Student& student : book.students) {
        const Attempt* const attempt = counted_attempt(student);
        if (!attempt) continue;
        const std::string page = student_page(book, student, Detail::all, "1");
        for (const GradedRung& rung : attempt->rungs) {
            const std::optional<judge::RungResult> found = rung.result();
            if (!found) continue;
            const judge::RungResult result = for_student(*found);
            std::string rows;
            add_correctness(rows, result);
            add_checks(rows, result.checks);
            add_speed(rows, result);
            CHECK_THAT(rows, ContainsSubstring("cases"));
            for (const std::string& part :
                 {rows, answers_section(result), findings_section(result.checks), mismatches_section(result)})
                CHECK_THAT(page, ContainsSubstring(part));
            findings += result.checks.findings.size();
        }
    }
    CHECK(findings > 0);
}

TEST_CASE("a record of an older version is read, and a broken one named", "[class][export]") {
    const MadeClass made;
    const std::string name = "records/cleo/1/01_reduction/08_grid_stride.1.json";
    const Json whole = Json::parse(made.folder.read(name));
    const auto page = [&](const Json& record) {
        made.write(name, record);
        const Gradebook book = read_gradebook(made.path());
        return student_page(book, student_of(book, "cleo"), Detail::all, "1");
    };
    CHECK_THAT(page(whole), ContainsSubstring("Findings"));
    Json older = whole;
    for (const char* field : {"modelled", "speed", "predictions", "profile", "compile", "counters"})
        older.at("result").erase(field);
    older.at("result").at("checks").at("findings").at(0).at("side").erase("caller_file");
    CHECK_THAT(page(older), ContainsSubstring("Findings") && ContainsSubstring("RACE"));
    Json broken = whole;
    broken.at("result").at("checks").at("findings").at(0).at("count") = "twelve";
    CHECK_THROWS_WITH(page(broken), ContainsSubstring("08_grid_stride.1.json") &&
                                        ContainsSubstring("result.checks.findings[0].count is not"));
}

TEST_CASE("a rung that was not handed in is told from one that does not compile", "[class][export]") {
    const MadeClass made;
    const std::string name = "records/ben/2/01_reduction/08_grid_stride.1.json";
    nlohmann::ordered_json record = nlohmann::ordered_json::parse(made.folder.read(name));
    const auto page = [&] { return class_page(read_gradebook(made.path()), "1", nullptr); };
    CHECK_THAT(page(), ContainsSubstring("COMPILE_ERROR (1)") && ContainsSubstring("75 %"));
    record.at("bytes") = "";
    made.write(name, record);
    const Gradebook book = read_gradebook(made.path());
    const Student& ben = book.students[1];
    const GradedRung& rung = ben.attempts[1].rungs[1];
    REQUIRE(rung.asked.rung == "08_grid_stride");
    CHECK(rung.points == 0.0);
    CHECK(classroom::outcome_of(rung) == classroom::Outcome::missing);
    CHECK_THAT(page(), !ContainsSubstring("COMPILE_ERROR") && ContainsSubstring("86 %"));
    CHECK_THAT(student_page(book, ben, Detail::reasons, "1"),
               !ContainsSubstring("COMPILE_ERROR") && ContainsSubstring("not handed in"));
    CHECK_THAT(to_csv(book, Detail::reasons),
               !ContainsSubstring("COMPILE_ERROR") && ContainsSubstring(",0,MISSING,"));
    CHECK_THAT(to_junit(book, Detail::all), ContainsSubstring("<failure type=\"MISSING\""));
    const Json test = to_gradescope(book, ben, Detail::reasons, "visible").at("tests").at(1);
    CHECK(test.at("score") == 0);
    CHECK(test.at("status") == "failed");
    CHECK_THAT(test.at("output").get<std::string>(), ContainsSubstring("MISSING: "));
    // What a machine compares has the judge's words.
    CHECK_THAT(projection(book), ContainsSubstring("ben\t2\t01_reduction/08_grid_stride\tCOMPILE_ERROR"));

    // One whose judging could not take place is still open.
    record.at("result").at("points") = nullptr;
    record.at("result").at("verdict") = "NOT_RUN";
    made.write(name, record);
    const Gradebook open = read_gradebook(made.path());
    CHECK(classroom::outcome_of(open.students[1].attempts[1].rungs[1]) == classroom::Outcome::open);
    CHECK_THAT(to_csv(open, Detail::reasons), ContainsSubstring("NOT_RUN") && !ContainsSubstring("MISSING"));
}

TEST_CASE("a refused hand-in is decided in one command, or not at all", "[class][review]") {
    const MadeClass made;
    const auto decide = [&](const char* points) {
        return start({RUNGS_PROGRAM, "review", made.path(), "kim", "all", "--points", points, "--because",
                      "no archive"});
    };
    CHECK(decide("11").status == 2);
    CHECK_FALSE(std::filesystem::exists(made.folder / "decisions/kim"));
    CHECK(decide("0").status == 0);
    const Gradebook book = read_gradebook(made.path());
    const Student& kim = student_of(book, "kim");
    CHECK(kim.score == 0.0);
    for (const GradedRung& rung : kim.attempts[0].rungs) CHECK(rung.decision);
    CHECK(decide("0").status == 2);
}

TEST_CASE("a class on a terminal: a line for each student", "[class][export]") {
    const MadeClass made;
    const rungs::test::Outcome outcome = export_to(made, "table");
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("3 of 11 students without a score yet"));
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 12);
    CHECK(outcome.out.find('\x1b') == std::string::npos);
    CHECK_THAT(outcome.out, ContainsSubstring("\u2713\u2713        30  graded"));
    CHECK_THAT(outcome.out, ContainsSubstring("18  graded, 1800 min late"));
    CHECK_THAT(outcome.out, StartsWith("Reduction, 11 students, 30 points"));
    SECTION("a class may have no title") {
        MadeClass untitled;
        untitled.assignment["title"] = "";
        untitled.write("assignment.json", untitled.assignment);
        CHECK_THAT(export_to(untitled, "table").out, StartsWith("Assignment, 11 students, 30 points"));
        const Gradebook book = read_gradebook(untitled.path());
        CHECK_THAT(class_page(book, "1", nullptr), ContainsSubstring("<h1>Assignment</h1>"));
        CHECK_THAT(student_page(book, book.students[0], Detail::all, "1"),
                   ContainsSubstring("<h1>Assignment</h1>"));
    }
    SECTION("what is asked for wrongly is said") {
        const TemporaryFolder empty;
        const rungs::test::Outcome nothing =
            start({RUNGS_PROGRAM, "export", empty.path().string(), "--to", "csv"});
        CHECK(nothing.status == 3);
        CHECK_THAT(nothing.err, ContainsSubstring("no class has been graded here"));
        CHECK(export_to(made, "excel").status == 2);
    }
}
