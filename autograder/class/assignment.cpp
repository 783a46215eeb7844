#include "class/assignment.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/file_names.hpp"
#include "judge/result/clean_text.hpp"
#include "judge/result/points.hpp"

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

std::string AskedRung::file() const { return rung + (kind == "predict" ? ".toml" : ".cu"); }

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

namespace {

/// Reads a text from its beginning.
class TextReader {
  public:
    explicit TextReader(std::string_view text) : rest_(text) {}

    bool skip(std::string_view what) {
        const bool is = rest_.starts_with(what);
        if (is) rest_.remove_prefix(what.size());
        return is;
    }
    /// Reads exactly `count` digits as a number.
    std::optional<int> digits(std::size_t count) {
        if (!is_number(rest_.substr(0, count)) || rest_.size() < count) return std::nullopt;
        const int number = std::stoi(std::string(rest_.substr(0, count)));
        rest_.remove_prefix(count);
        return number;
    }
    void skip_digits() {
        while (digits(1)) {
        }
    }
    bool at_end() const { return rest_.empty(); }

  private:
    std::string_view rest_;
};

}  // namespace

std::optional<Time> parse_time(const std::string& text) {
    TextReader in(text);
    std::tm fields{};
    const auto read = [&](std::size_t count, int& field) {
        const std::optional<int> number = in.digits(count);
        if (number) field = *number;
        return number.has_value();
    };
    if (!(read(4, fields.tm_year) && in.skip("-") && read(2, fields.tm_mon) && in.skip("-") &&
          read(2, fields.tm_mday) && (in.skip("T") || in.skip(" ")) && read(2, fields.tm_hour) &&
          in.skip(":") && read(2, fields.tm_min)))
        return std::nullopt;
    if (in.skip(":")) {
        if (!read(2, fields.tm_sec)) return std::nullopt;
        if (in.skip(".")) {
            if (!in.digits(1)) return std::nullopt;
            in.skip_digits();
        }
    }
    in.skip(" ");
    Time offset = 0;
    if (!in.skip("Z") && !in.skip("UTC")) {
        const bool east = in.skip("+");
        int hours = 0, minutes = 0;
        if (!(east || in.skip("-")) || !read(2, hours)) return std::nullopt;
        in.skip(":");
        if (!read(2, minutes)) return std::nullopt;
        offset = Time{east ? 60 : -60} * (60 * hours + minutes);
    }
    if (!in.at_end() || text.size() > 60) return std::nullopt;
    fields.tm_year -= 1900;
    fields.tm_mon -= 1;
    const std::tm asked = fields;
    const Time time = timegm(&fields);
    // timegm() takes February 30 for March 2.
    if (fields.tm_mon != asked.tm_mon || fields.tm_mday != asked.tm_mday || fields.tm_hour != asked.tm_hour ||
        fields.tm_min != asked.tm_min) {
        return std::nullopt;
    }
    return time - offset;
}

std::string now_text() {
    return time_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
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
