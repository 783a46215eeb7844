#include "class/assignment.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/clean_text.hpp"
#include "judge/points.hpp"

namespace rungs::classroom {
namespace {

using Json = nlohmann::ordered_json;

Json time_json(const std::optional<Time>& time) { return time ? Json(time_text(*time)) : Json(nullptr); }

std::optional<Time> time_of(const nlohmann::json& value) {
    if (value.is_null()) return std::nullopt;
    const std::optional<Time> time = parse_time(value.get<std::string>());
    if (!time) throw ClassError("'" + value.get<std::string>() + "' is not a time");
    return time;
}

}  // namespace

std::string Person::column(const std::string& heading) const {
    const auto found = columns.find(heading);
    return found == columns.end() ? std::string() : trimmed(found->second);
}

std::string AskedRung::short_name() const { return chapter.substr(0, 2) + "/" + rung.substr(0, 2); }

double Assignment::weight_of(const std::string& chapter) const {
    const auto found = weights.find(chapter);
    return found == weights.end() ? 1 : found->second;
}

double Assignment::weighted(const AskedRung& rung, double points) const {
    return judge::hundredths(weight_of(rung.chapter) * points);
}

double minutes_late(const Assignment& assignment, const Person& person, Time handed_in) {
    const std::optional<Time> due = person.due ? person.due : assignment.due;
    return due ? static_cast<double>(std::max<Time>(0, handed_in - *due)) / 60 : 0;
}

double late_factor(const LatePolicy& policy, double minutes_late) {
    if (minutes_late <= policy.grace_minutes) return 1;
    const double days = std::ceil(minutes_late / (24 * 60));
    if (days > policy.most_days) return 0;
    return std::max(0.0, 1 - days * policy.percent_per_day / 100);
}

double rounded(const Assignment& assignment, double score) {
    if (assignment.round_to <= 0) return judge::hundredths(score);
    // A little more than a half, so that sums of tenths land where they would on paper.
    return judge::hundredths(std::floor(score / assignment.round_to + 0.5 + 1e-9) * assignment.round_to);
}

Json to_json(const Assignment& assignment) {
    Json rungs = Json::array(), people = Json::array();
    for (const AskedRung& rung : assignment.rungs) {
        rungs.push_back({{"chapter", rung.chapter},
                         {"rung", rung.rung},
                         {"idea", rung.idea},
                         {"kind", rung.kind},
                         {"max_points", rung.max_points}});
    }
    for (const Person& person : assignment.people) {
        people.push_back({{"id", person.id},
                          {"name", person.name},
                          {"email", person.email},
                          {"login", person.login},
                          {"due", time_json(person.due)},
                          {"columns", person.columns}});
    }
    return {{"schema", "rungs.assignment/1"},
            {"title", assignment.title},
            {"due", time_json(assignment.due)},
            {"attempts", assignment.counts == Counts::best ? "best" : "last"},
            {"late",
             {{"grace_minutes", assignment.late.grace_minutes},
              {"percent_per_day", assignment.late.percent_per_day},
              {"most_days", assignment.late.most_days}}},
            {"weights", assignment.weights},
            {"round_to", assignment.round_to},
            {"least_sandbox", assignment.least_sandbox},
            {"budget_seconds", assignment.budget_seconds},
            {"most_seconds", assignment.most_seconds},
            {"backend", name_of(assignment.backend)},
            {"rungs", rungs},
            {"people", people},
            {"problems", assignment.problems}};
}

Assignment assignment_of(const nlohmann::json& json) try {
    Assignment assignment;
    if (json.at("schema") != "rungs.assignment/1")
        throw ClassError("another version of rungs has written it");
    assignment.title = json.at("title");
    assignment.due = time_of(json.at("due"));
    assignment.counts = json.at("attempts") == "best" ? Counts::best : Counts::last;
    const nlohmann::json& late = json.at("late");
    assignment.late = {late.at("grace_minutes"), late.at("percent_per_day"), late.at("most_days")};
    assignment.weights = json.at("weights").get<std::map<std::string, double>>();
    assignment.round_to = json.at("round_to");
    assignment.least_sandbox = json.at("least_sandbox");
    assignment.budget_seconds = json.at("budget_seconds");
    assignment.most_seconds = json.value("most_seconds", assignment.most_seconds);
    assignment.backend = json.at("backend") == "cuda" ? Backend::cuda : Backend::cpu;
    for (const nlohmann::json& rung : json.at("rungs")) {
        assignment.rungs.push_back(
            {rung.at("chapter"), rung.at("rung"), rung.at("idea"), rung.at("kind"), rung.at("max_points")});
    }
    for (const nlohmann::json& person : json.at("people")) {
        assignment.people.push_back({person.at("id"), person.at("name"), person.at("email"),
                                     person.at("login"),
                                     person.at("columns").get<std::map<std::string, std::string>>(), true,
                                     time_of(person.at("due"))});
    }
    assignment.problems = json.at("problems").get<std::vector<std::string>>();
    return assignment;
} catch (const nlohmann::json::exception& error) {
    throw ClassError(std::string("it is not an assignment that rungs has written: ") + error.what());
}

std::optional<Time> parse_time(const std::string& text) {
    static const std::regex form(
        R"((\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s?(?:(Z|UTC)|([+-])(\d\d):?(\d\d)))");
    std::smatch parts;
    if (text.size() > 60 || !std::regex_match(text, parts, form)) return std::nullopt;
    const auto number = [&](int i) { return parts[i].matched ? std::stoi(parts[i].str()) : 0; };
    std::tm fields{};
    fields.tm_year = number(1) - 1900;
    fields.tm_mon = number(2) - 1;
    fields.tm_mday = number(3);
    fields.tm_hour = number(4);
    fields.tm_min = number(5);
    fields.tm_sec = number(6);
    const std::tm asked = fields;
    const Time time = timegm(&fields);
    // timegm() takes February 30 for March 2.
    if (fields.tm_mon != asked.tm_mon || fields.tm_mday != asked.tm_mday || fields.tm_hour != asked.tm_hour ||
        fields.tm_min != asked.tm_min) {
        return std::nullopt;
    }
    const Time offset = 60 * (60 * number(9) + number(10));
    return time - (parts[8] == "-" ? -offset : offset);
}

std::string time_text(Time time) {
    const std::time_t seconds = time;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[40];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace rungs::classroom
