#pragma once
// One run of the grader, as all reports show it. Terminal, JSON and HTML render this record and nothing else,
// so no two of them can disagree. Rendering is pure: the same record gives the same bytes.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/result/result.hpp"
#include "report/machine.hpp"

namespace rungs {

/// One rung of a run: what the judge found and what the manifest says about it.
struct RungReport {
    judge::RungResult result;
    std::string idea;                        ///< from the manifest
    std::string file;                        ///< graded file, relative to the workbook where it lies inside
    std::string kind = name_of(Kind::fill);  ///< from the manifest
    bool kept = false;                       ///< the verdict of an earlier run: nothing has changed since
};

struct Report {
    std::string version;  ///< of the program
    std::string what;     ///< "reference solutions", "your rungs", "submission /path"
    std::string title;    ///< of the chapter, or of the workbook where several were graded
    std::string started;  ///< UTC, "2026-01-31T12:00:00Z"
    double seconds = 0;   ///< the whole run
    Backend backend = Backend::cpu;
    std::string toolchain;   ///< "g++ 12.2.0"
    std::string sandbox;     ///< level and description
    std::uint64_t seed = 0;  ///< replays the same inputs: --seed
    std::string command;     ///< grades the same again
    bool finished = false;   ///< false: the run goes on, or has ended before all rungs were judged
    Machine machine;
    std::vector<RungReport> rungs;

    /// Sum of the points; none as long as the run is not finished or a rung is undecided.
    std::optional<double> score() const;
    double max_score() const;  ///< points of all exercises in this run, judged or not
    int undecided() const;     ///< rungs without a verdict on the student: not graded, or a human must look
    bool speed_judged() const;
    bool speed_modelled() const;
    bool all_passed() const;
    std::size_t passed() const;  ///< rungs that passed, given ones included
};

/// Exit status of a run: 0 all passed, 1 something failed, 3 there is no score.
int exit_status(const Report& report);

/// "passed", "failed", "review", "not_checked"
const char* status_of(const judge::RungResult& result);

/// "7.5 / 10", "given" or "not graded"
std::string points_text(const judge::RungResult& result);

/// Whether the verdict is the first finding's.
bool by_finding(const judge::RungResult& result);

/// Whether the wrong numbers of a failing case tell anything: not where threads race, which left them, nor
/// where another finding explains that they are no numbers.
bool tells_by_numbers(const judge::RungResult& result);

/// How far off the failing case is, or, where none failed, the largest error; empty where that says nothing.
std::string error_text(const judge::RungResult& result);

/// The table of a failing case's first mismatches: a heading for each column, then the rows.
struct MismatchTable {
    std::vector<std::string> heads;
    std::vector<std::vector<std::string>> rows;
};
MismatchTable mismatches_of(const judge::Correctness& found);

/// What else the exam says of the cause, beside the reason; empty: nothing.
std::string likely_text(const judge::RungResult& result);

/// Which points a right rung has not got, and what they ask for; empty: it has all, or none to get.
std::string lost_text(const judge::RungResult& result);

/// Whether a rung passed that check mode could not look at to the end; `checks.why_not` says why.
bool is_unchecked(const judge::RungResult& result);

/// The one line beside a verdict: why, or, of a rung that is right, what was looked at.
std::string remark_of(const judge::RungResult& result);

/// How fast a rung that was timed is, in the unit of what limits it.
struct Rate {
    std::string value;  ///< "12.3 TFLOP/s"; of iterations "118x the one-pass floor"
    std::string of;     ///< "61 % of the FMA roof", "88 % of a copy"; empty where the roof is not known
};
Rate rate_of(const judge::Speed& speed);

/// "12.3 TFLOP/s (61 % of the FMA roof)"
std::string rate_text(const judge::Speed& speed);

/// Whether it was timed against another rung: the first given one is a baseline, and has none.
bool has_baseline(const judge::RungResult& result);

/// How many cases passed, and which one judging stopped at.
std::string cases_text(const judge::Correctness& found);

/// A seed as JSON, commands and reports show it: "0x0123456789abcdef".
std::string seed_text(std::uint64_t seed);

/// The result in schema "rungs.result/1" (docs/result.schema.json). All numbers are finite, all
/// strings valid UTF-8.
nlohmann::ordered_json to_json(const Report& report);

/// One rung, and the machine, as they stand in the result.
nlohmann::ordered_json to_json(const RungReport& rung);
nlohmann::ordered_json to_json(const Machine& machine);

/// Counters alone, as they stand in the result.
nlohmann::ordered_json to_json(const judge::Counters& counters);

/// to_json() as text, indented, with a newline at the end.
std::string json_text(const Report& report);

/// One self-contained page: no script, no network, light and dark.
std::string to_html(const Report& report);

}  // namespace rungs
