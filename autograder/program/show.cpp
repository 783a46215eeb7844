#include "program/show.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/source.hpp"
#include "judge/result/findings.hpp"
#include "program/starter.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;
using judge::RungResult;
using judge::Verdict;

Style style_of(const RungResult& result) {
    if (result.passed()) return Style::good;
    return judge::owner_of(result.verdict) == judge::Owner::student ? Style::bad : Style::warn;
}

/// The line that an error or a cause names, else the kernel's.
int line_to_look_at(const RungResult& result, const fs::path& file, const RungEntry& rung) {
    for (const judge::QuotedFinding& finding : result.checks.findings) {
        if (finding.severity != simt::check::Severity::error) continue;
        for (const simt::check::Side* side : {&finding.side, &finding.other}) {
            if (const unsigned line = judge::line_in(side->place, file.filename()); line > 0)
                return static_cast<int>(line);
        }
    }
    for (const judge::Cause& cause : result.causes) {
        if (cause.place.file == file.filename() && cause.place.line > 0)
            return static_cast<int>(cause.place.line);
    }
    return line_of_kernel(file, rung);
}

/// One finding: its name, what each side does at which line, what it means and what helps.
/// `advised`: the advice that stands above already.
void show_finding(const judge::QuotedFinding& finding, std::set<std::string>& advised, Terminal& out) {
    const bool error = finding.severity == simt::check::Severity::error;
    const std::string word =
        error ? judge::name_of(judge::verdict_of(finding)) : judge::name_of(finding.severity);
    std::string head = finding.kind;
    if (!finding.kernel.empty()) head += " in " + finding.kernel;
    if (finding.count > 1) head += fmt::format(", {} times", finding.count);
    const std::string label = fmt::format("{:<10} ", word);
    out.line("  " + out.paint(error ? Style::bad : Style::warn, label) +
             out.cut(head, out.width() - 3 - static_cast<int>(label.size())));
    const auto side = [&](const simt::check::Side& one, const std::string& source) {
        if (one.place.file.empty()) return;
        std::string text = fmt::format("{}:{}", one.place.file, one.place.line);
        if (one.place.column > 0) text += fmt::format(":{}", one.place.column);
        const int room = out.width() - 14;
        std::string more = one.access + judge::caller_text(one.place);
        if (!finding.kernel.empty()) more += (more.empty() ? "" : ", ") + judge::who(one);
        const bool fits = static_cast<int>(text.size() + 2 + more.size()) <= room;
        out.line("             " + out.paint(Style::link, text) + (fits ? "  " + more : ""));
        if (!fits) out.line(out.wrapped(more, 15));
        if (!source.empty()) out.line("               " + out.paint(Style::bold, out.cut(source, room - 2)));
    };
    side(finding.side, finding.source);
    if (finding.has_other) side(finding.other, finding.other_source);
    out.line(out.wrapped(finding.message, 13));
    if (advised.insert(finding.advice).second) out.line(out.wrapped("Try: " + finding.advice, 13));
}

/// The text of a rung; empty: the judge has refused it, or it is gone meanwhile.
std::string text_of_rung(const fs::path& file) {
    try {
        return judge::read_rung(file);
    } catch (const judge::Rejected&) {
        return "";
    }
}

/// Whether a rung calls printf, which nobody sees while it is judged.
bool prints(const fs::path& file) {
    const auto part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    constexpr std::string_view name = "printf";
    std::istringstream lines(text_of_rung(file));
    for (std::string line; std::getline(lines, line);) {
        const std::string code = line.substr(0, line.find("//"));
        for (std::size_t at = 0; (at = code.find(name, at)) != std::string::npos;) {
            const bool whole = at == 0 || !part_of_name(code[at - 1]);
            at = code.find_first_not_of(' ', at + name.size());
            if (whole && at != std::string::npos && code[at] == '(') return true;
        }
    }
    return false;
}

/// What the compiler said, errors and warnings.
void show_diagnostics(const RungResult& result, Terminal& out) {
    std::istringstream lines(clean_utf8(result.diagnostics));
    int shown = 0;
    for (std::string line; std::getline(lines, line) && shown < 20; ++shown) {
        out.line("  | " + out.cut(line, out.width() - 5));
    }
    if (std::string rest; std::getline(lines, rest))
        out.line("  | ... (all of it is in the JSON: --json FILE)");
}

void show_findings(const RungReport& rung, Terminal& out) {
    constexpr std::size_t most = 4;
    const judge::ChecksResult& checks = rung.result.checks;
    std::set<std::string> advised;
    for (std::size_t i = 0; i < checks.findings.size() && i < most; ++i)
        show_finding(checks.findings[i], advised, out);
    if (checks.findings.size() > most) {
        out.line(fmt::format("             ... and {} more (all of them are in the JSON: --json FILE)",
                             checks.findings.size() - most));
    }
    if (!checks.findings.empty()) {
        std::string body = out.wrapped(checks.found_in, 13);
        body.replace(0, 13, fmt::format("  {:<11}", "found in"));
        out.line(body);
    }
}

/// What was wrong with the case that failed, where check mode has found another fault, in another case, which
/// is told first.
std::string also_there(const RungResult& result) {
    const std::string& tried = result.correctness.failing_case;
    if (result.causes.empty() || tried.empty() || result.causes.front().which == tried) return "";
    // Behind the case stands the order of threads. What is wrong in the same case comes of what was found.
    if (by_finding(result) && result.checks.found_in.starts_with(tried)) return "";
    for (std::size_t i = 1; i < result.causes.size(); ++i) {
        const judge::Cause& cause = result.causes[i];
        if (cause.which != tried) continue;
        return fmt::format("{}: {}{}", judge::name_of(cause.kind), cause.text,
                           cause.likely.empty() ? "" : " (" + cause.likely + ")");
    }
    return "";
}

}  // namespace

std::string whose_text(const GradeOptions& options) {
    if (!options.submission.empty()) return "submission " + clean_name(options.submission.string());
    if (options.given) return "given rungs";
    return options.whose == judge::Whose::solution ? "reference solutions" : "your rungs";
}

std::string shell_word(const std::string& text) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/._-+,:=@%", c);
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
    if (clean_name(text) != text) {  // bytes that have no business on a terminal
        std::string word = "$'";
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            word += c != '\'' && c != '\\' && byte >= ' ' && byte < 0x7F ? std::string(1, c)
                                                                         : fmt::format("\\{:03o}", byte);
        }
        return word + "'";
    }
    return shell_quoted(text);
}

int line_of_kernel(const fs::path& file, const RungEntry& rung) {
    const std::string text = text_of_rung(file);
    for (const std::string& wanted : {" " + rung.launcher() + "_kernel(", "::" + rung.launcher() + "("}) {
        const std::size_t at = text.find(wanted);
        if (at != std::string::npos) {
            return 1 + static_cast<int>(
                           std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        }
    }
    return 1;
}

void show_heading(const Workbook& workbook, const GradeOptions& options, Terminal& out) {
    const judge::BackendTools* tools = workbook.toolchain.tools(options.backend.backend);
    std::string where = tools ? tools->describe : "";
    if (options.backend.backend == Backend::cuda && options.machine.gpu.present) {
        where = options.machine.gpu.name + (where.empty() ? "" : ", " + where);
    }
    const std::string rungs = "Rungs", backend = name_of(options.backend.backend),
                      whose = ": " + whose_text(options) + ", backend ",
                      how = " (" + options.backend.why + (where.empty() ? "" : "; " + where) + "),",
                      seed = "seed " + seed_text(options.seed);
    const std::size_t all = rungs.size() + whose.size() + backend.size() + how.size() + 1 + seed.size();
    const bool fits = all <= static_cast<std::size_t>(std::max(out.width(), 0));
    out.line(out.paint(Style::bold, rungs) + whose + out.paint(Style::bold, backend) + how +
             (fits ? " " + seed : ""));
    if (!fits) out.line("  " + seed);
}

void show_row(const RungReport& rung, int name_width, Terminal& out) {
    const RungResult& result = rung.result;
    const std::string left = fmt::format("  {:<{}}  ", clean_utf8(result.rung), name_width);
    const std::string verdict = fmt::format("{:<14}", judge::name_of(result.verdict));
    const std::string middle = fmt::format("{:>10}  ", points_text(result));
    const int room = out.width() - static_cast<int>(left.size() + verdict.size() + middle.size()) - 1;
    out.line(left + out.paint(style_of(result), verdict) + middle +
             out.cut(remark_of(result), std::max(room, 16)));
}

void show_total(const Report& report, Terminal& out) {
    int name_width = 5;
    for (const RungReport& rung : report.rungs) {
        name_width = std::max(name_width, static_cast<int>(rung.result.rung.size()));
    }
    const std::string score = fmt::format("{} / {}", report.score() ? points_text(*report.score()) : "-",
                                          points_text(report.max_score()));
    out.line(fmt::format("  {:<{}}  {:<14}{:>10}  ", "total", name_width,
                         fmt::format("{} of {} pass", report.passed(), report.rungs.size()), score) +
             out.paint(Style::dim, "in " + seconds_text(report.seconds)));
    if (!report.score())
        out.line(fmt::format("  no score: {} of {} undecided", report.undecided(), report.rungs.size()));
    if (report.speed_modelled()) {
        for (const RungReport& rung : report.rungs) {
            if (!rung.result.modelled.done) continue;
            out.line("speed: modelled for an " + rung.result.modelled.machine +
                     " from what check mode counted; nothing was timed");
            break;
        }
    } else if (!report.speed_judged()) {
        out.line("speed: not judged on this backend");
    }
    if (report.undecided() > 0) {
        out.line(out.paint(Style::warn,
                           fmt::format("{} {} could not be graded: neither a pass nor a zero",
                                       report.undecided(), report.undecided() == 1 ? "rung" : "rungs")));
    }
}

void show_details(const Workbook& workbook, const RungReport& rung, const GradeOptions& options,
                  Terminal& out) {
    const RungResult& result = rung.result;
    const judge::Correctness& found = result.correctness;
    const Chosen chosen = choose_rung(workbook, result.chapter + "/" + result.rung);
    const fs::path file = source_of(workbook, chosen, options.whose, options.submission);
    const auto row = [&](const char* term, const std::string& text) {
        if (text.empty()) return;
        // The term stands in front of the first line of the text.
        std::string body = out.wrapped(text, 13);
        body.replace(0, 13, fmt::format("  {:<11}", term));
        out.line(body);
    };
    const bool ours = judge::owner_of(result.verdict) == judge::Owner::ours;
    out.line();
    out.line(out.paint(Style::bold, clean_utf8(result.rung)) + "  " +
             out.paint(style_of(result), judge::name_of(result.verdict)));
    if (!ours) {
        std::error_code unknown;
        std::string place = rung.file;  // of a file that was not handed in, where it was expected
        if (fs::exists(file, unknown))
            place += fmt::format(":{}", line_to_look_at(result, file, *chosen.rung));
        out.line("  at         " + out.paint(Style::link, place));
    }
    const bool by_checks = by_finding(result);
    if (!by_checks) row("what", result.brief_reason());
    const auto answers = [&](bool right, bool given) {
        std::string names;
        for (const judge::Prediction& one : result.predictions) {
            if (one.right != right || one.answer.has_value() != given) continue;
            names += (names.empty() ? "" : ", ") + one.name;
        }
        return names;
    };
    row("right", answers(true, true));
    row("wrong", answers(false, true));
    row("no answer", answers(false, false));
    // A cause that explains all explains the findings, too, and so does any of what a given header finds.
    // Values that are wrong for a reason of their own are mostly that of an access out of bounds as well:
    // width and height exchanged. Of a race they are what comes of it.
    const bool explains =
        by_checks && (found.certain || result.verdict == judge::Verdict::out_of_bounds ||
                      result.checks.findings.front().side.place.file != chosen.rung->file());
    if (explains) row(found.certain ? "cause" : "likely", likely_text(result));
    show_findings(rung, out);
    row("missing", judge::unread_text(result.checks));
    row("tried", found.failing_case);
    row("there", also_there(result));
    row("smallest", found.smallest_case);
    if (found.cases > 0 && !ours) row("cases", cases_text(found));
    if (!found.failing_case.empty()) row("error", error_text(result));
    const bool numbers = tells_by_numbers(result);
    if (numbers && found.wrong > 0 && found.of > 1) {
        row("wrong", fmt::format("{} of {} {} ({:.3g} %)", found.wrong, found.of, found.things,
                                 100.0 * static_cast<double>(found.wrong) / static_cast<double>(found.of)));
    }
    if (numbers && !found.first.empty()) {
        const MismatchTable table = mismatches_of(found);
        std::size_t width = 9;
        for (const auto& cells : table.rows) width = std::max(width, cells[0].size());
        const auto line = [&](const std::vector<std::string>& cells) {
            return fmt::format("  {:>{}} {:>17} {:>17}{}", cells[0], width, cells[1], cells[2],
                               cells.size() > 3 ? "  " + cells[3] : "");
        };
        out.line(out.paint(Style::dim, line(table.heads)));
        for (const auto& cells : table.rows) out.line(line(cells));
    }
    // A call that fails in run mode fails here in the same words.
    if (!result.checks.done && result.checks.of > 0 &&
        !result.checks.why_not.ends_with(result.brief_reason()))
        row("checks", result.checks.why_not);
    if (!explains) row("likely", likely_text(result));
    show_diagnostics(result, out);
    if (options.submission.empty() && prints(file))
        row("printf",
            "./rungs run " + chosen.short_name().substr(0, 2) + " shows what it prints; check does not");
    if (ours) return;
    std::string again = "./rungs check " + chosen.short_name();
    if (!options.submission.empty()) again += " --submission " + shell_word(options.submission.string());
    if (options.whose == judge::Whose::solution) again += " --solution";
    if (result.given || options.whose == judge::Whose::solution || !options.submission.empty()) {
        // In one line, however long: it is there to be copied.
        out.line("  next       " + out.paint(Style::bold, fmt::format("{} --backend {} --seed {}", again,
                                                                      name_of(options.backend.backend),
                                                                      seed_text(options.seed))));
    } else if (std::error_code unknown; !fs::exists(file, unknown)) {
        out.line("  next       " + out.paint(Style::bold, "./rungs reset " + chosen.short_name()) +
                 " restores the starter");
    } else {
        out.line("  next       " + out.paint(Style::bold, "./rungs hint " + chosen.short_name()) + ", then " +
                 out.paint(Style::bold, again));
    }
}

namespace {

/// Lines that no check case reached, but for those that say why in a comment: // unchecked: ...
std::string unreached_text(const Workbook& workbook, const RungReport& rung, const GradeOptions& options) {
    if (rung.result.checks.unchecked.empty()) return judge::unread_text(rung.result.checks);
    judge::ChecksResult others;
    others.unread = rung.result.checks.unread;
    const Chosen chosen = choose_rung(workbook, rung.result.chapter + "/" + rung.result.rung);
    try {
        others.unchecked =
            unexplained(rung.result.checks.unchecked,
                        read_file(source_of(workbook, chosen, options.whose, options.submission)));
    } catch (const std::runtime_error&) {  // the file is gone meanwhile
        others.unchecked = rung.result.checks.unchecked;
    }
    return judge::unchecked_text(others);
}

}  // namespace

void show_failures(const Workbook& workbook, const Report& report, const GradeOptions& options,
                   Terminal& out) {
    for (const RungReport& rung : report.rungs) {
        // A whole table that could not run has said why already.
        if (!rung.result.passed() && rung.result.verdict != Verdict::not_run) {
            show_details(workbook, rung, options, out);
            continue;
        }
        const std::string lost = lost_text(rung.result), unreached = unreached_text(workbook, rung, options);
        const bool slow = rung.result.verdict == judge::Verdict::slow, unchecked = is_unchecked(rung.result),
                   remarks = !rung.result.checks.findings.empty() || !rung.result.diagnostics.empty() ||
                             !unreached.empty() || unchecked;
        if (!slow && !remarks && lost.empty()) continue;
        out.line();
        out.line(out.paint(Style::bold, clean_utf8(rung.result.rung)) + "  " +
                 out.paint(style_of(rung.result), judge::name_of(rung.result.verdict)) +
                 (remarks ? ", with remarks" : ""));
        if (slow) out.line(out.wrapped(rung.result.reason(), 2));  // the table has room for half of it
        if (!lost.empty()) out.line(out.wrapped(lost, 2));
        show_findings(rung, out);
        if (unchecked) out.line(out.wrapped("not all of it was checked: " + rung.result.checks.why_not, 2));
        if (!unreached.empty()) out.line(out.wrapped(unreached, 2));
        // A comparison of int and size_t passes every case of this machine.
        show_diagnostics(rung.result, out);
    }
    if (!options.backend.cannot.empty())
        out.line(out.paint(Style::bad, options.backend.cannot) + "; without a GPU: --backend cpu");
}

}  // namespace rungs
