#pragma once
// What an instructor asks of a class: assignment.toml, and the roster. Read once for each run of `grade` and
// kept beside the records as assignment.json, from which grades follow.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rungs/manifest.hpp"

namespace rungs::classroom {

/// Seconds since 1970, UTC.
using Time = std::int64_t;

/// A file of the instructor's that says what cannot be: what() names file and line, what is wrong and what is
/// expected.
class ClassError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One student, as the roster has them, or, of a hand-in that nobody on the roster has sent, as the hand-in.
struct Person {
    std::string id;     ///< the roster's, and the name of the folder of the student's records
    std::string name;   ///< in any script; may be empty
    std::string email;  ///< may be empty
    std::string login;  ///< may be empty
    std::map<std::string, std::string> columns;  ///< every column of the roster by its heading, as it stands
    bool known = true;                           ///< on the roster, or there is no roster
    std::optional<Time> due;                     ///< an extension: when it is due for this student

    /// What stands in a column, without blanks around it; empty where there is none.
    std::string column(const std::string& heading) const;
};

/// An exercise of the assignment.
struct AskedRung {
    std::string chapter;    ///< "01_reduction"
    std::string rung;       ///< "03_shared_tree"
    std::string idea;       ///< its line in the manifest
    std::string kind;       ///< "write"
    double max_points = 0;  ///< on the backend of the run, before the chapter's weight

    std::string short_name() const;  ///< "01/03"
    std::string file() const;        ///< "03_shared_tree.cu", "07_traffic.toml"
};

struct LatePolicy {
    double grace_minutes = 0;
    double percent_per_day = 0;  ///< of an attempt's points, taken for each day that has begun
    double most_days = 0;        ///< later than that: no points; 0: nothing late is taken
};

enum class Counts { best, last };

struct Assignment {
    std::string title;
    std::optional<Time> due;
    Counts counts = Counts::last;  ///< which of a student's attempts
    LatePolicy late;
    std::map<std::string, double> weights;  ///< of the points of a chapter, "01_reduction"; others have 1
    double round_to = 0;                    ///< a score is a multiple of this; 0: it is not rounded
    std::string least_sandbox = "S3";
    double budget_seconds = 600;  ///< of judging; the rest of a hand-in that took more is judged last
    double most_seconds = 7200;   ///< of judging; the rest of one that took more is not judged; 0: all is
    Backend backend = Backend::cpu;
    std::vector<AskedRung> rungs;
    std::vector<Person> people;  ///< of the roster
    std::vector<std::string>
        problems;  ///< of the last intake, a line each: refused, ignored, unknown, missing

    double weight_of(const std::string& chapter) const;
    /// Points of a rung times the weight of its chapter: what is added up.
    double weighted(const AskedRung& rung, double points) const;
};

/// Minutes after the time that it is due for `person`, without the grace; 0: in time.
double minutes_late(const Assignment& assignment, const Person& person, Time handed_in);

/// The share of its points that an attempt keeps that is so late.
double late_factor(const LatePolicy& policy, double minutes_late);

/// To the nearest multiple of Assignment::round_to, halves up.
double rounded(const Assignment& assignment, double score);

nlohmann::ordered_json to_json(const Assignment& assignment);

/// @throws ClassError
Assignment assignment_of(const nlohmann::json& json);

/// "2026-01-31T12:00:00Z", with any offset, and with a blank or a T in the middle. @returns nothing for what
/// is no time, or one without offset
std::optional<Time> parse_time(const std::string& text);

/// "2026-01-31T12:00:00Z"
std::string time_text(Time time);

/// The current time, as time_text() writes it.
std::string now_text();

}  // namespace rungs::classroom
