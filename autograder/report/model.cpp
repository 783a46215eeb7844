#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "judge/result/findings.hpp"
#include "judge/result/points.hpp"
#include "judge/result/result_json.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace rungs {

using judge::Owner;
using judge::RungResult;

namespace {

/// What a finding of each simt::check::Kind says in one line. {line}: "line 18", or "integrator.cuh:19" in a
/// given header; {at}: " at lines 21 and 24", or nothing where no line is known; {reads}: what the line does;
/// {element}: "data[5]"; {array}: "data".
constexpr std::array sentences{
    // memcheck
    "{line} {reads} {element}, outside its array",
    "{line} {reads} {element} at an address that is not a multiple of the size",
    "{line} {reads} through a null pointer",
    "{line} {reads} memory of the host in a kernel",
    "{line} {reads} device memory on the host: {element}",
    "{line} {reads} {element}, which has been freed",
    "{line} {reads} a local variable of another thread",
    "{line} {reads} {element}, which is constant memory",
    "{line} frees what no allocation returned",
    "{line} frees {array} a second time",
    "{line} allocates {array}, which is never freed",
    "the kernel crashes{at}",
    "an assertion fails{at}",
    "time runs out{at}",
    "a launch is refused{at}",
    "{line} shifts by more bits than the number has",
    "{line} copies {array} the wrong way round",
    "{line} makes a call that fails, and drops the error",
    // racecheck
    "two writes of {element} meet in no given order{at}",
    "a read and a write of {element} meet in no given order{at}",
    "an atomic and a read of {element} meet in no given order{at}",
    "an atomic and a write of {element} meet in no given order{at}",
    // initcheck
    "{line} {reads} {element}, which nothing has written",
    "{line} copies what nothing has written: {element} and more",
    // synccheck
    "threads of a block wait at different barriers{at}",
    "some threads leave the kernel before the barrier{at}: an early return?",
    "a mask does not name the lanes that make the call{at}",
    "a lane reads from one that does not take part{at}",
    "no thread can go on{at}",
    "threads only poll{at}, and nobody stores what they wait for",
    "the kernel fails{at}",
};
static_assert(sentences.size() == simt::check::kind_words.size());

/// "line 18" of a rung; a line of a header that it includes has the file's name, too.
std::string line_text(const simt::check::Place& place) {
    return place.file.ends_with(".cu") ? fmt::format("line {}", place.line)
                                       : fmt::format("{}:{}", place.file, place.line);
}

/// "line 18 reads data[5], which nothing has written"
std::string short_text(const judge::QuotedFinding& finding) {
    const simt::check::Place &place = finding.side.place, &other = finding.other.place;
    const bool two = finding.has_other && !other.file.empty() && other.line != place.line;
    const bool one_file = place.file.ends_with(".cu") && place.file == other.file;
    const std::string line = place.file.empty() ? "the program" : line_text(place),
                      at = place.file.empty() ? ""
                           : two && one_file
                               ? fmt::format(" at lines {} and {}", std::min(place.line, other.line),
                                             std::max(place.line, other.line))
                           : two ? fmt::format(" at {} and {}", line, line_text(other))
                                 : " at " + line,
                      array = finding.array.empty() ? "memory" : finding.array,
                      element = finding.array.empty() || finding.element == 0
                                    ? array
                                    : fmt::format("{}[{}]", array, finding.index);
    const std::string access = finding.side.access.substr(0, finding.side.access.find(' '));
    const char* const reads = access == "read" || access == "fetch" ? "reads"
                              : access == "write"                   ? "writes"
                                                                    : "accesses";
    const auto& words = simt::check::kind_words;
    const auto word =
        std::find_if(words.begin(), words.end(), [&](const auto& one) { return finding.kind == one.name; });
    if (word == words.end()) return finding.kind + at;  // a worker may claim anything
    return fmt::format(fmt::runtime(sentences[static_cast<std::size_t>(word - words.begin())]),
                       fmt::arg("line", line), fmt::arg("at", at), fmt::arg("reads", reads),
                       fmt::arg("element", element), fmt::arg("array", array));
}

}  // namespace

std::optional<double> Report::score() const {
    if (!finished || undecided() > 0 || rungs.empty()) return std::nullopt;
    double sum = 0;
    for (const RungReport& rung : rungs) sum += rung.result.points;
    return judge::hundredths(sum);
}

double Report::max_score() const {
    double sum = 0;
    for (const RungReport& rung : rungs) sum += rung.result.max_points;
    return judge::hundredths(sum);
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

Rate rate_of(const judge::Speed& speed) {
    const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
    switch (speed.limit()) {
        case judge::Limit::arithmetic: {
            const double share = speed.flops / speed.fma_roof;
            return {flops_text(speed.flops), share < 1.005
                                                 ? percent(share) + " of the FMA roof"
                                                 : "beyond the FMA roof: it does less than is counted"};
        }
        case judge::Limit::one_pass: {
            const auto times = [](double value) {  // beyond that nobody compares any more
                return value >= 1000 ? "over 1000x" : fmt::format("{:.{}f}x", value, value < 9.95 ? 1 : 0);
            };
            return {
                times(speed.seconds / speed.floor) + " the one-pass floor",
                "each iteration anew: " + times(speed.bandwidth * speed.seconds / speed.roof / speed.floor)};
        }
        case judge::Limit::memory:
            break;
    }
    const double share = speed.roof > 0 ? speed.bandwidth / speed.roof : 0;
    return {bandwidth_text(speed.bandwidth), share <= 0 ? ""
                                             : share < judge::Speed::implausible
                                                 ? percent(share) + " of a copy"
                                                 : "faster than memory"};
}

std::string rate_text(const judge::Speed& speed) {
    const Rate rate = rate_of(speed);
    return rate.of.empty() ? rate.value : fmt::format("{} ({})", rate.value, rate.of);
}

bool has_baseline(const RungResult& result) {
    return result.speed.judged && result.speed.baseline != result.rung;
}

std::string cases_text(const judge::Correctness& found) {
    if (found.passed == found.cases) return fmt::format("{} of {} passed", found.passed, found.cases);
    return fmt::format("stopped at the first failure, case {} of {}", found.passed + 1, found.cases);
}

std::string seed_text(std::uint64_t seed) { return judge::seed_text(seed); }

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
    return fmt::format("{} / {}", points_text(result.points), points_text(result.max_points));
}

bool by_finding(const RungResult& result) {
    return !result.causes.empty() && result.causes.front().source == judge::Source::findings &&
           !result.checks.findings.empty();
}

bool tells_by_numbers(const RungResult& result) {
    if (!by_finding(result)) return true;
    const judge::Correctness& found = result.correctness;
    const bool race = result.checks.findings.front().tool == simt::check::Tool::racecheck;
    return !race && std::any_of(found.first.begin(), found.first.end(),
                                [](const Mismatch& one) { return std::isfinite(one.got); });
}

std::string error_text(const RungResult& result) {
    const judge::Correctness& found = result.correctness;
    if (found.measure.empty()) return "";
    if (!found.failing_case.empty()) {
        // Of a call that failed there is none: this is what cases before it were off by.
        if (found.error <= found.tolerance) return "";
        if (!tells_by_numbers(result) || (found.first.empty() && !std::isfinite(found.error))) return "";
    }
    return fmt::format("{:.3g}, allowed {:.3g}: {}", found.error, found.tolerance, found.measure);
}

MismatchTable mismatches_of(const judge::Correctness& found) {
    const auto& first = found.first;
    const bool named =
        std::any_of(first.begin(), first.end(), [](const Mismatch& one) { return !one.where.empty(); });
    const bool ulp =
        std::any_of(first.begin(), first.end(), [](const Mismatch& one) { return one.ulp != ulp_undefined; });
    MismatchTable table{{named ? "element" : "index", "got", "expected"}, {}};
    if (ulp) table.heads.emplace_back("ULP apart");
    for (const Mismatch& one : first) {
        table.rows.push_back({one.where.empty() ? std::to_string(one.index) : clean_utf8(one.where),
                              one.unwritten ? "not written" : fmt::format("{:.9g}", one.got),
                              fmt::format("{:.9g}", one.expected)});
        if (ulp)
            table.rows.back().push_back(one.ulp == ulp_undefined ? "not comparable"
                                                                 : std::to_string(one.ulp));
    }
    return table;
}

std::string likely_text(const RungResult& result) {
    const judge::Correctness& found = result.correctness;
    if (result.causes.empty() || result.causes.front().text == found.cause) return "";
    // Of what no access has given a finding tells more than the exam, which sees NaN alone. But one in a
    // given header is about what the rung has left there.
    const bool numbers =
        !found.first.empty() && std::all_of(found.first.begin(), found.first.end(),
                                            [](const Mismatch& one) { return std::isfinite(one.got); });
    const auto in_the_rung = [&] {
        return result.checks.findings.front().side.place.file == result.rung + ".cu";
    };
    return !by_finding(result) || found.certain || numbers || !in_the_rung() ? found.cause : "";
}

std::string lost_text(const RungResult& result) {
    if (!result.judged || !result.passed() || result.given) return "";
    std::vector<std::string> parts;
    if (!result.counters.beyond.empty())
        parts.push_back("half of the points for the result are lost: " + result.counters.beyond);
    const auto speed = [&](double points, double most, const std::string& more) {
        if (most - points < 1e-6 * most || most <= 0) return;
        parts.push_back(fmt::format("{} of {} points for speed are lost{}", points_text(most - points),
                                    points_text(most), more));
    };
    const auto reach = [&](const char* how, double speedup, const std::string& baseline, double zero,
                           double full) {
        // Of a rung that is SLOW for it, the verdict's own sentence says the rest.
        return (speedup > zero ? fmt::format(": {}{:.2f} times as fast as {}, and", how, speedup, baseline)
                               : std::string(":")) +
               fmt::format(" all are earned from {:.2f} times on", full);
    };
    if (const judge::Modelled& modelled = result.modelled; modelled.done) {
        speed(modelled.points, modelled.max_points,
              result.counters.beyond.empty()
                  ? reach("modelled ", modelled.speedup, modelled.baseline, modelled.zero, modelled.full) +
                        (modelled.points > 0 ? elsewhere_text(modelled) : "")
                  : " with them");
    }
    if (result.speed.judged) {
        speed(result.speed.points, result.speed.max_points,
              reach("", result.speed.speedup, result.speed.baseline, result.speed.zero, result.speed.full));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

bool is_unchecked(const RungResult& result) {
    // Where check mode was not asked, no tool has a name.
    return result.passed() && !result.checks.done && !result.checks.tool.empty();
}

std::string remark_of(const RungResult& result) {
    if (!result.causes.empty()) {
        // The case is told below the table, and so is a finding; here it has to be short.
        if (by_finding(result)) return short_text(result.checks.findings.front());
        const std::string& likely = result.causes.front().likely;
        return result.brief_reason() + (likely.empty() ? "" : ": " + likely);
    }
    std::vector<std::string> parts;
    // First, so that no terminal is too narrow for it.
    if (const std::string lost = lost_text(result); !lost.empty()) parts.push_back(lost);
    if (result.speed.beats_reference)
        parts.push_back(fmt::format("ahead of the reference ({}x)", ratio_text(result.speed.of_reference)));
    if (result.modelled.beats_reference) {
        parts.push_back(
            fmt::format("modelled ahead of the reference ({}x)", ratio_text(result.modelled.of_reference)));
    }
    if (!result.predictions.empty()) parts.push_back(count_text(result.predictions.size(), "answer"));
    if (result.correctness.cases > 0)
        parts.push_back(count_text(static_cast<std::size_t>(result.correctness.passed), "case"));
    if (const std::size_t remarks = result.checks.findings.size(); result.checks.done) {
        parts.push_back(remarks == 0 ? "clean" : count_text(remarks, "remark"));
    } else if (is_unchecked(result)) {
        parts.emplace_back("not checked");
    }
    if (const judge::Modelled& modelled = result.modelled; modelled.done)
        parts.push_back(fmt::format("modelled {}x over {}", ratio_text(modelled.speedup), modelled.baseline));
    const judge::Speed& speed = result.speed;
    if (has_baseline(result))
        parts.push_back(fmt::format("{}x over {}", ratio_text(speed.speedup), speed.baseline));
    if (speed.judged) parts.push_back(rate_text(speed));
    if (speed.needs_gpu) parts.push_back(speed.why_not);
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace rungs
