#pragma once
// A class that was graded, as `grade` leaves it, made for tests of what follows from it: hostile names,
// students without a hand-in, rungs that nobody has decided, late attempts, decisions.

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "report/report.hpp"
#include "report_sample.hpp"
#include "rungs/temporary_folder.hpp"

namespace rungs::test {

class MadeClass {
  public:
    using Json = nlohmann::ordered_json;

    static constexpr const char* rungs[] = {"03_shared_tree", "08_grid_stride"};

    MadeClass() {
        add("ada", "Ada Lovelace", "ada@example.org", "alove");
        add("ben", "=HYPERLINK(\"http://x\",\"80\")", "ben@example.org", "ben1");
        add("cleo", "Cleo \"C\" O'Neil\nsecond line", "cleo@example.org", "cleo");
        add("dan",
            "\xd7\x93\xd7\x9f \xe2\x80\xae"
            "txet",
            "dan@example.org", "dan");
        add("eve", "]]><script>alert(1)</script>&amp;", "eve@example.org", "eve");
        add("fay", std::string(5000, 'w'), "fay@example.org", "fay");
        add("gus", "caf\xe9 \xff\xfe\x01\x1b[31m", "gus@example.org", "gus");
        add("hal",
            "\xef\xbc\x9d"
            "1+1",
            "hal@example.org", "hal");
        add("ina", "Ina Missing", "ina@example.org", "ina");
        add("jon", "Jon Late", "jon@example.org", "jon");
        add("kim", "Kim Refused", "kim@example.org", "kim");
        Json asked = Json::array();
        for (const char* rung : rungs) {
            asked.push_back({{"chapter", "01_reduction"},
                             {"rung", rung},
                             {"idea", "one atomic a block"},
                             {"kind", "write"},
                             {"max_points", 10}});
        }
        assignment = {{"schema", "rungs.assignment/1"},
                      {"title", "Reduction"},
                      {"due", "2026-03-01T12:00:00Z"},
                      {"attempts", "last"},
                      {"late", {{"grace_minutes", 10}, {"percent_per_day", 20}, {"most_days", 3}}},
                      {"weights", {{"01_reduction", 1.5}}},
                      {"round_to", 0},
                      {"least_sandbox", "S2"},
                      {"budget_seconds", 600},
                      {"backend", "cpu"},
                      {"rungs", asked},
                      {"people", people_},
                      {"problems", {"lou: " + hostile()}}};
        write("assignment.json", assignment);

        hand_in("ada", 1, "2026-03-01T10:00:00Z");
        judged("ada", 1, 0, judge::Verdict::ok, 10);
        judged("ada", 1, 1, judge::Verdict::ok, 10);
        // Two attempts, of which the last counts; half of the points, and what a student's bytes say.
        hand_in("ben", 1, "2026-03-01T10:00:00Z");
        judged("ben", 1, 0, judge::Verdict::wrong, 0);
        judged("ben", 1, 1, judge::Verdict::wrong, 0);
        hand_in("ben", 2, "2026-03-01T11:00:00Z");
        judged("ben", 2, 0, judge::Verdict::slow, 7.25);
        judged("ben", 2, 1, judge::Verdict::compile_error, 0, "=cmd|' /C calc'!A0 " + hostile());
        hand_in("cleo", 1, "2026-03-01T10:00:00Z");
        judged("cleo", 1, 0, judge::Verdict::ok, 10);
        judged("cleo", 1, 1, judge::Verdict::race, 0,
               "at /home/teacher/class/cleo/08_grid_stride.cu:21, seed 0xfeedbeef");
        // Not decided: by a human, and by a machine.
        hand_in("dan", 1, "2026-03-01T10:00:00Z");
        judged("dan", 1, 0, judge::Verdict::ok, 10);
        judged("dan", 1, 1, judge::Verdict::suspect, 0, "the outputs are right, but something else is odd");
        hand_in("eve", 1, "2026-03-01T10:00:00Z");
        judged("eve", 1, 0, judge::Verdict::infra, 0, "the disk was full");
        judged("eve", 1, 1, judge::Verdict::ok, 10);
        hand_in("fay", 1, "2026-03-01T10:00:00Z");
        judged("fay", 1, 0, judge::Verdict::suspect, 0, "odd");
        judged("fay", 1, 1, judge::Verdict::ok, 10);
        write("decisions/fay/1/01_reduction/03_shared_tree.1.json", {{"points", 4},
                                                                     {"because", "=copied from Ada Lovelace"},
                                                                     {"by", "teacher"},
                                                                     {"when", "2026-03-02T08:00:00Z"}});
        for (const char* student : {"gus", "hal"}) {
            hand_in(student, 1, "2026-03-01T10:00:00Z");
            judged(student, 1, 0, judge::Verdict::wrong, 0);
            judged(student, 1, 1, judge::Verdict::ok, 10);
        }
        hand_in("jon", 1, "2026-03-02T18:00:00Z");  // two days have begun
        judged("jon", 1, 0, judge::Verdict::ok, 10);
        judged("jon", 1, 1, judge::Verdict::ok, 10);
        hand_in("kim", 1, "2026-03-01T10:00:00Z", "/tmp/x/kim.zip is not an archive");
    }

    std::string path() const { return folder.path().string(); }

    void write(const std::string& name, const Json& json) const {
        folder.write(name, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
    }

    TemporaryFolder folder;
    Json assignment;

  private:
    void add(const std::string& id, const std::string& name, const std::string& email,
             const std::string& login) {
        people_.push_back({{"id", id},
                           {"name", name},
                           {"email", email},
                           {"login", login},
                           {"due", nullptr},
                           {"columns", {{"id", id}, {"SIS User ID", "sis-" + id}}}});
    }

    void hand_in(const std::string& student, int attempt, const std::string& when,
                 const std::string& refused = "") const {
        write("hand-ins/" + student + "/" + std::to_string(attempt) + "/hand-in.json",
              {{"schema", "rungs.hand-in/1"},
               {"student", {{"id", student}, {"name", ""}, {"email", ""}, {"login", ""}}},
               {"attempt", attempt},
               {"from", "folder"},
               {"origin", student},
               {"handed_in", when},
               {"marked_late", false},
               {"refused", refused},
               {"digest", ""},
               {"files", Json::array()},
               {"ignored", Json::array()}});
    }

    void judged(const std::string& student, int attempt, int which, judge::Verdict verdict, double points,
                const std::string& why = "") const {
        Report report = sample_report();
        RungReport rung = sample_rung(rungs[which], verdict, points, 10);
        rung.result.checks.done = true;
        if (verdict == judge::Verdict::race) {
            rung.result.checks.findings = {sample_finding(hostile())};
            rung.result.checks.found_in = "sum of 2 floats, seed 0xfeedbeef";
            rung.result.correctness = {};  // it was found before anything was compared
            rung.result.correctness.cases = 54;
            rung.result.correctness.failing_case = rung.result.checks.found_in;
        }
        if (verdict == judge::Verdict::wrong) {
            rung.result.correctness.failing_case = "sum of 257 floats, kind uniform, seed 0xfeedbeef";
            rung.result.correctness.error = 2e-6;
        }
        if (!why.empty()) {
            rung.result.decide({.kind = verdict, .text = why, .source = judge::Source::call});
            rung.result.diagnostics = why;
        }
        report.rungs = {rung};
        Json result = to_json(report).at("rungs").front();
        result.erase("seed");
        write("records/" + student + "/" + std::to_string(attempt) + "/01_reduction/" + rungs[which] +
                  ".1.json",
              {{"schema", "rungs.record/2"},
               {"bytes", "0f"},
               {"backend", "cpu"},
               {"sandbox", "S2: held"},
               {"result", result}});
    }

    Json people_ = Json::array();
};

}  // namespace rungs::test
