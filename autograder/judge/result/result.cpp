#include "judge/result/result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "judge/build/diagnostics.hpp"
#include "judge/result/points.hpp"

namespace rungs::judge {
namespace {

struct Row {
    Verdict verdict;
    const char* name;
    Owner owner;
};

constexpr std::array rows{Row{Verdict::ok, "OK", Owner::student},
                          Row{Verdict::wrong, "WRONG", Owner::student},
                          Row{Verdict::slow, "SLOW", Owner::student},
                          Row{Verdict::out_of_bounds, "OOB", Owner::student},
                          Row{Verdict::race, "RACE", Owner::student},
                          Row{Verdict::uninit, "UNINIT", Owner::student},
                          Row{Verdict::barrier, "BARRIER", Owner::student},
                          Row{Verdict::deadlock, "DEADLOCK", Owner::student},
                          Row{Verdict::timeout, "TIMEOUT", Owner::student},
                          Row{Verdict::oom, "OOM", Owner::student},
                          Row{Verdict::runtime_error, "RUNTIME_ERROR", Owner::student},
                          Row{Verdict::runtime_signal, "RUNTIME_SIGNAL", Owner::student},
                          Row{Verdict::runtime_exit, "RUNTIME_EXIT", Owner::student},
                          Row{Verdict::protocol, "PROTOCOL", Owner::student},
                          Row{Verdict::compile_error, "COMPILE_ERROR", Owner::student},
                          Row{Verdict::unstable, "UNSTABLE", Owner::review},
                          Row{Verdict::suspect, "SUSPECT", Owner::review},
                          Row{Verdict::infra, "INFRA", Owner::ours},
                          Row{Verdict::not_run, "NOT_RUN", Owner::ours}};

const Row& row_of(Verdict verdict) {
    return *std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.verdict == verdict; });
}

/// "FILE:LINE" in a message, for that file.
simt::check::Place place_named(const std::string& text, const std::string& file) {
    const std::size_t at = text.find(file + ":");
    if (at == std::string::npos) return {};
    const unsigned long line = std::strtoul(text.c_str() + at + file.size() + 1, nullptr, 10);
    return {file, static_cast<unsigned>(line), 0, ""};
}

const char* name_of(Element element) {
    switch (element) {
        case Element::f32:
            return "float";
        case Element::f64:
            return "double";
        default:
            return "integer";
    }
}

}  // namespace

const char* name_of(Verdict verdict) { return row_of(verdict).name; }

Owner owner_of(Verdict verdict) { return row_of(verdict).owner; }

const char* name_of(Source source) {
    static constexpr const char* names[] = {"setup",  "build",    "call",     "exam",
                                            "checks", "findings", "counters", "speed"};
    return names[static_cast<int>(source)];
}

const char* name_of(Limit limit) {
    static constexpr const char* names[] = {"memory", "one_pass", "arithmetic"};
    return names[static_cast<int>(limit)];
}

const char* name_of(Part part) {
    static constexpr const char* names[] = {"build",        "start",  "inputs", "calls",     "expected",
                                            "check_build",  "checks", "counts", "solutions", "waiting",
                                            "clock_builds", "turn",   "clock",  "tools"};
    static_assert(std::size(names) == parts);
    return names[static_cast<std::size_t>(part)];
}

Verdict verdict_of(const std::string& name) {
    for (const Row& row : rows) {
        if (name == row.name) return row.verdict;
    }
    throw std::invalid_argument("no verdict is called '" + name + "'");
}

const char* name_of(simt::check::Tool tool) {
    static constexpr const char* names[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    return names[static_cast<int>(tool)];
}

const char* name_of(simt::check::Severity severity) {
    static constexpr const char* names[] = {"error", "warning", "note"};
    return names[static_cast<int>(severity)];
}

std::string unread_text(const ChecksResult& checks) {
    if (checks.unread.empty()) return "";
    return "columns, or lines that no check case reached, are missing: the program's debug information could "
           "not be read, " +
           checks.unread;
}

std::string elsewhere_text(const Modelled& modelled) {
    if (modelled.elsewhere.empty()) return "";
    return fmt::format("; for {} it takes {:.1f} times as long, compared with the reference, as for {}",
                       modelled.elsewhere, modelled.worse, without_seed(modelled.which));
}

std::string unchecked_text(const ChecksResult& checks) {
    const std::vector<unsigned>& lines = checks.unchecked;
    const std::string unread = unread_text(checks);
    if (lines.empty()) return unread;
    std::string text;
    for (std::size_t first = 0, last; first < lines.size(); first = last + 1) {
        for (last = first; last + 1 < lines.size() && lines[last + 1] == lines[last] + 1;) ++last;
        text += (text.empty() ? "" : ", ") + std::to_string(lines[first]);
        if (last > first) text += "-" + std::to_string(lines[last]);
    }
    text = lines.size() == 1 ? "line " + text + " was not reached by any check case"
                             : "lines " + text + " were not reached by any check case";
    return unread.empty() ? text : text + "; " + unread;
}

Verdict verdict_of(const simt::check::Finding& finding) {
    using simt::check::Tool;
    switch (finding.tool) {
        case Tool::racecheck:
            return Verdict::race;
        case Tool::initcheck:
            return Verdict::uninit;
        case Tool::synccheck:
            return finding.kind == "deadlock" || finding.kind == "livelock" ? Verdict::deadlock
                   : finding.kind == "failure"                              ? Verdict::runtime_error
                                                                            : Verdict::barrier;
        default:
            return finding.kind == "timeout"                                         ? Verdict::timeout
                   : finding.kind == "assertion" || finding.kind == "refused-launch" ? Verdict::runtime_error
                                                                                     : Verdict::out_of_bounds;
    }
}

void put_mismatches(Correctness& correctness, const Check& check) {
    correctness.error = check.error;
    correctness.tolerance = check.tolerance;
    correctness.measure = check.measure;
    correctness.wrong = check.wrong;
    correctness.of = check.of;
    correctness.things = check.things;
    correctness.first = check.first;
    for (Mismatch& one : correctness.first) {  // no output calls a NaN "-nan"
        for (double* value : {&one.got, &one.expected})
            *value = std::isnan(*value) ? std::abs(*value) : *value;
    }
}

/// Does the cause say it all, because no number does?
static bool cause_alone(const Correctness& correctness) {
    return correctness.unwritten ||
           (correctness.first.empty() && !std::isfinite(correctness.error) && !correctness.cause.empty());
}

std::string wrong_in_words(const Correctness& correctness) {
    if (cause_alone(correctness)) return correctness.cause;
    if (correctness.first.empty())
        return fmt::format("error {:.3g}, allowed {:.3g}", correctness.error, correctness.tolerance);
    const Mismatch& first = correctness.first.front();
    const std::string words = fmt::format(
        "{}, expected {:.9g}", first.unwritten ? "nothing was written" : fmt::format("got {:.9g}", first.got),
        first.expected);
    const std::string where = first.where.empty() ? fmt::format("index {}", first.index) : first.where;
    const std::string things = correctness.things == "elements" ? "" : " " + correctness.things;
    return correctness.of > 1 ? fmt::format("{} of {}{} wrong, first at {}: {}", correctness.wrong,
                                            correctness.of, things, where, words)
                              : words;
}

Cause wrong_outputs(const Correctness& correctness) {
    return {.kind = Verdict::wrong,
            .text = wrong_in_words(correctness),
            .source = Source::exam,
            .which = correctness.failing_case,
            .likely = cause_alone(correctness) ? "" : correctness.cause};
}

void RungResult::decide(Cause cause) {
    verdict = cause.kind;
    constexpr std::size_t most = 2000;  // some of it may be a submission's words
    cause.text = one_line(cause.text, most);
    cause.likely = one_line(cause.likely, most);
    for (const char* type : {".cu", ".toml"})
        if (cause.place.line == 0) cause.place = place_named(cause.text, rung + type);
    causes.insert(causes.begin(), std::move(cause));
}

void RungResult::say_why_outputs_are_wrong() {
    const Cause words = wrong_outputs(correctness);
    causes.front().text = words.text;
    causes.front().likely = words.likely;
}

std::string RungResult::reason() const {
    if (causes.empty()) return "";
    const Cause& cause = causes.front();
    return (cause.which.empty() ? "" : cause.which + ": ") + cause.text +
           (cause.likely.empty() ? "" : " (" + cause.likely + ")");
}

std::string RungResult::brief_reason() const {
    if (causes.empty()) return "";
    const Cause& cause = causes.front();
    const bool told = cause.which.empty() || cause.which == correctness.failing_case;
    return (told ? "" : cause.which + ": ") + cause.text;
}

std::string without_seed(const std::string& which) { return which.substr(0, which.rfind(", seed ")); }

std::string describe(const Exam& exam, const Case& which, const Task& task) {
    const std::string element = task.inputs.empty() ? "element" : name_of(task.inputs.front().element);
    const std::vector<std::string> names = exam.size_names(which);
    std::string sizes;
    for (std::size_t i = 0; i < which.sizes.size(); ++i) {
        if (i < names.size()) {
            sizes += fmt::format(", {} = {}", names[i], which.sizes[i]);
        } else {
            sizes += fmt::format("{}{}", i ? " x " : "", which.sizes[i]);
        }
    }
    const std::string what = names.empty() ? fmt::format("{} {}{}", sizes, element, sizes == "1" ? "" : "s")
                                           : element + "s" + sizes;
    return fmt::format("{} of {}, kind {}, seed {:#x}", which.problem, what, which.kind, which.seed);
}

std::vector<float> RawTimes::of(const std::vector<double>& seconds) {
    std::vector<float> times;
    for (const double one : seconds) {
        if (times.size() == most) break;
        times.push_back(static_cast<float>(1e6 * one));
    }
    return times;
}

Limit Speed::limit() const {
    if (roof > 0 && fma_roof > 0 && flops / fma_roof > bandwidth / roof) return Limit::arithmetic;
    const double rounding = 1e-6;
    return floor > 0 && bandwidth * seconds > (1 + rounding) * floor * roof ? Limit::one_pass : Limit::memory;
}

double points_for(const SpeedRule& rule, double speedup) {
    if (!std::isfinite(speedup)) return 0;
    const double share = rule.to_reference ? std::log(speedup) / std::log(rule.full)
                                           : (speedup - rule.zero) / (rule.full - rule.zero);
    return hundredths(rule.points * std::clamp(share, 0.0, 1.0));
}

std::optional<SpeedRule> reachable(const SpeedRule& rule, double reference) {
    if (!std::isfinite(reference) || reference <= 0) return rule;
    SpeedRule here = rule;
    here.full = std::min(rule.full, 0.95 * reference);
    if (here.full <= 1) return std::nullopt;
    here.zero = 1 + (rule.zero - 1) * (here.full - 1) / (rule.full - 1);
    return here;
}

}  // namespace rungs::judge
