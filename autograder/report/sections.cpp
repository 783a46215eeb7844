#include "report/sections.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/result/findings.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace rungs {

using judge::RungResult;

namespace {

std::string checks_text(const judge::ChecksResult& checks) {
    if (!checks.done) return checks.why_not;
    const std::string unchecked = judge::unchecked_text(checks);
    return fmt::format("{}; {} of {} small cases, each in {} orders; {}",
                       checks.findings.empty() ? std::string("clean")
                                               : fmt::format("{} findings", checks.findings.size()),
                       checks.cases, checks.of, checks.orders, checks.tool) +
           (unchecked.empty() ? "" : "; " + unchecked);
}

/// What a rate is compared with.
std::string limit_text(const judge::Speed& speed) {
    switch (speed.limit()) {
        case judge::Limit::arithmetic:
            return flops_text(speed.fma_roof) +
                   ", fused multiply-adds of floats and nothing else, two operations each, in the same "
                   "session";
        case judge::Limit::one_pass:
            return seconds_text(speed.floor) +
                   ", one pass: the bytes that move even where a chip holds everything between two "
                   "iterations, at the speed of a device copy";
        case judge::Limit::memory:
            break;
    }
    return speed.roof > 0 ? bandwidth_text(speed.roof) + ", a device copy in the same session" : "";
}

}  // namespace

std::string place_text(const simt::check::Place& place) {
    if (place.file.empty()) return "";
    return place.column == 0 ? fmt::format("{}:{}", place.file, place.line)
                             : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

void add_correctness(std::string& html, const RungResult& result) {
    const judge::Correctness& found = result.correctness;
    if (found.cases > 0) row(html, "cases", cases_text(found));
    row(html, "failing case", found.failing_case);
    row(html, "smallest that fails", found.smallest_case);
    row(html, found.failing_case.empty() ? "largest error" : "error", error_text(result));
    if (tells_by_numbers(result) && found.wrong > 0)
        row(html, "wrong", fmt::format("{} of {} {}", found.wrong, found.of, found.things));
    row(html, "likely cause", likely_text(result));
}

void add_checks(std::string& html, const judge::ChecksResult& checks) {
    row(html, "checks", checks_text(checks));
}

void add_speed(std::string& html, const RungResult& result) {
    if (result.speed.judged) {
        const judge::Speed& speed = result.speed;
        if (has_baseline(result)) {
            row(html, "speedup",
                fmt::format("{}x over {}, 99 % interval {} to {}, {} pairs{}", ratio_text(speed.speedup),
                            speed.baseline, ratio_text(speed.low), ratio_text(speed.high), speed.pairs,
                            speed.decided ? "" : ", not decided at the last pair"));
        }
        if (speed.of_reference > 0 && !result.given) {
            row(html, "against reference",
                fmt::format("{}x as fast, 99 % interval {} to {}{}", ratio_text(speed.of_reference),
                            ratio_text(speed.of_reference_low), ratio_text(speed.of_reference_high),
                            speed.beats_reference ? ": ahead of the reference" : ""));
        }
        row(html, "time and rate", seconds_text(speed.seconds) + " a call, " + rate_text(speed));
        row(html, "limit", limit_text(speed));
        row(html, "clock", speed.trust);
    } else {
        row(html, "speed", result.speed.why_not);
    }
    if (result.modelled.done) {
        const judge::Modelled& modelled = result.modelled;
        row(html, "modelled speed",
            fmt::format("{}x over {} on an {}: {} a call, limited by {}; the reference {}. Modelled from the "
                        "counters, not timed",
                        ratio_text(modelled.speedup), modelled.baseline, modelled.machine,
                        seconds_text(modelled.seconds), modelled.limit,
                        seconds_text(modelled.reference_seconds)) +
                (modelled.beats_reference ? "; ahead of the reference" : "") + elsewhere_text(modelled));
        row(html, "points for it", points_text(modelled.points) + " of " + points_text(modelled.max_points));
    }
}

std::string answers_section(const RungResult& result) {
    if (result.predictions.empty()) return {};
    std::vector<std::vector<std::string>> rows;
    for (const judge::Prediction& one : result.predictions) {
        rows.push_back({escape_html(one.ask), one.answer ? fmt::format("{}", *one.answer) : "not answered",
                        one.right    ? "right"
                        : one.answer ? "wrong"
                                     : ""});
    }
    return table("Answers", "Answers", {{"question", ""}, {"answer", "number"}, {"it is", ""}}, rows);
}

std::string findings_section(const judge::ChecksResult& checks) {
    if (checks.findings.empty()) return {};
    std::string html = "<h3>Findings</h3>";
    for (const judge::QuotedFinding& finding : checks.findings) {
        const bool error = finding.severity == simt::check::Severity::error;
        html +=
            fmt::format("<div class=\"finding {}\"><p><b>{}</b> {}", error ? "fail" : "look",
                        error ? judge::name_of(judge::verdict_of(finding)) : judge::name_of(finding.severity),
                        escape_html(finding.kind));
        if (!finding.kernel.empty()) html += " in <code>" + escape_html(finding.kernel) + "</code>";
        if (finding.count > 1) html += fmt::format(", {} times", finding.count);
        html += "</p>";
        const auto side = [&](const simt::check::Side& one, const std::string& source) {
            if (one.place.file.empty()) return;
            html += "<p><code>" + escape_html(place_text(one.place)) + "</code> " +
                    escape_html(one.access + judge::caller_text(one.place));
            if (!finding.kernel.empty())
                html += "<span class=\"dim\">, " + escape_html(judge::who(one)) + "</span>";
            html += "</p>";
            if (!source.empty()) html += "<pre>" + escape_html(source) + "</pre>";
        };
        side(finding.side, finding.source);
        if (finding.has_other) side(finding.other, finding.other_source);
        html += "<p>" + escape_html(finding.message) + " " + escape_html(finding.advice) + "</p></div>";
    }
    return checks.found_in.empty()
               ? html
               : html + "<p class=\"dim\">Found in " + escape_html(checks.found_in) + ".</p>";
}

std::string mismatches_section(const RungResult& result) {
    const judge::Correctness& found = result.correctness;
    if (found.first.empty() || !tells_by_numbers(result)) return {};
    MismatchTable first = mismatches_of(found);
    std::vector<Column> columns;
    for (const std::string& head : first.heads) columns.push_back({head.c_str(), "number"});
    for (std::vector<std::string>& row : first.rows) row[0] = escape_html(row[0]);
    return table("First mismatches", "First mismatches", columns, first.rows);
}

}  // namespace rungs
