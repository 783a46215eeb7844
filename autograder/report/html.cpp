#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "report/advice.hpp"
#include "report/page.hpp"
#include "report/pictures.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace rungs {
namespace {

using judge::Owner;
using judge::RungResult;

/// How a rung looks: class of colours, sign and word. The sign and the word carry the meaning.
struct Look {
    const char* kind;
    const char* sign;
    std::string word;
};

Look look_of(const RungResult& result) {
    const std::string word = judge::name_of(result.verdict);
    if (result.passed()) return {"pass", "\u2713", word};
    switch (judge::owner_of(result.verdict)) {
        case Owner::student:
            return {"fail", "\u2717", word};
        case Owner::review:
            return {"look", "?", word};
        case Owner::ours:
            break;
    }
    return {"none", "\u2013", word};
}

std::string score_text(const Report& report) {
    return report.score() ? points_text(*report.score()) : "\u2013";
}

/// What the bar of a rung measures: where speed was judged, the share of what limits it or of the fastest;
/// else cases.
struct Bar {
    double share = 0;
    std::string value;
};

/// Operations or bytes a second, whichever limits the rung, and what the machine does at most. That is no
/// bound for iterations that a chip holds.
std::pair<double, double> speed_and_roof(const judge::Speed& speed) {
    switch (speed.limit()) {
        case judge::Limit::arithmetic:
            return {speed.flops, speed.fma_roof};
        case judge::Limit::memory:
            return {speed.bandwidth, speed.roof};
        case judge::Limit::one_pass:
            break;
    }
    return {speed.bandwidth, 0};
}

std::vector<Bar> bars_of(const Report& report) {
    std::map<judge::Limit, double> most;
    for (const RungReport& rung : report.rungs) {
        const judge::Speed& speed = rung.result.speed;
        if (!speed.judged) continue;
        const auto [value, roof] = speed_and_roof(speed);
        double& end = most[speed.limit()];
        end = std::max({end, value, roof});
    }
    std::vector<Bar> bars;
    for (const RungReport& rung : report.rungs) {
        const judge::Speed& speed = rung.result.speed;
        const judge::Correctness& found = rung.result.correctness;
        Bar bar;
        if (report.speed_judged()) {
            if (speed.judged) {
                bar.share = speed_and_roof(speed).first / most[speed.limit()];
                bar.value = rate_of(speed).value;
                if (has_baseline(rung.result)) bar.value += fmt::format(", {}x", ratio_text(speed.speedup));
            } else {
                bar.value = "not timed";
            }
        } else if (found.cases > 0) {
            bar.share = static_cast<double>(found.passed) / found.cases;
            bar.value = found.passed < found.cases
                            ? fmt::format("stopped at case {} of {}", found.passed + 1, found.cases)
                            : count_text(static_cast<std::size_t>(found.cases), "case");
        } else if (const auto& answers = rung.result.predictions; !answers.empty()) {
            const auto right = std::count_if(answers.begin(), answers.end(),
                                             [](const judge::Prediction& one) { return one.right; });
            bar.share = static_cast<double>(right) / static_cast<double>(answers.size());
            bar.value = fmt::format("{} of {} answers", right, answers.size());
        } else {
            bar.value = "not run";
        }
        if (!std::isfinite(bar.share)) bar.share = 0;
        bar.share = std::clamp(bar.share, 0.0, 1.0);
        bars.push_back(bar);
    }
    return bars;
}

/// Cut to what fits: an SVG text does not wrap.
std::string fitting(const std::string& text, double width, double size) {
    return first_line(text, static_cast<std::size_t>(std::max(4.0, width / (size * 0.56))));
}

/// The ladder, first rung at the bottom. `width` is in CSS pixels at full size, so text never shrinks much:
/// there is one drawing for wide and one for narrow screens.
std::string ladder_svg(const Report& report, std::size_t first, std::size_t last, int width,
                       const char* name) {
    const bool narrow = width < 500;
    const std::vector<Bar> bars = bars_of(report);
    const int pitch = narrow ? 78 : 58, top = 26, foot = 30;
    const int count = static_cast<int>(last - first);
    const int height = top + count * pitch + foot - 12;
    const double left = 12, right = narrow ? 62 : 82, text = right + (narrow ? 18 : 26);
    const double bar_left = narrow ? text : width * 0.61, bar_right = narrow ? width - 8 : width - 10;

    std::string svg = fmt::format(
        "<svg class=\"{0}\" viewBox=\"0 0 {1} {2}\" role=\"img\" aria-labelledby=\"t{0}{3} d{0}{3}\">"
        "<title id=\"t{0}{3}\">The ladder</title><desc id=\"d{0}{3}\">",
        name, width, height, first);
    for (std::size_t i = first; i < last; ++i) {
        const RungResult& result = report.rungs[i].result;
        svg += escape_html(result.rung + ": " + judge::name_of(result.verdict) + ", " + points_text(result) +
                           ", " + bars[i].value + ". ");
    }
    svg += "</desc>";
    // Rails lean together a little towards the top, as a ladder's do when one looks up.
    const double lean = 5;
    svg += fmt::format(
        "<path class=\"rail\" fill=\"none\" stroke-width=\"5\" d=\"M{:g} {} L{:g} 6 M{:g} {} L{:g} 6\"/>",
        left, height - 4, left + lean, right, height - 4, right - lean);
    for (std::size_t i = first; i < last; ++i) {
        const RungReport& rung = report.rungs[i];
        const Look look = look_of(rung.result);
        const Bar& bar = bars[i];
        const double y = top + static_cast<double>(last - 1 - i) * pitch + pitch * 0.32;
        const double inset = lean * (1 - y / height) + 7;
        const double size = narrow ? 14 : 15;
        svg += fmt::format("<g class=\"{}\">", look.kind);
        svg += fmt::format(
            "<line class=\"step\" pathLength=\"100\" x1=\"{:g}\" x2=\"{:g}\" y1=\"{:g}\" y2=\"{:g}\"/>",
            left + inset, right - inset, y, y);
        svg += fmt::format(
            "<text class=\"name\" x=\"{:g}\" y=\"{:g}\" font-size=\"{:g}\">{}</text>", text, y + 1, size,
            escape_html(fitting(rung.result.rung, (narrow ? bar_right - 90 : bar_left) - text, size)));
        const double word_end = narrow ? bar_right : bar_left - 16;
        const std::string word = fmt::format("{} {}", look.sign, look.word);
        svg += fmt::format(
            "<text class=\"word\" x=\"{:g}\" y=\"{:g}\" font-size=\"13\" font-weight=\"650\" "
            "text-anchor=\"end\">{}</text>",
            word_end, y + 1, escape_html(word));
        svg += fmt::format("<text class=\"dim\" x=\"{:g}\" y=\"{:g}\" font-size=\"13\">{}</text>", text,
                           y + 19, escape_html(fitting(rung.idea, word_end - text, 12.3)));
        const double bar_y = narrow ? y + 27 : y - 6;
        const double value_y = narrow ? y + 49 : y + 19;
        const double full = bar_right - bar_left;
        svg +=
            fmt::format("<rect class=\"track\" x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"8\" rx=\"4\"/>",
                        bar_left, bar_y, full);
        if (bar.share > 0) {
            svg += fmt::format(
                "<rect class=\"fill\" x=\"{:g}\" y=\"{:g}\" width=\"{:.1f}\" height=\"8\" rx=\"4\"/>",
                bar_left, bar_y, std::max(8.0, full * bar.share));
        }
        if (!narrow || count <= 8) {
            svg += fmt::format("<text class=\"dim\" x=\"{:g}\" y=\"{:g}\" font-size=\"12.5\">{}</text>",
                               bar_left, value_y, escape_html(bar.value));
            svg += fmt::format(
                "<text class=\"dim\" x=\"{:g}\" y=\"{:g}\" font-size=\"12.5\" text-anchor=\"end\">{}</text>",
                bar_right, value_y,
                escape_html(rung.result.given || !rung.result.judged ? points_text(rung.result)
                                                                     : points_text(rung.result) + " points"));
        }
        svg += "</g>";
    }
    return svg + "</svg>";
}

std::string verdict_table(const Report& report) {
    const bool several =
        !report.rungs.empty() && report.rungs.front().result.chapter != report.rungs.back().result.chapter;
    const bool speed = report.speed_judged(), modelled = report.speed_modelled();
    std::string html =
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Verdicts\"><table "
        "class=\"verdicts\"><caption>";
    html += speed ? "Speed is a ratio to an earlier rung, timed interleaved in this session, with its 99 % "
                    "interval."
            : report.speed_modelled() ? "Correctness decides; speed is modelled for a GPU from counters, as "
                                        "a ratio to an earlier rung. Nothing was timed."
                                      : "Correctness decides here; speed is not judged on this backend.";
    html += "</caption><thead><tr>";
    if (several) html += "<th scope=\"col\">chapter</th>";
    html +=
        "<th scope=\"col\">rung</th><th scope=\"col\">verdict</th><th scope=\"col\" "
        "class=\"number\">points</th>"
        "<th scope=\"col\" class=\"number more\">cases</th>";
    if (speed)
        html +=
            "<th scope=\"col\" class=\"number\">speedup</th><th scope=\"col\" "
            "class=\"number\">rate</th>";
    if (modelled) html += "<th scope=\"col\" class=\"number\">modelled</th>";
    html += "<th scope=\"col\" class=\"more\">remark</th></tr></thead><tbody>";
    for (const RungReport& rung : report.rungs) {
        const RungResult& result = rung.result;
        const Look look = look_of(result);
        html += "<tr>";
        if (several) html += "<td>" + escape_html(result.chapter) + "</td>";
        html += "<th scope=\"row\" class=\"mono\">" + escape_html(result.rung) + "</th>";
        html += fmt::format("<td><span class=\"chip {}\">{} {}</span></td>", look.kind, look.sign,
                            escape_html(look.word));
        html += "<td class=\"number\">" + escape_html(points_text(result)) + "</td>";
        const judge::Correctness& found = result.correctness;
        html += fmt::format("<td class=\"number more\">{}{} / {}</td>",
                            found.passed < found.cases ? "stopped at " : "",
                            std::min(found.passed + 1, found.cases), found.cases);
        if (speed && result.speed.judged) {
            html += "<td class=\"number\">";
            if (has_baseline(result)) {
                html += fmt::format("{}x<small>{} to {}</small>", ratio_text(result.speed.speedup),
                                    ratio_text(result.speed.low), ratio_text(result.speed.high));
            }
            const Rate rate = rate_of(result.speed);
            html += fmt::format("</td><td class=\"number\">{}<small>{}</small></td>", rate.value, rate.of);
        } else if (speed) {
            html += "<td class=\"number dim\">not timed</td><td></td>";
        }
        if (modelled) {
            html += "<td class=\"number\">" +
                    (result.modelled.done ? ratio_text(result.modelled.speedup) + "x" : std::string()) +
                    "</td>";
        }
        html += "<td class=\"remark more\">" + escape_html(remark_of(result)) + "</td></tr>";
    }
    html += "</tbody><tfoot><tr>";
    if (several) html += "<td></td>";
    html += fmt::format(
        "<th scope=\"row\">total</th><td class=\"chip\">{} of {} pass</td><td class=\"number\">{} / {}</td>",
        report.passed(), report.rungs.size(), score_text(report), points_text(report.max_score()));
    html += "<td class=\"more\"></td>";
    if (speed) html += "<td></td><td></td>";
    if (modelled) html += "<td></td>";
    return html + "<td class=\"more\"></td></tr></tfoot></table></div>";
}

/// Numbers of the rung and of its reference side by side.
std::string tally_table(const judge::Counters& counters) {
    const judge::Tally* reference = counters.reference ? &*counters.reference : nullptr;
    std::vector<Column> columns{{"counted", ""}, {"this rung", "number"}};
    if (reference) columns.push_back({"reference", "number"});
    std::vector<std::vector<std::string>> rows;
    for (const CounterRow& row : compare(counters.rung, reference))
        rows.push_back({row.what, row.mine, row.reference});
    return table("Counters", escape_html(counters.which), columns, rows);
}

/// The lines that cost most.
std::string lines_table(const judge::Counters& counters) {
    constexpr std::size_t most = 8;
    const auto lines = counters.rung.lines();
    if (lines.empty()) return {};
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < lines.size() && i < most; ++i) {
        rows.push_back({escape_html(place_text(lines[i].place)), escape_html(lines[i].array),
                        escape_html(access_text(lines[i])), std::to_string(lines[i].requests),
                        ratio_text(cost_per_request(lines[i])), ratio_text(ideal_per_request(lines[i]))});
    }
    return table(
        "Hottest lines",
        "Hottest lines: sectors per request of global memory, wavefronts per request of shared memory",
        {{"line", "mono"},
         {"array", "mono"},
         {"access", ""},
         {"requests", "number"},
         {"per request", "number"},
         {"at best", "number"}},
        rows);
}

std::string counters_section(const judge::RungResult& result) {
    const judge::Counters& counters = result.counters;
    if (!counters.done) return {};
    std::string html = "<h3>Counters</h3>" + tally_table(counters) + lines_table(counters);
    const judge::WarpTrace& trace = counters.rung.trace;
    for (const auto space : {simt::check::Space::global, simt::check::Space::shared}) {
        const judge::TraceStep* step = costliest(trace, space);
        if (!step) continue;
        html += "<figure>" + (space == simt::check::Space::shared ? banks_svg(*step) : sectors_svg(*step)) +
                "</figure>";
    }
    for (const std::string& svg : {lanes_svg(trace), timeline_svg(trace)}) {
        if (!svg.empty()) html += "<figure>" + svg + "</figure>";
    }
    const auto advice = advise(counters.rung, counters.reference ? &*counters.reference : nullptr);
    if (!advice.empty()) {
        html += "<h3>What to try</h3><ul>";
        for (const Advice& one : advice) {
            html += "<li><b>" + escape_html(one.rule) + "</b> ";
            if (one.line > 0)
                html += "<code>" + escape_html(fmt::format("{}:{}", one.file, one.line)) + "</code> ";
            html += escape_html(one.text) + "</li>";
        }
        html += "</ul>";
    }
    return html;
}

std::string details(const RungReport& rung) {
    const RungResult& result = rung.result;
    const Look look = look_of(result);
    std::string html = fmt::format(
        "<details{}><summary><b class=\"mono\">{}</b><span class=\"chip {}\">{} {}</span><span "
        "class=\"dim\">{}</span></summary>"
        "<div class=\"inside\"><dl class=\"rows\">",
        result.passed() ? "" : " open", escape_html(result.rung), look.kind, look.sign,
        escape_html(look.word), escape_html(points_text(result)));
    row(html, "idea", rung.idea);
    row(html, "kind", rung.kind);
    row(html, "file", rung.file);
    row(html, "reason", result.brief_reason());
    add_correctness(html, result);
    row(html, "lost points", lost_text(result));
    add_checks(html, result.checks);
    add_speed(html, result);
    row(html, "time to judge",
        seconds_text(result.seconds) + ", of it build " + seconds_text(result.build_seconds) +
            (result.cached ? " (cached)" : ""));
    html += "</dl>" + answers_section(result) + findings_section(result.checks) + mismatches_section(result) +
            counters_section(result);
    if (!result.diagnostics.empty())
        html += "<h3>Messages</h3><pre>" + escape_html(result.diagnostics) + "</pre>";
    return html + "</div></details>";
}

std::string machine_section(const Report& report) {
    const Machine& machine = report.machine;
    std::string html = "<div class=\"panel\"><dl class=\"rows\">";
    row(html, "backend",
        std::string(name_of(report.backend)) +
            (report.backend == Backend::cpu ? " (CUDA sources run on the processor)" : " (GPU)"));
    row(html, "compiler", report.toolchain);
    row(html, "processor",
        fmt::format("{}, {} core{}", machine.processor, machine.cores, machine.cores == 1 ? "" : "s"));
    row(html, "memory", fmt::format("{:.1f} GiB", machine.memory / (1 << 30)));
    if (machine.gpu.present) {
        row(html, "GPU",
            fmt::format("{}, {:.0f} GiB, compute capability {}, driver for CUDA {}", machine.gpu.name,
                        machine.gpu.memory / (1 << 30), machine.gpu.capability, machine.gpu.driver));
    } else {
        row(html, "GPU", "none: " + machine.gpu.why_not);
    }
    row(html, "system", machine.system + ", kernel " + machine.kernel + (machine.wsl ? ", WSL" : ""));
    row(html, "isolation", report.sandbox);
    row(html, "started", report.started);
    row(html, "took", seconds_text(report.seconds));
    row(html, "seed", seed_text(report.seed));
    return html + "</dl></div>";
}

}  // namespace

std::string to_html(const Report& report) {
    const std::string title = report.title + ", " + report.what;
    std::string html = page_head(title, report.version);
    html += "<h1>" + escape_html(report.title) + "</h1>";
    const std::size_t count = report.rungs.size();
    std::string lede = fmt::format("{}: {} of {} rungs pass on the {} backend", report.what, report.passed(),
                                   count, name_of(report.backend));
    if (lede[0] >= 'a' && lede[0] <= 'z') lede[0] = static_cast<char>(lede[0] - 'a' + 'A');
    if (report.undecided() > 0) lede += fmt::format("; {} could not be graded", report.undecided());
    html += "<p class=\"lede\">" + escape_html(lede) + ".</p>";
    html += "<dl class=\"facts\">";
    const auto fact = [&](const char* term, const std::string& value, const std::string& more) {
        html += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>", term, escape_html(value),
                            escape_html(more));
    };
    fact("points", score_text(report) + " / " + points_text(report.max_score()),
         !report.score()           ? "no score while a rung is undecided"
         : report.speed_judged()   ? "correctness and speed"
         : report.speed_modelled() ? "correctness and modelled speed"
                                   : "correctness");
    fact("rungs that pass", fmt::format("{} / {}", report.passed(), count), report.what);
    int cases = 0;
    for (const RungReport& rung : report.rungs) cases += rung.result.correctness.passed;
    fact("cases passed", fmt::format("{}", cases), "fresh input for every call");
    fact("backend", name_of(report.backend),
         report.backend == Backend::cuda ? report.machine.gpu.name : report.toolchain);
    html += "</dl></header>\n<main>\n";

    for (std::size_t first = 0; first < count;) {
        std::size_t last = first;
        while (last < count && report.rungs[last].result.chapter == report.rungs[first].result.chapter)
            ++last;
        html += "<section><h2>The ladder" +
                (first > 0 || last < count ? ": " + escape_html(report.rungs[first].result.chapter)
                                           : std::string()) +
                "</h2><figure>" + ladder_svg(report, first, last, 860, "wide") +
                ladder_svg(report, first, last, 360, "narrow");
        html += "<figcaption>";
        html += report.speed_judged() ? "Climb from the bottom. Bars show how fast a rung is; the end of a "
                                        "track is what limits it: a plain device copy, fused multiply-adds "
                                        "alone, or, of iterations, the fastest rung."
                                      : "Climb from the bottom. Bars show how many cases of the exam a rung "
                                        "passed before the first that it did not.";
        html +=
            " A solid step passes, a dashed one does not, a dotted one could not be "
            "graded.</figcaption></figure></section>\n";
        first = last;
    }
    html +=
        "<section><h2>Verdicts</h2>" + verdict_table(report) + "</section>\n<section><h2>Rung by rung</h2>";
    for (const RungReport& rung : report.rungs) html += details(rung);
    html += "</section>\n<section><h2>This machine</h2>" + machine_section(report) + "</section>\n";
    if (!report.command.empty()) {
        html +=
            "<section><h2>The same again</h2><p class=\"dim\">The seed replays the same inputs.</p><pre>" +
            escape_html(report.command) + "</pre></section>\n";
    }
    html += page_foot(report.version);
    return html;
}

}  // namespace rungs
