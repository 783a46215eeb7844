#include <algorithm>

#include <fmt/format.h>

#include "judge/findings.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace rungs {

using judge::Owner;
using judge::RungResult;

namespace {

/// "lines 21, 24: read-write of partial"
std::string short_text(const judge::QuotedFinding& finding) {
    const simt::check::Place &place = finding.side.place, &other = finding.other.place;
    std::string text = finding.kind;
    if (!finding.array.empty()) text += " of " + finding.array;
    if (place.file.empty()) return text;
    const bool two = finding.has_other && !other.file.empty() && other.line != place.line;
    return two ? fmt::format("lines {}, {}: {}", place.line, other.line, text)
               : fmt::format("line {}: {}", place.line, text);
}

}  // namespace

std::optional<double> Report::score() const {
    if (!finished || undecided() > 0 || rungs.empty()) return std::nullopt;
    double sum = 0;
    for (const RungReport& rung : rungs) sum += rung.result.points;
    return sum;
}

double Report::max_score() const {
    double sum = 0;
    for (const RungReport& rung : rungs) sum += rung.result.max_points;
    return sum;
}

int Report::undecided() const {
    int count = 0;
    for (const RungReport& rung : rungs) count += judge::owner_of(rung.result.verdict) != Owner::student;
    return count;
}

bool Report::speed_judged() const {
    for (const RungReport& rung : rungs) {
        if (rung.result.speed.judged) return true;
    }
    return false;
}

bool Report::speed_modelled() const {
    for (const RungReport& rung : rungs) {
        if (rung.result.modelled.done) return true;
    }
    return false;
}

std::size_t Report::passed() const {
    std::size_t count = 0;
    for (const RungReport& rung : rungs) count += rung.result.passed();
    return count;
}

bool Report::all_passed() const { return !rungs.empty() && passed() == rungs.size(); }

int exit_status(const Report& report) {
    if (!report.score()) return 3;
    return report.all_passed() ? 0 : 1;
}

std::string cases_text(const judge::Correctness& found) {
    return fmt::format("{} of {} passed{}", found.passed, found.cases,
                       found.passed < found.cases ? " before judging stopped at the first that did not" : "");
}

std::string seed_text(std::uint64_t seed) { return fmt::format("{:#018x}", seed); }

const char* status_of(const RungResult& result) {
    if (result.passed()) return "passed";
    switch (judge::owner_of(result.verdict)) {
        case Owner::student:
            return "failed";
        case Owner::review:
            return "review";
        case Owner::ours:
            break;
    }
    return "not_checked";
}

std::string points_text(const RungResult& result) {
    if (result.given) return "given";
    if (!result.judged) return "not graded";
    return fmt::format("{} / {}", number_text(result.points), number_text(result.max_points));
}

bool by_finding(const RungResult& result) {
    return !result.causes.empty() && result.causes.front().source == judge::Source::findings;
}

std::string remark_of(const RungResult& result) {
    if (!result.causes.empty()) {
        // The case is told below the table, and so is a finding; here it has to be short.
        if (by_finding(result)) return short_text(result.checks.findings.front());
        const std::string& likely = result.causes.front().likely;
        return result.brief_reason() + (likely.empty() ? "" : ": " + likely);
    }
    std::string text;
    if (result.correctness.cases > 0) text = fmt::format("{} cases", result.correctness.passed);
    if (result.checks.done) {
        text += result.checks.findings.empty()
                    ? ", clean"
                    : fmt::format(", {} {}", result.checks.findings.size(),
                                  result.checks.findings.size() == 1 ? "remark" : "remarks");
    }
    if (result.modelled.done) {
        text += fmt::format(", modelled {}x over {}", ratio_text(result.modelled.speedup),
                            result.modelled.baseline);
    }
    if (result.speed.judged) {
        text += fmt::format("{}{}x over {}, {}", text.empty() ? "" : ", ", ratio_text(result.speed.speedup),
                            result.speed.baseline, bandwidth_text(result.speed.bandwidth));
        if (result.speed.roof > 0) {
            text += fmt::format(" ({:.0f} % of a copy)", 100 * result.speed.bandwidth / result.speed.roof);
        }
    }
    return text;
}

}  // namespace rungs
