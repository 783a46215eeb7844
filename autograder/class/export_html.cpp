// Pages: one for each student, which tells nothing of anybody else, and one for the instructor.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "class/export.hpp"
#include "class/similarity.hpp"
#include "judge/result/findings.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace rungs::classroom {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::vector<std::string>>;

struct Look {
    const char* kind;  ///< class of colours
    const char* sign;
    const char* word;
};

/// The sign and the word carry the meaning, colours only repeat it.
Look look_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return {"pass", "\u2713", "passed"};
        case Outcome::failed:
            return {"fail", "\u2717", "not passed"};
        case Outcome::open:
            return {"look", "?", "not graded yet"};
        case Outcome::missing:
            break;
    }
    return {"none", "\u2013", "not handed in"};
}

std::string chip(const Look& look) {
    return fmt::format("<span class=\"chip {}\">{} {}</span>", look.kind, look.sign, look.word);
}

/// What became of a rung, and whether a human has said so.
std::string chip_of(const GradedRung* rung) {
    const std::string sign = chip(look_of(rung ? outcome_of(*rung) : Outcome::missing));
    return rung && rung->decision ? sign + "<small>decided</small>" : sign;
}

/// A name in its own direction of writing.
std::string bdi(const std::string& name) { return "<bdi>" + escape_html(clean_name(name)) + "</bdi>"; }

std::string name_of_student(const Person& person) {
    return bdi(person.name.empty() ? person.id : person.name);
}

void fact(std::string& html, const char* term, const std::string& value, const std::string& more) {
    html += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>", term, escape_html(value),
                        escape_html(more));
}

std::string late_text(const Attempt& attempt) {
    if (!attempt.minutes_late) return attempt.marked_late ? "late, by an unknown time" : "nobody knows when";
    if (*attempt.minutes_late <= 0) return "in time";
    const double minutes = std::ceil(*attempt.minutes_late);
    const std::string by = minutes < 120    ? fmt::format("{:.0f} min", minutes)
                           : minutes < 2880 ? fmt::format("{:.1f} h", minutes / 60)
                                            : fmt::format("{:.1f} days", minutes / 1440);
    return fmt::format("{} late, keeps {} %", by, points_text(100 * attempt.late_factor));
}

/// "2026-01-31 12:00 UTC"
std::string when_text(const std::optional<Time>& time) {
    if (!time) return "unknown";
    const std::string text = time_text(*time);
    return text.substr(0, 10) + " " + text.substr(11, 5) + " UTC";
}

std::string points_of(const GradedRung* rung, const AskedRung& asked) {
    const double max = rung ? rung->max_points : asked.max_points;
    if (!rung) return "0 / " + points_text(max);
    return (rung->points ? points_text(*rung->points) : "\u2013") + " / " + points_text(max);
}

/// Everything about a rung that its author may know.
std::string rung_details(const GradedRung& rung) {
    std::optional<judge::RungResult> result = rung.result();
    if (result) result = for_student(std::move(*result));
    std::string html = fmt::format(
        "<details{}><summary><b class=\"mono\">{}</b>{}<span class=\"dim\">{}</span></summary>"
        "<div class=\"inside\"><dl class=\"rows\">",
        outcome_of(rung) == Outcome::passed ? "" : " open",
        escape_html(rung.asked.short_name() + " " + rung.asked.rung.substr(3)), chip_of(&rung),
        escape_html(points_of(&rung, rung.asked)));
    row(html, "idea", rung.asked.idea);
    row(html, "kind", rung.asked.kind);
    row(html, "verdict", rung.told_verdict());
    row(html, "reason", for_student(rung.reason));
    if (rung.decision) row(html, "points", "set in a review");
    if (result) {
        add_correctness(html, *result);
        add_checks(html, result->checks);
        add_speed(html, *result);
    }
    html += "</dl>";
    if (result) {
        html += answers_section(*result) + findings_section(result->checks) + mismatches_section(*result);
        if (!result->diagnostics.empty())
            html += "<h3>Messages</h3><pre>" + escape_html(result->diagnostics) + "</pre>";
    }
    return html + "</div></details>";
}

/// One line for each rung that was asked for.
std::string rung_table(const Gradebook& book, const Attempt* attempt, Detail detail) {
    std::vector<Column> columns = {{"rung", "mono"}, {"result", ""}, {"points", "number"}};
    if (detail != Detail::points) {
        columns.push_back({"verdict", "mono"});
        columns.push_back({"reason", "reason"});
    }
    Cells rows;
    for (std::size_t i = 0; i < book.assignment.rungs.size(); ++i) {
        const AskedRung& asked = book.assignment.rungs[i];
        const GradedRung* const rung = attempt ? &attempt->rungs[i] : nullptr;
        std::vector<std::string> cells = {escape_html(asked.short_name() + " " + asked.rung.substr(3)),
                                          chip_of(rung), escape_html(points_of(rung, asked))};
        if (detail != Detail::points) {
            cells.push_back(escape_html(rung ? rung->told_verdict() : ""));
            cells.push_back(escape_html(rung ? (rung->decision ? "The points were set in a review. " : "") +
                                                   for_student(rung->reason)
                                             : ""));
        }
        rows.push_back(std::move(cells));
    }
    return table("Rungs", "Points before weights and lateness", columns, rows);
}

/// Chapters with their weights, and what lateness takes: only where the sum of the points is not the score.
std::string score_table(const Gradebook& book, const Student& student, const Attempt& attempt) {
    std::map<std::string, std::pair<double, double>> chapters;
    std::map<std::string, double> weighted;
    bool open = false;
    for (const GradedRung& rung : attempt.rungs) {
        weighted[rung.asked.chapter] += book.assignment.weighted(rung.asked, rung.points.value_or(0));
        chapters[rung.asked.chapter].first += rung.points.value_or(0);
        chapters[rung.asked.chapter].second += rung.asked.max_points;
        open = open || rung.open();
    }
    Cells rows;
    double sum = 0;
    for (const auto& [chapter, points] : chapters) {
        const double weight = book.assignment.weight_of(chapter), made = weighted[chapter];
        sum += made;
        rows.push_back({escape_html(chapter), points_text(points.first) + " / " + points_text(points.second),
                        factor_text(weight), points_text(made)});
    }
    rows.push_back({"sum", "", "", points_text(sum)});
    if (attempt.late_factor < 1)
        rows.push_back(
            {"lateness", "", factor_text(attempt.late_factor), points_text(attempt.late_factor * sum)});
    rows.push_back({"score", "", "", student.score ? points_text(*student.score) : "not yet"});
    return table("Score",
                 open ? "How the score comes about; rungs that are not graded yet are not in it"
                      : "How the score comes about",
                 {{"part", ""}, {"points", "number"}, {"times", "number"}, {"makes", "number"}}, rows);
}

std::string attempts_table(const Student& student) {
    Cells rows;
    for (std::size_t i = 0; i < student.attempts.size(); ++i) {
        const Attempt& attempt = student.attempts[i];
        rows.push_back({std::to_string(attempt.number), when_text(attempt.handed_in),
                        escape_html(late_text(attempt)),
                        attempt.score ? points_text(*attempt.score) : "not yet",
                        student.counted == i  ? "this one"
                        : attempt.withdrawn() ? "withdrawn"
                                              : ""});
    }
    return table("Attempts", "All attempts",
                 {{"attempt", "number"},
                  {"handed in", ""},
                  {"lateness", ""},
                  {"score", "number"},
                  {"which counts", ""}},
                 rows);
}

std::string score_of(const Student& student) {
    return student.score ? points_text(*student.score) : "\u2013";
}

std::string section(const char* heading, const std::string& content) {
    if (content.empty()) return {};
    return fmt::format("<section><h2>{}</h2>{}</section>\n", heading, content);
}

// --- the instructor's page ------------------------------------------------------------------------------

/// "students/ID.html" as a link's address.
std::string address_of(const Student& student) {
    std::string address = "students/";
    for (const char c : student.person.id) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '-' || c == '_' || c == '.';
        address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return address + ".html";
}

/// A name that leads to its page, with the id where that is something else.
std::string link_to(const Student& student) {
    std::string html =
        fmt::format("<a href=\"{}\">{}</a>", address_of(student), name_of_student(student.person));
    if (!student.person.name.empty())
        html += "<small>" + escape_html(clean_name(student.person.id)) + "</small>";
    return html;
}

std::vector<double> scores_of(const Gradebook& book) {
    std::vector<double> scores;
    for (const Student& student : book.students) {
        if (student.score && !student.missing()) scores.push_back(*student.score);
    }
    std::sort(scores.begin(), scores.end());
    return scores;
}

/// How many students have a score in each tenth of what could be had. `width` is in CSS pixels at full size:
/// there is one drawing for wide and one for narrow screens, so that text never shrinks much.
std::string distribution_svg(const Gradebook& book, const std::vector<int>& counts, double width,
                             const char* name) {
    const int most = *std::max_element(counts.begin(), counts.end());
    const auto bins = static_cast<double>(counts.size());
    const bool narrow = width < 500;
    const double height = 200, foot = 26, top = 22, gap = narrow ? 4 : 6;
    std::string bars, words;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto at = static_cast<double>(i);
        const double to = book.max_score * (at + 1) / bins;
        const double left = width * at / bins + gap / 2, wide = width / bins - gap;
        const double high = (height - foot - top) * counts[i] / most;
        bars +=
            fmt::format(R"(<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="3"/>)",
                        left, height - foot - high, wide, high);
        bars += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" font-size="14" text-anchor="middle">{}</text>)",
                            left + wide / 2, height - foot - high - 6, counts[i]);
        if (!narrow || i % 2 == 1) {
            bars += fmt::format(
                R"(<text class="dim" x="{:.1f}" y="{:.1f}" font-size="13" text-anchor="end">{}</text>)",
                left + wide + gap / 2, height - 7, number_text(to));
        }
        words += fmt::format("{} to {} points: {}. ", number_text(book.max_score * at / bins),
                             number_text(to), counts[i]);
    }
    return fmt::format(
        R"(<svg class="{0}" viewBox="0 0 {1:g} {2:g}" role="img" aria-labelledby="t{0} d{0}"><title id="t{0}">Scores)"
        R"(</title><desc id="d{0}">{3}</desc><line class="rail" x1="0" x2="{1:g}" y1="{4:g}" y2="{4:g}" )"
        R"(stroke-width="1"/>{5}</svg>)",
        name, width, height, escape_html(words), height - foot, bars);
}

std::string distribution(const Gradebook& book, const std::vector<double>& scores) {
    if (scores.empty() || book.max_score <= 0) return {};
    std::vector<int> counts(10);
    for (const double score : scores)
        ++counts[static_cast<std::size_t>(std::clamp(static_cast<int>(score / book.max_score * 10), 0, 9))];
    return "<figure>" + distribution_svg(book, counts, 860, "wide") +
           distribution_svg(book, counts, 320, "narrow") +
           fmt::format(
               "<figcaption>Students by score, in tenths of {} points; whoever handed nothing in is not "
               "among them.</figcaption></figure>",
               points_text(book.max_score));
}

std::string share_svg(double share) {
    return fmt::format(
        R"(<svg class="share" viewBox="0 0 88 8" aria-hidden="true"><rect class="track" width="88" )"
        R"(height="8" rx="4"/><rect class="bar" width="{:.1f}" height="8" rx="4"/></svg>)",
        88 * std::clamp(share, 0.0, 1.0));
}

/// Calls `use` with each rung of each attempt that counts.
template <class Use>
void each_rung(const Gradebook& book, Use use) {
    for (const Student& student : book.students) {
        if (const Attempt* const attempt = counted_attempt(student)) {
            for (const GradedRung& rung : attempt->rungs) use(student, rung);
        }
    }
}

std::string pass_rates(const Gradebook& book) {
    Cells rows;
    for (const AskedRung& asked : book.assignment.rungs) {
        int passed = 0, failed = 0, open = 0, missing = 0;
        double points = 0;
        std::map<std::string, int> verdicts;
        each_rung(book, [&](const Student&, const GradedRung& rung) {
            if (rung.asked.chapter != asked.chapter || rung.asked.rung != asked.rung) return;
            const Outcome outcome = outcome_of(rung);
            ++(outcome == Outcome::passed    ? passed
               : outcome == Outcome::failed  ? failed
               : outcome == Outcome::missing ? missing
                                             : open);
            points += rung.points.value_or(0);
            if (outcome == Outcome::failed && !rung.missing) ++verdicts[rung.verdict];
        });
        const int graded = passed + failed;
        const auto most = std::max_element(verdicts.begin(), verdicts.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        rows.push_back(
            {escape_html(asked.short_name() + " " + asked.rung.substr(3)),
             graded == 0 ? "\u2013"
                         : share_svg(static_cast<double>(passed) / graded) +
                               fmt::format("{:.0f} %", 100.0 * passed / graded),
             std::to_string(passed), std::to_string(failed), std::to_string(open), std::to_string(missing),
             graded == 0 ? "\u2013" : points_text(points / graded) + " / " + points_text(asked.max_points),
             most == verdicts.end() ? "" : escape_html(fmt::format("{} ({})", most->first, most->second))});
    }
    return table("Rungs",
                 "Pass rates and mean points of those that were handed in and graded, and what failed most",
                 {{"rung", "mono"},
                  {"pass", "number"},
                  {"passed", "number"},
                  {"not", "number"},
                  {"open", "number"},
                  {"missing", "number"},
                  {"mean", "number"},
                  {"failed most", ""}},
                 rows);
}

/// Why a rung has not passed, in words that another hand-in may share; empty: nobody knows.
std::string what_happened(const judge::RungResult& result) {
    if (result.causes.empty()) return "";
    const judge::Cause& cause = result.causes.front();
    if (!cause.likely.empty()) return for_student(cause.likely);
    if (by_finding(result)) {
        const judge::QuotedFinding& first = result.checks.findings.front();
        const simt::check::Place& place = first.side.place;
        const bool in_header = !place.file.empty() && place.file != result.rung + ".cu";
        return for_student(fmt::format("{} at {}{}{}", first.kind, in_header ? place.file + ":" : "line ",
                                       place.line, judge::caller_text(place)));
    }
    return first_line(for_student(cause.text), 120);
}

/// What the same has befallen several students.
std::string common_findings(const Gradebook& book) {
    std::map<std::vector<std::string>, std::set<std::string>> students;
    each_rung(book, [&](const Student& student, const GradedRung& rung) {
        if (rung.missing) return;
        const std::optional<judge::RungResult> result = rung.result();
        if (!result || outcome_of(rung) == Outcome::passed) return;
        const std::string name = rung.asked.short_name() + " " + rung.asked.rung.substr(3);
        const std::string what = what_happened(*result);
        if (!what.empty()) students[{name, rung.verdict, what}].insert(student.person.id);
    });
    std::vector<std::pair<std::size_t, std::vector<std::string>>> order;
    for (const auto& [what, who] : students) order.emplace_back(who.size(), what);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    constexpr std::size_t most = 20;
    Cells rows;
    for (std::size_t i = 0; i < order.size() && i < most; ++i) {
        rows.push_back({escape_html(order[i].second[0]), std::to_string(order[i].first),
                        escape_html(order[i].second[1]), escape_html(order[i].second[2])});
    }
    if (rows.empty()) return {};
    return table("Common findings",
                 fmt::format("The {} most common reasons, of {}", rows.size(), order.size()),
                 {{"rung", "mono"}, {"students", "number"}, {"verdict", "mono"}, {"what", "reason"}}, rows);
}

/// Open rungs whose status is `status`: a human's to look at, or ours.
std::string open_rungs(const Gradebook& book, const char* status, const char* label, const char* caption) {
    Cells rows;
    each_rung(book, [&](const Student& student, const GradedRung& rung) {
        // Of a hand-in that was refused there is nothing to check.
        if (!rung.open() || rung.status != status || !counted_attempt(student)->refused.empty()) return;
        rows.push_back({link_to(student),
                        escape_html(rung.asked.short_name() + " " + rung.asked.rung.substr(3)),
                        escape_html(rung.verdict), escape_html(rung.reason)});
    });
    if (rows.empty()) return {};
    return table(label, caption,
                 {{"student", "wrap"}, {"rung", "mono"}, {"verdict", "mono"}, {"reason", "reason"}}, rows);
}

/// What a decision was made on, where that has changed since.
std::string stale_note(const GradedRung& rung) {
    if (!rung.stale) return {};
    const Decision& decision = *rung.decision;
    return "<small>" +
           escape_html(fmt::format(
               "decided on an older verdict: then {}, {} / {}; now {}, {} / {}", decision.verdict,
               decision.judged ? points_text(*decision.judged) : "\u2013", points_text(decision.max_points),
               rung.verdict, rung.judged ? points_text(*rung.judged) : "\u2013",
               points_text(rung.max_points))) +
           "</small>";
}

std::string decisions(const Gradebook& book) {
    Cells rows;
    each_rung(book, [&](const Student& student, const GradedRung& rung) {
        if (!rung.decision) return;
        rows.push_back({link_to(student),
                        escape_html(rung.asked.short_name() + " " + rung.asked.rung.substr(3)),
                        escape_html(rung.told_verdict()),
                        fmt::format("{} \u2192 {}", rung.judged ? points_text(*rung.judged) : "\u2013",
                                    points_text(rung.decision->points)),
                        escape_html(rung.decision->because) + stale_note(rung),
                        escape_html(clean_name(rung.decision->by)) + "<small>" +
                            escape_html(rung.decision->when) + "</small>"});
    });
    if (rows.empty()) return {};
    return table("Decisions", "What was decided in a review",
                 {{"student", "wrap"},
                  {"rung", "mono"},
                  {"verdict", "mono"},
                  {"points", "number"},
                  {"because", "reason"},
                  {"by", ""}},
                 rows);
}

/// Students in a table of one column more, by a sentence about each; those with an empty one are left out.
template <class Say>
std::string students_who(const Gradebook& book, const char* label, const char* caption, const char* heading,
                         Say say) {
    Cells rows;
    for (const Student& student : book.students) {
        const std::string words = say(student);
        if (!words.empty()) rows.push_back({link_to(student), escape_html(words)});
    }
    if (rows.empty()) return {};
    return table(label, caption, {{"student", "wrap"}, {heading, "reason"}}, rows);
}

std::string all_students(const Gradebook& book) {
    Cells rows;
    for (const Student& student : book.students) {
        const Attempt* const attempt = counted_attempt(student);
        int passed = 0;
        if (attempt) {
            passed = static_cast<int>(
                std::count_if(attempt->rungs.begin(), attempt->rungs.end(),
                              [](const GradedRung& rung) { return outcome_of(rung) == Outcome::passed; }));
        }
        const std::string state = state_of(student);
        const char* const kind = state == "graded"    ? "pass"
                                 : state == "missing" ? "none"
                                 : state == "refused" ? "fail"
                                                      : "look";
        const char* const sign = state == "graded"    ? "\u2713"
                                 : state == "missing" ? "\u2013"
                                 : state == "refused" ? "\u2717"
                                                      : "?";
        rows.push_back({link_to(student),
                        fmt::format("<span class=\"chip {}\">{} {}</span>", kind, sign, state),
                        escape_html(attempt ? late_text(*attempt) : ""),
                        fmt::format("{} / {}", passed, book.assignment.rungs.size()), score_of(student)});
    }
    return table(
        "Students", fmt::format("Everybody, of {} points", points_text(book.max_score)),
        {{"student", "wrap"}, {"state", ""}, {"lateness", ""}, {"rungs", "number"}, {"score", "number"}},
        rows);
}

/// Pairs of hand-ins that share much, of all rungs. Names are links, as everywhere on this page.
std::string similar_hand_ins(const Gradebook& book, const Json& similar) {
    if (similar.is_null()) return {};
    std::map<std::string, const Student*> students;
    for (const Student& student : book.students) students[student.person.id] = &student;
    const auto name = [&](const std::string& id) {
        const auto found = students.find(id);
        return found == students.end() ? bdi(id) : link_to(*found->second);
    };
    const auto percent = [](const Json& share) { return fmt::format("{} %", share.get<int>()); };
    Cells rows;
    try {
        for (const Json& rung : similar.at("rungs")) {
            const std::string asked = rung.at("rung");
            const std::string heading =
                escape_html(rung.at("chapter").get<std::string>().substr(0, 2) + "/" + asked.substr(0, 2));
            const Json& usual = rung.at("usual");
            const std::string words = percent(usual.at("words")), structure = percent(usual.at("structure"));
            for (const Json& equal : rung.at("equal")) {
                std::string names;
                for (const Json& one : equal) names += "<div>" + name(one) + "</div>";
                rows.push_back({heading, names, "the same text", "", "", ""});
            }
            for (const Json& pair : rung.at("pairs")) {
                std::vector<AlikeLines> lines;
                for (const Json& one : pair.at("lines"))
                    lines.push_back({one.at(0), one.at(1), one.at(2), one.at(3)});
                const Json& other = pair.at("other");
                rows.push_back({heading, name(pair.at("student")),
                                other.is_null() ? "the solution" : name(other),
                                percent(pair.at("words")) + "<small>usual " + words + "</small>",
                                percent(pair.at("structure")) + "<small>usual " + structure + "</small>",
                                escape_html(lines_text(lines))});
            }
        }
    } catch (const Json::exception&) {
        throw ClassError(
            "similarity.json is not what rungs has written: ./rungs review --similar writes it again");
    }
    if (rows.empty()) return {};
    return table("Alike",
                 "Hand-ins that share more than is usual, without the starter's text: evidence for a talk, "
                 "not a verdict. Lines are those of both files",
                 {{"rung", "mono"},
                  {"student", "wrap"},
                  {"and", "wrap"},
                  {"words", "number"},
                  {"structure", "number"},
                  {"lines", "reason"}},
                 rows);
}

std::string lines_of(const std::vector<std::string>& lines) {
    if (lines.empty()) return {};
    std::string html = "<div class=\"panel\"><ul>";
    for (const std::string& line : lines) html += "<li>" + escape_html(line) + "</li>";
    return html + "</ul></div>";
}

}  // namespace

std::string student_page(const Gradebook& book, const Student& student, Detail detail,
                         const std::string& version) {
    const Attempt* const attempt = counted_attempt(student);
    const std::string name = student.person.name.empty() ? student.person.id : student.person.name;
    std::string html = page_head(title_of(book) + ", " + clean_name(name), version);
    html += "<h1>" + escape_html(title_of(book)) + "</h1><p class=\"lede\">" + bdi(name);
    html += !attempt                                      ? ": nothing was handed in."
            : !attempt->refused.empty() && !student.score ? ": the hand-in could not be taken."
            : !student.score ? ": not everything is graded yet, so there is no score."
                             : ": everything is graded.";
    html += "</p><dl class=\"facts\">";
    fact(html, "score", score_of(student) + " / " + points_text(book.max_score),
         student.score ? "weights and lateness included" : "none while a rung is not graded");
    std::size_t passed = 0;
    for (std::size_t i = 0; attempt && i < attempt->rungs.size(); ++i)
        passed += outcome_of(attempt->rungs[i]) == Outcome::passed;
    fact(html, "rungs passed", fmt::format("{} / {}", passed, book.assignment.rungs.size()), "");
    if (attempt) {
        fact(html, "attempt", fmt::format("{} / {}", attempt->number, student.attempts.size()),
             "the one that counts");
        fact(html, "handed in", attempt->handed_in ? time_text(*attempt->handed_in).substr(0, 10) : "\u2013",
             (attempt->handed_in ? time_text(*attempt->handed_in).substr(11, 5) + " UTC, " : "") +
                 late_text(*attempt));
    }
    html += "</dl></header>\n<main>\n";
    if (attempt && !attempt->refused.empty())
        html += section("Refused", "<div class=\"panel\"><p>" + escape_html(for_student(attempt->refused)) +
                                       "</p></div>");
    html += section("Rungs", rung_table(book, attempt, detail));
    if (attempt) {
        if (detail == Detail::all) {
            std::string rungs;
            for (const GradedRung& rung : attempt->rungs) rungs += rung_details(rung);
            html += section("Rung by rung", rungs);
        }
        if (!book.assignment.weights.empty() || attempt->late_factor < 1 || book.assignment.round_to > 0)
            html += section("Score", score_table(book, student, *attempt));
        if (student.attempts.size() > 1) html += section("Attempts", attempts_table(student));
    }
    return html + page_foot(version);
}

std::string class_page(const Gradebook& book, const std::string& version, const Json& similar) {
    const std::vector<double> scores = scores_of(book);
    const std::size_t count = book.students.size();
    const auto missing =
        static_cast<std::size_t>(std::count_if(book.students.begin(), book.students.end(),
                                               [](const Student& student) { return student.missing(); }));
    std::string html = page_head(title_of(book) + ", the class", version);
    html += "<h1>" + escape_html(title_of(book)) + "</h1><p class=\"lede\">" +
            escape_html(fmt::format("{}, {}, {} points, on the {} backend.", count_text(count, "student"),
                                    count_text(book.assignment.rungs.size(), "rung"),
                                    points_text(book.max_score), name_of(book.assignment.backend))) +
            "</p><dl class=\"facts\">";
    fact(html, "graded", fmt::format("{} / {}", scores.size(), count), "have handed in and have a score");
    fact(html, "not graded yet", std::to_string(open_count(book)), "have no score");
    fact(html, "missing", std::to_string(missing), "have handed nothing in");
    if (!scores.empty()) {
        double sum = 0;
        for (const double score : scores) sum += score;
        const std::size_t half = scores.size() / 2;
        const double median = scores.size() % 2 ? scores[half] : (scores[half - 1] + scores[half]) / 2;
        fact(html, "median score", points_text(median),
             fmt::format("mean {}, from {} to {}", points_text(sum / static_cast<double>(scores.size())),
                         points_text(scores.front()), points_text(scores.back())));
    }
    html += "</dl></header>\n<main>\n";
    html += section("Scores", distribution(book, scores));
    html += section("Rungs", pass_rates(book));
    html += section("To look at",
                    open_rungs(book, "review", "To look at",
                               "Outputs are right, or times vary: ./rungs review takes a decision"));
    html +=
        section("Could not be checked",
                open_rungs(book, "not_checked", "Could not be checked",
                           "This machine's or the grader's fault, neither a pass nor a zero: grade again"));
    html += section("Common findings", common_findings(book));
    html += section("Alike", similar_hand_ins(book, similar));
    html += section("Decisions", decisions(book));
    html += section(
        "Missing", students_who(book, "Missing", "Nothing was handed in", "address", [](const Student& one) {
            return !one.missing() ? "" : one.person.email.empty() ? "unknown" : clean_name(one.person.email);
        }));
    html += section("Refused", students_who(book, "Refused", "Hand-ins that could not be taken", "reason",
                                            [](const Student& one) {
                                                const Attempt* const attempt = counted_attempt(one);
                                                return attempt ? attempt->refused : std::string();
                                            }));
    html += section(
        "Late", students_who(
                    book, "Late", "Attempts that count and came late", "by how much", [](const Student& one) {
                        const Attempt* const attempt = counted_attempt(one);
                        const bool late =
                            attempt && (attempt->marked_late || attempt->minutes_late.value_or(0) > 0);
                        return late ? late_text(*attempt) : std::string();
                    }));
    html += section("Not on the roster",
                    students_who(book, "Not on the roster", "Hand-ins that match no one on the roster",
                                 "address", [](const Student& one) {
                                     return one.person.known           ? ""
                                            : one.person.email.empty() ? "unknown"
                                                                       : clean_name(one.person.email);
                                 }));
    html += section("Intake", lines_of(book.assignment.problems));
    html += section("Students", all_students(book));
    return html + page_foot(version);
}

}  // namespace rungs::classroom
