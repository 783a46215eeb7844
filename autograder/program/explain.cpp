// rungs explain: the source of a rung with counters in the margin, the hottest line first, and what to try;
// and rungs see: what a warp of it touches, as pictures.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/counts.hpp"
#include "judge/judge.hpp"
#include "program/interrupt.hpp"
#include "program/show.hpp"
#include "program/submission.hpp"
#include "program/verbs.hpp"
#include "report/advice.hpp"
#include "report/pictures.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/svg.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;
using simt::check::SiteCounters;
using simt::check::Space;

/// A rung that was counted, and where it stands.
struct Counted {
    Chosen chosen;
    fs::path source;
    judge::Counters counters;
    std::string wrong;  ///< what is wrong with the counted call; empty: it was right
};

/// Counts the rung and, where it is an exercise, its reference. @throws CannotCheck with the reason and
/// the next command
Counted count_rung(const Workbook& workbook, const RungChoice& choice, judge::Watched watched,
                   Terminal& out) {
    if (choice.solution && !choice.submission.empty()) {
        throw UsageError("--solution and --submission exclude each other");
    }
    const Chosen chosen = choose_rung(workbook, choice.rung);
    if (choice.solution) require_solution(workbook, chosen);
    require_kernel(chosen);
    if (!choice.solution && choice.submission.empty()) require_file(workbook, chosen);
    const fs::path submission = choice.submission.empty() ? fs::path() : submission_folder(choice.submission);
    Counted counted{chosen, {}, {}, {}};
    counted.source = source_of(workbook, chosen,
                               choice.solution ? judge::Whose::solution : judge::Whose::student, submission);
    judge::JudgeOptions options;
    options.toolchain = workbook.toolchain;
    options.stop = &stop_requested();
    const std::unique_ptr<Exam> exam = judge::exam_of(*chosen.chapter);
    const Case which = judge::case_to_count(*chosen.chapter, *chosen.rung, *exam);
    judge::Counters& counters = counted.counters;
    counters.which = judge::describe(*exam, which, exam->make(which));
    counters.least_bytes = exam->work(which).least;
    out.status("  counting " + chosen.rung->name);
    std::string why_not;
    const judge::Trial trial{*chosen.chapter, *chosen.rung, counted.source, *exam, options};
    auto mine = judge::count(trial, why_not, watched, &counted.wrong);
    stop_here();
    if (!mine) {
        throw CannotCheck(why_not + "; ./rungs check " + chosen.short_name() + " says more");
    }
    counters.rung = std::move(*mine);
    counters.done = true;
    if (!chosen.rung->given() && !choice.solution && counted.wrong.empty()) {
        out.status("  counting the reference");
        counters.reference = judge::count_reference(trial, which, why_not);
        stop_here();
    }
    return counted;
}

/// Where a file goes that `option` asks for: never to a place that a submission's author has chosen.
fs::path place_for(const fs::path& file, const RungChoice& choice, const char* option) {
    if (choice.submission.empty()) return file;
    return outside(submission_folder(choice.submission), file, option);
}

Special special_of(const RungChoice& choice) {
    return choice.submission.empty() ? Special::use : Special::refuse;
}

std::vector<std::string> lines_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        std::string plain;
        for (const char c : clean_utf8(line)) plain += c == '\t' ? std::string(4, ' ') : std::string(1, c);
        lines.push_back(plain);
    }
    return lines;
}

/// The margin of a line: share of all sectors and wavefronts, requests, cost of one, cost at
/// best. 31 columns.
constexpr int margin_width = 31;

struct Heat {
    double all = 0;  ///< sectors and wavefronts
    double share(const SiteCounters& site) const {
        return all > 0 ? static_cast<double>(site.sectors + site.wavefronts) / all : 0;
    }
};

std::string margin_of(const SiteCounters& site, const Heat& heat, Terminal& out) {
    const double share = heat.share(site);
    const bool sectors = site.space != Space::shared;
    const std::string text = fmt::format("{:>4.0f} % {:>9} {:>5} {} {:>5}", 100 * share, site.requests,
                                         ratio_text(cost_per_request(site)), sectors ? "S" : "W",
                                         ratio_text(ideal_per_request(site)));
    const bool wasteful = cost_per_request(site) > 1.15 * ideal_per_request(site);
    const Style style = share < 0.05    ? Style::dim
                        : wasteful      ? Style::bad
                        : share >= 0.25 ? Style::warn
                                        : Style::plain;
    return out.paint(style, fmt::format("{:<{}}", text, margin_width));
}

std::string source_line(const std::vector<std::string>& source, unsigned line) {
    if (line == 0 || line > source.size()) return "";
    std::string text = source[line - 1];
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

void show_hottest(const Counted& counted, const std::vector<std::string>& source, const Heat& heat,
                  Terminal& out) {
    constexpr std::size_t most = 5;
    out.line();
    out.line(out.paint(Style::bold, "Hottest lines"));
    const auto sites = counted.counters.rung.lines();
    for (std::size_t i = 0; i < sites.size() && i < most; ++i) {
        const SiteCounters& site = sites[i];
        const std::string place = fmt::format("{}:{}", site.place.file, site.place.line);
        out.line(fmt::format("  {:>3.0f} %  ", 100 * heat.share(site)) + out.paint(Style::link, place) +
                 "  " +
                 out.cut(fmt::format("{}: {}, {} per request, {} at best", site.array, access_text(site),
                                     ratio_text(cost_per_request(site)), ratio_text(ideal_per_request(site))),
                         out.width() - static_cast<int>(place.size()) - 13));
        if (site.place.file == counted.source.filename()) {
            out.line("         " + out.cut(source_line(source, site.place.line), out.width() - 10));
        }
    }
}

/// The kernel's lines with their counters; the rest of the file is left out.
void show_source(const Counted& counted, const std::vector<std::string>& source, const Heat& heat,
                 Terminal& out) {
    constexpr unsigned around = 2;
    std::map<unsigned, std::vector<SiteCounters>> by_line;
    for (const SiteCounters& site : counted.counters.rung.lines()) {
        if (site.place.file == counted.source.filename() && site.place.line > 0)
            by_line[site.place.line].push_back(site);
    }
    if (by_line.empty()) return;
    out.line();
    out.line(
        out.paint(Style::bold, fmt::format("{:>6} {:>9} {:>7} {:>5}", "share", "requests", "each", "best")) +
        "    " + out.paint(Style::dim, "S: sectors of global, W: wavefronts of shared memory"));
    const int room = std::max(20, out.width() - margin_width - 7);
    unsigned shown = 0;
    for (unsigned line = 1; line <= source.size(); ++line) {
        const auto next = by_line.lower_bound(line > around ? line - around : 1);
        if (next == by_line.end() || next->first > line + around) continue;
        if (shown > 0 && shown + 1 != line) out.line(fmt::format("{:<{}}  ...", "", margin_width));
        shown = line;
        const auto here = by_line.find(line);
        const std::string text = fmt::format("{:>4} ", line) + out.cut(source[line - 1], room);
        if (here == by_line.end()) {
            out.line(fmt::format("{:<{}}", "", margin_width) + out.paint(Style::dim, text));
            continue;
        }
        for (std::size_t i = 0; i < here->second.size(); ++i) {
            const SiteCounters& site = here->second[i];
            out.line(margin_of(site, heat, out) +
                     (i == 0 ? text
                             : out.paint(Style::dim,
                                         out.cut(fmt::format("     ^ {}: {}", site.array, access_text(site)),
                                                 room))));
        }
    }
}

void show_totals(const judge::Counters& counters, Terminal& out) {
    const judge::Tally* reference = counters.reference ? &*counters.reference : nullptr;
    out.line();
    out.line(out.paint(Style::bold, fmt::format("  {:<30}{:>14}", "the whole call", "this rung")) +
             (reference ? out.paint(Style::bold, fmt::format("{:>14}", "reference")) : ""));
    for (const CounterRow& row : compare(counters.rung, reference)) {
        out.line(fmt::format("  {:<30}{:>14}", row.what, row.mine) +
                 (reference ? fmt::format("{:>14}", row.reference) : ""));
    }
}

void show_advice(const judge::Counters& counters, Terminal& out) {
    const auto advice = advise(counters.rung, counters.reference ? &*counters.reference : nullptr);
    out.line();
    out.line(out.paint(Style::bold, "What to try"));
    if (advice.empty()) {
        out.line(out.wrapped(counters.reference ? "these counters suggest nothing: none is far from the "
                                                  "reference's. They do not count how long the host waits"
                                                : "these counters suggest nothing",
                             2));
        return;
    }
    for (std::size_t i = 0; i < advice.size(); ++i) {
        const Advice& one = advice[i];
        std::string head = "  " + out.paint(Style::warn, one.rule);
        if (one.line > 0) head += "  " + out.paint(Style::link, fmt::format("{}:{}", one.file, one.line));
        out.line(head);
        // Lines that have the same fault stand above each other.
        const bool again =
            i + 1 < advice.size() && advice[i + 1].rule == one.rule && advice[i + 1].text == one.text;
        if (!again) out.line(out.wrapped(one.text, 4));
    }
}

/// Everything there is to say of a call; of `source`, what may be shown.
void show_counted(const Workbook& workbook, const Counted& counted, bool with_source, Terminal& out) {
    out.line(out.paint(Style::bold, counted.chosen.rung->name) +
             (with_source ? "  " + clean_name(workbook.shown(counted.source)) : ""));
    out.line(
        out.wrapped("counted in check mode on " + counted.counters.which + ": the same on every machine", 2));
    if (with_source) {
        const std::vector<std::string> source = lines_of(counted.source);
        Heat heat;
        for (const SiteCounters& site : counted.counters.rung.lines())
            heat.all += static_cast<double>(site.sectors + site.wavefronts);
        show_hottest(counted, source, heat, out);
        show_source(counted, source, heat, out);
    }
    show_totals(counted.counters, out);
    if (!counted.wrong.empty()) {
        out.line();
        out.line(out.paint(Style::bad, "The rung is not right yet"));
        out.line(out.wrapped(counted.wrong, 2));
        out.line(
            out.wrapped("A wrong rung needs other resources than a right one, so it is not compared with "
                        "the reference. First: ./rungs check " +
                            counted.chosen.short_name(),
                        2));
    } else if (with_source) {
        show_advice(counted.counters, out);
    }
    out.line();
}

}  // namespace

void explain_reference(const Workbook& workbook, const Chosen& chosen, const Case& which, Terminal& out) {
    judge::JudgeOptions options;
    options.toolchain = workbook.toolchain;
    options.stop = &stop_requested();
    const std::unique_ptr<Exam> exam = judge::exam_of(*chosen.chapter);
    Counted counted{chosen, source_of(workbook, chosen, judge::Whose::solution), {}, {}};
    counted.counters.which = judge::describe(*exam, which, exam->make(which));
    counted.counters.least_bytes = exam->work(which).least;
    std::string why_not;
    auto tally = judge::count_reference({*chosen.chapter, *chosen.rung, counted.source, *exam, options},
                                        which, why_not);
    if (!tally) throw CannotCheck(why_not);
    counted.counters.rung = std::move(*tally);
    counted.counters.done = true;
    // An exercise's reference is not given away.
    show_counted(workbook, counted, chosen.rung->given(), out);
    out.line("  more       " + out.paint(Style::bold, "./rungs explain " + chosen.short_name()));
}

int explain(const ExplainOptions& options) {
    Terminal out(options.json == "-" ? stderr : stdout);
    const Workbook workbook = open_workbook();
    const bool to_file = !options.json.empty() && options.json != "-";
    const fs::path file = to_file ? place_for(options.json, options.choice, "--json") : fs::path();
    if (to_file) check_writable(file, special_of(options.choice));
    const Counted counted = count_rung(workbook, options.choice, {}, out);
    show_counted(workbook, counted, true, out);
    out.line("  pictures   " + out.paint(Style::bold, "./rungs see " + counted.chosen.short_name()) +
             (options.choice.solution ? " --solution" : ""));
    if (options.json.empty()) return 0;
    const nlohmann::ordered_json json = {
        {"schema", "rungs.explain/1"},        {"chapter", counted.chosen.chapter->chapter},
        {"rung", counted.chosen.rung->name},  {"file", clean_name(workbook.shown(counted.source))},
        {"wrong", clean_utf8(counted.wrong)}, {"counters", to_json(counted.counters)}};
    if (to_file) {
        write_file(file, json.dump(2) + '\n', special_of(options.choice));
    } else {
        Terminal(stdout).write(json.dump(2) + '\n');
    }
    return 0;
}

int see(const SeeOptions& options) {
    Terminal out(stdout);
    const Workbook workbook = open_workbook();
    const fs::path asked = options.out.empty() ? workbook.root() / "report" / "see" : fs::path(options.out);
    const fs::path folder = place_for(asked / "", options.choice, "--out");
    const Counted counted = count_rung(workbook, options.choice, {options.block, options.warp}, out);
    const judge::WarpTrace& trace = counted.counters.rung.trace;
    if (trace.steps.empty()) {
        throw CannotCheck(
            fmt::format("warp {} of block {} accesses no memory in the first launch of the rung's kernel; "
                        "choose another with --block and --warp",
                        options.warp, options.block));
    }
    const judge::TraceStep* global = costliest(trace, Space::global, options.line);
    const judge::TraceStep* shared = costliest(trace, Space::shared, options.line);
    if (options.line != 0 && !global && !shared) {
        throw UsageError(fmt::format("--line {}: warp {} of block {} accesses no memory there", options.line,
                                     options.warp, options.block));
    }
    make_folder(folder);
    std::string stem = counted.chosen.short_name();
    std::replace(stem.begin(), stem.end(), '/', '_');
    const auto write = [&](const char* what, const std::string& svg) {
        if (svg.empty()) return;
        const fs::path file = folder / fmt::format("{}_{}.svg", stem, what);
        write_file(file, on_ground(svg), special_of(options.choice));
        out.line(fmt::format("  {:<10}", what) + out.paint(Style::link, workbook.shown(file)));
    };
    out.line(out.paint(Style::bold, counted.chosen.rung->name) +
             fmt::format(", warp {} of block {} of {}, {}", trace.warp, trace.block, trace.kernel,
                         counted.counters.which));
    if (!counted.wrong.empty()) {
        out.line(out.wrapped(
            "The rung is not right yet: the pictures show what it does now. First: ./rungs check " +
                counted.chosen.short_name(),
            2));
    }
    if (global) write("sectors", sectors_svg(*global));
    if (shared) write("banks", banks_svg(*shared));
    write("lanes", lanes_svg(trace));
    write("timeline", timeline_svg(trace));
    return 0;
}

}  // namespace rungs
