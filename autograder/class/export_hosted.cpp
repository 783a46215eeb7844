// Results as Gradescope and Classroom 50 take them from an autograder.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "class/export.hpp"
#include "judge/result/clean_text.hpp"
#include "report/text.hpp"

namespace rungs::classroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* not_graded =
    "Not graded yet: this is neither a pass nor a zero. The points follow after a review.";

std::string set_in_review(const GradedRung& rung) {
    return outcome_of(rung) == Outcome::passed ? "Passed; the points were set in a review."
                                               : "The points were set in a review.";
}

/// What a student reads under a rung.
std::string output_of(const GradedRung& rung, Detail detail) {
    if (rung.open()) return not_graded;
    if (detail == Detail::points) return "";
    std::string text = rung.decision ? set_in_review(rung) : rung.told_verdict();
    if (!rung.decision) {
        if (const std::string reason = reason_for(rung, detail); !reason.empty()) text += ": " + reason;
    }
    if (detail == Detail::all && !rung.decision) {
        for (const std::string& part : details_for_student(rung)) text += "\n\n" + part;
    }
    return text;
}

std::string name_of_rung(const AskedRung& asked) { return clean_name(asked.chapter + "/" + asked.rung); }

/// What is said of the whole hand-in.
std::string summary_of(const Gradebook& book, const Student& student) {
    const Attempt* const attempt = counted_attempt(student);
    if (!attempt) return "Nothing was handed in.";
    std::string text = fmt::format("Attempt {} of {} counts", attempt->number, student.attempts.size());
    if (student.score)
        text += fmt::format(": {} of {} points", points_text(*student.score), points_text(book.max_score));
    text += ".";
    if (attempt->late_factor < 1) {
        text += attempt->minutes_late
                    ? fmt::format(" It came {:.0f} minutes late and keeps {} % of its points.",
                                  *attempt->minutes_late, points_text(100 * attempt->late_factor))
                    : " It came late.";
    }
    if (!attempt->refused.empty()) text += " It was refused: " + for_student(attempt->refused) + ".";
    if (!student.score) text += " There is no score yet: something needs a review.";
    return text;
}

bool is_whole(double value) { return std::abs(value - std::round(value)) < 1e-6; }

}  // namespace

Json to_gradescope(const Gradebook& book, const Student& student, Detail detail,
                   const std::string& visibility) {
    Json tests = Json::array();
    const Attempt* const attempt = counted_attempt(student);
    for (std::size_t i = 0; i < book.assignment.rungs.size(); ++i) {
        const AskedRung& asked = book.assignment.rungs[i];
        const GradedRung* const rung = attempt ? &attempt->rungs[i] : nullptr;
        Json test = {{"name", name_of_rung(asked)},
                     {"number", asked.short_name()},
                     {"max_score", book.assignment.weighted(asked, asked.max_points)},
                     {"output", rung ? output_of(*rung, detail) : "Nothing was handed in."}};
        if (!rung) {
            test["score"] = 0;
            test["status"] = "failed";
        } else if (!rung->open()) {
            test["score"] = book.assignment.weighted(asked, *rung->points);
            test["status"] = outcome_of(*rung) == Outcome::passed ? "passed" : "failed";
        }
        tests.push_back(std::move(test));
    }
    Json result = {{"output", summary_of(book, student)},
                   {"output_format", "text"},
                   {"test_output_format", "text"},
                   {"test_name_format", "text"},
                   {"visibility", visibility},
                   {"stdout_visibility", "hidden"},
                   {"tests", std::move(tests)}};
    // It stands in place of the sum of the tests, which knows nothing of lateness and rounding. Without it,
    // and with a test that has none, Gradescope has no score.
    if (student.score) result["score"] = *student.score;
    return result;
}

int whole_scale(const Gradebook& book) {
    int scale = 1;
    const auto fit = [&](double points) {
        while (scale < 100 && !is_whole(points * scale)) scale *= 10;
    };
    for (const AskedRung& rung : book.assignment.rungs) fit(book.assignment.weighted(rung, rung.max_points));
    for (const Student& student : book.students) {
        if (student.score) fit(*student.score);
        const Attempt* const attempt = counted_attempt(student);
        if (!attempt) continue;
        for (const GradedRung& rung : attempt->rungs) {
            if (rung.points) fit(book.assignment.weighted(rung.asked, *rung.points));
        }
    }
    return scale;
}

Json to_classroom50(const Gradebook& book, const Student& student) {
    if (!student.score) return nullptr;
    const int scale = whole_scale(book);
    const auto whole = [&](double points) { return std::llround(points * scale); };
    const Attempt* const attempt = counted_attempt(student);
    Json tests = Json::array();
    long long most = 0;
    for (std::size_t i = 0; i < book.assignment.rungs.size(); ++i) {
        const AskedRung& asked = book.assignment.rungs[i];
        const GradedRung* const rung = attempt ? &attempt->rungs[i] : nullptr;
        const long long max = whole(book.assignment.weighted(asked, asked.max_points));
        const long long score =
            rung && rung->points ? whole(book.assignment.weighted(asked, *rung->points)) : 0;
        most += max;
        tests.push_back({{"test-name", name_of_rung(asked)},
                         {"passed", rung && outcome_of(*rung) == Outcome::passed},
                         {"score", std::clamp(score, 0LL, max)},
                         {"max-score", max}});
    }
    Json result = {
        {"schema", "classroom50/result/v1"},
        {"owner", clean_name(student.person.login.empty() ? student.person.id : student.person.login)}};
    if (attempt && attempt->handed_in) result["datetime"] = time_text(*attempt->handed_in);
    result["score"] = std::clamp(whole(*student.score), 0LL, most);
    result["max-score"] = most;
    result["tests"] = std::move(tests);
    return result;
}

}  // namespace rungs::classroom
