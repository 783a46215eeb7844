#include "class/changes.hpp"

#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json points_json(const JudgedPoints& judged) {
    return {{"verdict", judged.verdict},
            {"points", judged.points ? Json(*judged.points) : Json(nullptr)},
            {"max_points", judged.max_points}};
}

JudgedPoints points_in(const Json& json) {
    JudgedPoints judged{json.at("verdict"), std::nullopt, json.at("max_points")};
    if (!json.at("points").is_null()) judged.points = json.at("points").get<double>();
    return judged;
}

bool are_same(const JudgedPoints& a, const JudgedPoints& b) {
    const auto near = [](double one, double other) { return std::abs(one - other) < 1e-9; };
    return a.verdict == b.verdict && a.points.has_value() == b.points.has_value() &&
           near(a.points.value_or(0), b.points.value_or(0)) && near(a.max_points, b.max_points);
}

/// "ada/1/01_reduction/03_shared_tree"
std::string name_of_slot(const Student& student, const Attempt& attempt, const GradedRung& rung) {
    return fmt::format("{}/{}/{}/{}", student.person.id, attempt.number, rung.asked.chapter, rung.asked.rung);
}

Json read_json(const fs::path& file) {
    const Json json = Json::parse(read_own_file(file), nullptr, false);
    if (!json.is_object())
        throw ClassError(file.string() + ": this is not what rungs has written; delete it");
    return json;
}

Json to_json(const Change& change) {
    return {{"student", change.student},
            {"attempt", change.attempt},
            {"chapter", change.chapter},
            {"rung", change.rung},
            {"before", points_json(change.before)},
            {"now", points_json(change.now)},
            {"decided", change.decided ? Json(*change.decided) : Json(nullptr)}};
}

}  // namespace

std::string Change::short_name() const { return chapter.substr(0, 2) + "/" + rung.substr(0, 2); }

std::optional<double> Change::gain() const {
    if (!before.points || !now.points) return std::nullopt;
    return *now.points - *before.points;
}

std::vector<Change> note_changes(const fs::path& out, const Gradebook& book, const std::string& when) {
    const fs::path file = out / "judged.json";
    std::error_code unknown;
    std::map<std::string, JudgedPoints> before;
    try {
        const Json noted = fs::exists(file, unknown) ? read_json(file) : Json{{"rungs", Json::object()}};
        for (const auto& [name, judged] : noted.at("rungs").items()) before[name] = points_in(judged);
    } catch (const Json::exception&) {
        throw ClassError(file.string() + ": this is not what rungs has written; delete it");
    }
    std::vector<Change> changes;
    Json all = Json::object();
    for (const Student& student : book.students) {
        for (const Attempt& attempt : student.attempts) {
            for (const GradedRung& rung : attempt.rungs) {
                if (rung.file.empty()) continue;
                const JudgedPoints now{rung.verdict, rung.judged, rung.max_points};
                const std::string name = name_of_slot(student, attempt, rung);
                all[name] = points_json(now);
                const auto was = before.find(name);
                if (was == before.end() || are_same(was->second, now)) continue;
                changes.push_back({student.person.id, attempt.number, rung.asked.chapter, rung.asked.rung,
                                   was->second, now,
                                   rung.decision ? std::optional(rung.decision->points) : std::nullopt});
            }
        }
    }
    if (!changes.empty()) {
        Json list = Json::array();
        for (const Change& change : changes) list.push_back(to_json(change));
        const fs::path folder = out / "changes";
        make_folder(folder);
        for (int number = last_judging(folder, "run") + 1;; ++number) {
            const Json run = {{"schema", "rungs.changes/1"}, {"when", when}, {"changes", list}};
            if (write_new_file(folder / fmt::format("run.{}.json", number), run.dump(1) + '\n')) break;
        }
    }
    // Written last: if this is interrupted, the next start finds the same changes.
    write_file(file, Json{{"schema", "rungs.judged/1"}, {"rungs", all}}.dump(1) + '\n');
    return changes;
}

std::vector<ChangedRun> read_changes(const fs::path& out) {
    std::vector<ChangedRun> runs;
    const fs::path folder = out / "changes";
    for (int number = 1, last = last_judging(folder, "run"); number <= last; ++number) {
        const fs::path file = folder / fmt::format("run.{}.json", number);
        std::error_code unknown;
        if (!fs::exists(file, unknown)) continue;
        const Json json = read_json(file);
        try {
            ChangedRun run{json.at("when"), {}};
            for (const Json& one : json.at("changes")) {
                Change change{one.at("student"), one.at("attempt"),           one.at("chapter"),
                              one.at("rung"),    points_in(one.at("before")), points_in(one.at("now")),
                              std::nullopt};
                if (!one.at("decided").is_null()) change.decided = one.at("decided").get<double>();
                run.changes.push_back(std::move(change));
            }
            runs.push_back(std::move(run));
        } catch (const Json::exception& error) {
            throw ClassError(file.string() + ": " + error.what());
        }
    }
    return runs;
}

}  // namespace rungs::classroom
