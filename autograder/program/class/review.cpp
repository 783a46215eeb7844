// rungs review and replay: what a human has to decide of a class, and a verdict shown once more.
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/changes.hpp"
#include "class/export.hpp"
#include "class/ledger.hpp"
#include "class/sharing.hpp"
#include "class/similarity.hpp"
#include "class/times.hpp"
#include "judge/apart.hpp"
#include "judge/build/hash.hpp"
#include "judge/judge.hpp"
#include "judge/result/findings.hpp"
#include "judge/result/points.hpp"
#include "program/class/classes.hpp"
#include "program/interrupt.hpp"
#include "program/show.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

#ifndef RUNGS_VERSION
#define RUNGS_VERSION "0"
#endif

namespace rungs {
namespace {

namespace fs = std::filesystem;
using namespace classroom;

const Student& student_of(const Gradebook& book, const std::string& id) {
    std::vector<std::string> ids;
    for (const Student& student : book.students) {
        if (student.person.id == id) return student;
        ids.push_back(student.person.id);
    }
    std::string text = fmt::format("this class has no student '{}'", clean_name(id));
    const std::vector<std::string> near = nearest(id, ids);
    for (std::size_t i = 0; i < near.size(); ++i) text += (i == 0 ? "; did you mean " : " or ") + near[i];
    if (!near.empty()) text += "?";
    throw UsageError(text);
}

/// The attempt with that number, else the one that counts.
const Attempt& attempt_of(const Student& student, int number) {
    if (student.attempts.empty()) throw UsageError(student.person.id + " has no hand-in");
    if (number == 0 && !student.counted)
        throw UsageError(student.person.id + " has no hand-in that counts; choose one with --attempt");
    if (number == 0) return student.attempts[*student.counted];
    for (const Attempt& attempt : student.attempts) {
        if (attempt.number == number) return attempt;
    }
    throw UsageError(fmt::format("{} has no attempt {}; there are {}", student.person.id, number,
                                 student.attempts.size()));
}

const GradedRung& rung_of(const Attempt& attempt, const std::string& name) {
    for (const GradedRung& rung : attempt.rungs) {
        if (rung.asked.short_name() == name || rung.asked.chapter + "/" + rung.asked.rung == name)
            return rung;
    }
    throw UsageError(fmt::format("the assignment has no rung '{}'", clean_name(name)));
}

/// The rung that is called `name`, or, by "all", those that have no points yet.
std::vector<const GradedRung*> rungs_of(const Student& student, const Attempt& attempt,
                                        const std::string& name) {
    if (name != "all") return {&rung_of(attempt, name)};
    std::vector<const GradedRung*> rungs;
    for (const GradedRung& rung : attempt.rungs) {
        if (rung.open()) rungs.push_back(&rung);
    }
    if (rungs.empty())
        throw UsageError(fmt::format("every rung of {} already has points; name the one to decide about",
                                     student.person.id));
    return rungs;
}

std::string points_of(const std::optional<double>& points, double max_points) {
    return points ? fmt::format("{} of {}", points_text(*points), points_text(max_points)) : "no points yet";
}

std::string user_name() {
    const passwd* const user = getpwuid(geteuid());
    return user ? clean_name(user->pw_name) : std::to_string(geteuid());
}

/// The hand-in's file of a rung.
fs::path source_in(const fs::path& out, const Student& student, const Attempt& attempt,
                   const GradedRung& graded) {
    if (!graded.source.empty()) return graded.source;
    return out / "hand-ins" / student.person.id / std::to_string(attempt.number) / graded.asked.chapter /
           graded.asked.file();
}

/// Files that are perhaps a rung's, and how to take one.
void show_alike(const fs::path& folder, const Student& student, const Attempt& attempt,
                const GradedRung& rung, Terminal& out) {
    for (const AlikeFile& file : rung.alike) {
        out.line("    may be meant as this rung: " +
                 (file.file.empty() ? file.name + ", which was not read" : file.file.string()));
        if (file.file.empty()) continue;
        out.line(out.paint(
            Style::dim, fmt::format("      ./rungs review {} {} {} --attempt {} --take {} --because \"...\"",
                                    shell_word(clean_name(folder.string())), shell_word(student.person.id),
                                    rung.asked.short_name(), attempt.number, shell_word(file.name))));
    }
}

/// What a human needs to decide: verdict, reason, findings, the reference's fate, the file.
void show_evidence(const fs::path& folder, const Student& student, const Attempt& attempt,
                   const GradedRung& rung, Terminal& out) {
    const int width = std::max(out.width(), 100);
    const std::string who = fmt::format("{} {}", student.person.id, rung.asked.short_name());
    out.line(out.paint(Style::bold, who) + fmt::format("  {}  {}  attempt {}", rung.told_verdict(),
                                                       points_of(rung.points, rung.max_points),
                                                       attempt.number));
    if (!rung.reason.empty()) out.line("    " + out.cut(rung.reason, width - 4));
    if (const std::optional<judge::RungResult> result = rung.result()) {
        const judge::ChecksResult& checks = result->checks;
        if (!checks.done && !checks.why_not.empty())
            out.line("    checks: " + out.cut(checks.why_not, width - 12));
        for (const judge::QuotedFinding& finding : checks.findings) {
            const simt::check::Place& place = finding.side.place;
            out.line("    " + out.cut(fmt::format("{}:{}{}: {}", place.file, place.line,
                                                  judge::caller_text(place), finding.message),
                                      width - 4));
        }
        for (const std::string& line : table_of_times(*result)) out.line("    " + line);
        const nlohmann::ordered_json record = rung.record();
        const auto& canary = record.at("canary");
        if (const std::string reference = canary.at("reference"); !reference.empty())
            out.line(fmt::format("    judged {} times; the reference in the same place: {}",
                                 canary.at("tries").get<int>(), reference));
    }
    if (!rung.source.empty()) out.line("    " + rung.source.string());
    if (rung.take)
        out.line(fmt::format("    '{}' was taken as the rung's by {} on {}: {}", rung.take->name,
                             rung.take->by, rung.take->when, rung.take->because));
    if (rung.is_unclear()) show_alike(folder, student, attempt, rung, out);
    if (rung.decision) {
        out.line(fmt::format("    decided by {} on {}: {}", rung.decision->by, rung.decision->when,
                             rung.decision->because));
    }
    if (rung.stale) {
        out.line(out.paint(
            Style::warn,
            fmt::format("    decided on an older verdict: then {}, {}; now {}, {}; decide again",
                        rung.decision->verdict, points_of(rung.decision->judged, rung.decision->max_points),
                        rung.verdict, points_of(rung.judged, rung.max_points))));
    }
}

/// Lists all that is open or decided. @returns how many things are open
std::size_t list_open(const fs::path& folder, const Gradebook& book, bool decided, Terminal& out) {
    std::size_t open = 0;
    for (const Student& student : book.students) {
        for (const std::size_t i : that_may_count(book.assignment, student)) {
            const Attempt& attempt = student.attempts[i];
            if (!attempt.refused.empty() && std::any_of(attempt.rungs.begin(), attempt.rungs.end(),
                                                        [](const auto& rung) { return rung.open(); })) {
                ++open;
                out.line(out.paint(Style::bold, student.person.id) +
                         fmt::format("  the hand-in {} was refused: {}", attempt.origin, attempt.refused));
                for (const GradedRung& rung : attempt.rungs) {
                    if (rung.take) show_evidence(folder, student, attempt, rung, out);
                    if (rung.is_unclear()) show_alike(folder, student, attempt, rung, out);
                }
                continue;
            }
            if (attempt.marked_late && !attempt.minutes_late) {
                ++open;
                out.line(
                    out.paint(Style::bold, student.person.id) +
                    fmt::format("  {} marks {} as late but gives no time: put the time into the roster's "
                                "column handed_in",
                                attempt.from, attempt.origin));
            }
            for (const GradedRung& rung : attempt.rungs) {
                const bool look = rung.open() || rung.stale || (rung.unchecked && !rung.decision);
                if (!look && !rung.decision && !rung.unreached.empty()) {
                    // Nothing has to be decided: run mode may never come there either.
                    judge::ChecksResult checks;
                    checks.unchecked = rung.unreached;
                    out.line(out.paint(Style::bold, student.person.id + " " + rung.asked.short_name()) +
                             "  passed; " + judge::unchecked_text(checks));
                }
                if (!look && !(decided && rung.decision)) continue;
                open += look;
                show_evidence(folder, student, attempt, rung, out);
            }
        }
    }
    return open;
}

/// Lists the hand-ins that were withdrawn.
void list_withdrawn(const Gradebook& book, Terminal& out) {
    for (const Student& student : book.students) {
        for (const Attempt& attempt : student.attempts) {
            if (!attempt.withdrawn()) continue;
            out.line(out.paint(Style::bold, student.person.id) +
                     fmt::format("  attempt {} ({}) does not count: withdrawn by {} on {}: {}",
                                 attempt.number, attempt.origin, attempt.withdrawal->by,
                                 attempt.withdrawal->when, attempt.withdrawal->because));
        }
    }
}

/// Withdraws hand-ins of a student, or takes that back. `which`: the number of an attempt, or "all".
int withdraw(const fs::path& folder, const ReviewOptions& options, Terminal& out) {
    const bool withdrawn = !options.withdraw.empty();
    const std::string& which = withdrawn ? options.withdraw : options.restore;
    const char* const verb = withdrawn ? "--withdraw" : "--restore";
    if (options.student.empty()) throw UsageError(fmt::format("{} needs a student", verb));
    if (!options.rung.empty() || options.points || !options.take.empty() || options.attempt != 0 ||
        (withdrawn && !options.restore.empty()))
        throw UsageError(
            fmt::format("{} is for a whole hand-in: give a student, {} N or all, and --because", verb, verb));
    if (trimmed(options.because).empty()) throw UsageError("give a reason: --because \"...\"");
    std::optional<DecisionLock> lock;
    std::error_code unknown;
    if (fs::exists(folder / "assignment.json", unknown)) lock.emplace(folder);
    const Gradebook book = read_gradebook(folder);
    const Student& student = student_of(book, options.student);
    std::vector<const Attempt*> attempts;
    for (const Attempt& attempt : student.attempts) {
        if ((which == "all" && attempt.withdrawn() != withdrawn) || which == std::to_string(attempt.number))
            attempts.push_back(&attempt);
    }
    if (attempts.empty())
        throw UsageError(fmt::format("{} {}: {} has no such hand-in{}; there are {}", verb, clean_name(which),
                                     student.person.id,
                                     which != "all" ? ""
                                     : withdrawn    ? " that counts"
                                                    : " that was withdrawn",
                                     student.attempts.size()));
    const Withdrawal decision{withdrawn, clean_utf8(options.because), user_name(), now_text()};
    for (const Attempt* attempt : attempts) {
        if (attempt->withdrawn() == withdrawn)
            throw UsageError(fmt::format("attempt {} of {} {}", attempt->number, student.person.id,
                                         withdrawn ? "was already withdrawn" : "already counts"));
        put_withdrawal(folder, student.person.id, attempt->number, decision);
        out.line(fmt::format("{}: attempt {} ({}) {}", student.person.id, attempt->number, attempt->origin,
                             withdrawn ? "is withdrawn; nothing is deleted" : "may count again"));
    }
    const Gradebook after = read_gradebook(folder);
    const Student& now = student_of(after, options.student);
    if (!now.counted) {
        out.line("no hand-in counts now: the student is missing, with 0 points");
        return 0;
    }
    const Attempt& counts = now.attempts[*now.counted];
    const bool judged = std::none_of(counts.rungs.begin(), counts.rungs.end(),
                                     [](const GradedRung& rung) { return rung.file.empty() && rung.open(); });
    out.line(fmt::format("attempt {} counts now{}", counts.number,
                         judged || !counts.refused.empty() ? "" : "; ./rungs grade judges it"));
    return 0;
}

/// Lists decisions about attempts that cannot come to count any more.
void list_void(const Gradebook& book, Terminal& out) {
    for (const Student& student : book.students) {
        const std::vector<std::size_t> counting = that_may_count(book.assignment, student);
        for (std::size_t i = 0; i < student.attempts.size(); ++i) {
            if (std::find(counting.begin(), counting.end(), i) != counting.end()) continue;
            for (const GradedRung& rung : student.attempts[i].rungs) {
                if (!rung.decision) continue;
                out.line(out.paint(Style::bold, student.person.id + " " + rung.asked.short_name()) +
                         fmt::format(
                             "  no longer applies, as attempt {} does not count: {}, decided by {} on {}: {}",
                             student.attempts[i].number, points_of(rung.points, rung.max_points),
                             rung.decision->by, rung.decision->when, rung.decision->because));
            }
        }
    }
}

/// Compares all hand-ins, shows what is alike, and keeps it for `export`.
int show_similar(const fs::path& folder, Terminal& out) {
    const Gradebook book = read_gradebook(folder);
    Workbook workbook = open_workbook();
    use_cache_in(folder, workbook.toolchain);
    const std::vector<RungSimilarity> rungs =
        find_similar(book, workbook.toolchain, &stop_requested(), [&](const AskedRung& rung) {
            out.line(out.paint(Style::dim, "comparing " + rung.short_name() + " ..."));
        });
    const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
    for (const RungSimilarity& rung : rungs) {
        out.line(out.paint(Style::bold, rung.asked.short_name()) +
                 fmt::format(
                     "  {} hand-ins compared, {} with almost no code of their own; a usual pair shares {} of "
                     "the words and {} of the structure",
                     rung.hand_ins, rung.untouched, percent(rung.usual_words),
                     percent(rung.usual_structure)));
        for (const std::vector<std::string>& equal : rung.equal)
            out.line(fmt::format("    the same text: {}", fmt::join(equal, ", ")));
        for (const AlikePair& pair : rung.pairs) {
            out.line(fmt::format("    {} and {}: words {}, structure {}", pair.student,
                                 pair.other.empty() ? "the solution" : pair.other, percent(pair.words),
                                 percent(pair.structure)));
            if (!pair.lines.empty())
                out.line(out.paint(Style::dim, "        lines " + lines_text(pair.lines)));
        }
        if (rung.more > 0) out.line(fmt::format("    and {} more pairs", rung.more));
    }
    const fs::path file = folder / "similarity.json";
    write_file(file, to_json(rungs).dump(2) + '\n');
    out.line("this is evidence, not a verdict: short exercises have few correct answers");
    out.line("written: " + out.paint(Style::link, file.string()));
    return 0;
}

/// Takes a file that a student has handed in under another name for a rung.
int take_file(const ReviewOptions& options, const Student& student, const Attempt& attempt,
              const GradedRung& rung, Terminal& out) {
    std::vector<std::string> names;
    for (const AlikeFile& file : rung.alike) {
        names.push_back(file.name);
        if (file.name != options.take) continue;
        if (file.file.empty())
            throw UsageError(
                fmt::format("'{}' was not read when it was taken in: unpack or rename it in CLASS and "
                            "grade again, or decide by --points",
                            clean_name(file.name)));
        put_take(options.folder, {student.person.id, attempt.number, rung.asked, file.bytes},
                 {0, file.name, clean_utf8(options.because), user_name(), now_text()});
        out.line(fmt::format("{} {}: '{}' is now its file; the next ./rungs grade judges it",
                             student.person.id, rung.asked.short_name(), file.name));
        return 0;
    }
    throw UsageError(fmt::format("--take {}: {}", clean_name(options.take),
                                 names.empty()
                                     ? "no file of this hand-in may be meant as " + rung.asked.short_name()
                                     : fmt::format("files that may be meant as {}: {}",
                                                   rung.asked.short_name(), fmt::join(names, ", "))));
}

}  // namespace

Presence presence_of(const Gradebook& book) {
    Presence presence;
    presence.listed = book.assignment.people.size();
    presence.has_roster = presence.listed > 0;
    for (const Student& student : book.students) {
        if (student.missing()) continue;
        ++(presence.has_roster && !student.person.known ? presence.unknown : presence.found);
    }
    return presence;
}

void show_changes(const std::vector<Change>& changes, const std::string& out_folder, Terminal& out,
                  bool all) {
    constexpr std::size_t most = 20;
    if (changes.empty()) return;
    std::size_t gained = 0, lost = 0;
    for (const Change& change : changes) {
        const double gain = change.gain().value_or(0);
        gained += gain > 0;
        lost += gain < 0;
    }
    out.line(out.paint(Style::bold, fmt::format("{} changed: {} gained points, {} lost points",
                                                count_text(changes.size(), "rung"), gained, lost)));
    for (std::size_t i = 0; i < changes.size() && (all || i < most); ++i) {
        const Change& change = changes[i];
        std::string line =
            fmt::format("  {} {}  {} -> {}  ({}", change.student, change.short_name(),
                        points_of(change.before.points, change.before.max_points),
                        points_of(change.now.points, change.now.max_points), change.before.verdict);
        line += change.before.verdict == change.now.verdict ? ")" : ", now " + change.now.verdict + ")";
        if (change.decided)
            line += fmt::format("; decided: {}, which still counts", number_text(*change.decided));
        out.line(line);
    }
    if (!all)
        out.line(fmt::format("  {}./rungs review {} --changes lists all",
                             changes.size() > most ? fmt::format("and {} more; ", changes.size() - most) : "",
                             shell_word(clean_name(out_folder))));
}

void show_class(const Gradebook& book, const std::string& out_folder, Terminal& out) {
    std::size_t graded = 0, open = 0, missing = 0, unknown = 0, stale = 0;
    for (const Student& student : book.students) {
        for (const std::size_t i : that_may_count(book.assignment, student)) {
            const std::vector<GradedRung>& rungs = student.attempts[i].rungs;
            stale += static_cast<std::size_t>(
                std::count_if(rungs.begin(), rungs.end(), [](const GradedRung& rung) { return rung.stale; }));
        }
        missing += student.missing();
        graded += !student.missing() && student.score;
        open += !student.score;
        unknown += !student.person.known;
    }
    out.line(fmt::format("{}: {} graded, {} open, {} missing{}", count_text(book.students.size(), "student"),
                         graded, open, missing,
                         unknown > 0 ? fmt::format(", {} not on the roster", unknown) : ""));
    const std::string folder = shell_word(clean_name(out_folder));
    const Presence presence = presence_of(book);
    if (presence.is_suspicious()) {
        out.line(
            out.paint(Style::warn,
                      fmt::format("most hand-ins ({} of {}) match no one on the roster; add the columns that "
                                  "identify them, or their students count as missing",
                                  presence.unknown, presence.unknown + presence.found)));
    } else if (presence.is_thin()) {
        out.line(out.paint(Style::warn, fmt::format("only {} of the {} students on the roster have a hand-in",
                                                    presence.found, presence.listed)));
    }
    if (stale > 0)
        out.line(out.paint(
            Style::warn,
            fmt::format("{} made on an older verdict: ./rungs review {}",
                        stale == 1 ? "1 decision was" : fmt::format("{} decisions were", stale), folder)));
    if (open > 0) out.line(fmt::format("open rungs need a human decision: ./rungs review {}", folder));
    out.line(fmt::format("grades: ./rungs export {} --to table", folder));
}

int review(const ReviewOptions& options, Terminal& out) {
    const fs::path folder = options.folder;
    follow_sharing(folder);
    if (!options.withdraw.empty() || !options.restore.empty()) return withdraw(folder, options, out);
    if (options.changes) {
        if (!options.student.empty()) throw UsageError("--changes lists all changes; it takes no student");
        read_gradebook(folder);
        for (const ChangedRun& run : read_changes(folder)) {
            out.line(run.when);
            show_changes(run.changes, options.folder, out, true);
        }
        return 0;
    }
    if (options.similar) {
        if (!options.student.empty())
            throw UsageError("--similar compares all hand-ins; it takes no student");
        return show_similar(fs::absolute(folder), out);
    }
    if (options.student.empty()) {
        const Gradebook book = read_gradebook(folder);
        for (const std::string& problem : book.assignment.problems) out.line(out.paint(Style::warn, problem));
        const std::size_t open = list_open(folder, book, options.decided, out);
        list_withdrawn(book, out);
        if (options.decided) list_void(book, out);
        out.line(
            open == 0
                ? "nothing is open"
                : fmt::format(
                      "{} open; decide with: ./rungs review DIR STUDENT RUNG --points N --because \"...\"",
                      open));
        return open == 0 ? 0 : 3;
    }
    if (options.rung.empty())
        throw UsageError("which rung of " + clean_name(options.student) +
                         "? Name one, such as 01/03, or all: every rung without points");
    const bool takes = !options.take.empty(), decides = options.points || takes;
    if (takes && (options.points || options.rung == "all"))
        throw UsageError("--take sets the file of one rung; its points follow when it is graded");
    std::optional<DecisionLock> lock;
    std::error_code unknown;
    // Where there is no class, the gradebook says so.
    if (decides && fs::exists(folder / "assignment.json", unknown)) lock.emplace(folder);
    const Gradebook book = read_gradebook(folder);
    const Student& student = student_of(book, options.student);
    const Attempt& attempt = attempt_of(student, options.attempt);
    const std::vector<const GradedRung*> rungs = rungs_of(student, attempt, options.rung);
    if (!decides) {
        if (!options.because.empty())
            throw UsageError("--because is the reason for a decision: also give --points or --take");
        for (const GradedRung* rung : rungs) show_evidence(folder, student, attempt, *rung, out);
        return rungs.front()->open() ? 3 : 0;
    }
    if (trimmed(options.because).empty()) throw UsageError("give a reason: --because \"...\"");
    if (takes) return take_file(options, student, attempt, *rungs.front(), out);
    // All of them before the first decision is kept.
    for (const GradedRung* rung : rungs) {
        if (!(*options.points >= 0 && *options.points <= rung->max_points))
            throw UsageError(fmt::format("--points: {} has from 0 to {}", rung->asked.short_name(),
                                         points_text(rung->max_points)));
    }
    if (std::abs(*options.points - judge::hundredths(*options.points)) > 1e-9)
        throw UsageError("--points: points have at most two decimals, as in 3.25");
    Decision decision;
    decision.points = *options.points;
    decision.because = clean_utf8(options.because);
    decision.by = user_name();
    decision.when = now_text();
    for (const GradedRung* rung : rungs) {
        decision.verdict = rung->verdict;
        decision.judged = rung->judged;
        decision.max_points = rung->max_points;
        decision.take = rung->take ? rung->take->number : 0;
        put_decision(folder, {student.person.id, attempt.number, rung->asked, ""}, decision);
        out.line(fmt::format("{} {}: {}, instead of {} ({})", student.person.id, rung->asked.short_name(),
                             points_of(decision.points, rung->max_points),
                             points_of(rung->points, rung->max_points), rung->told_verdict()));
    }
    return 0;
}

int replay(const ReviewOptions& options, Terminal& out) {
    const fs::path folder = fs::absolute(options.folder);
    follow_sharing(folder);
    const Gradebook book = read_gradebook(folder);
    const Student& student = student_of(book, options.student);
    const Attempt& attempt = attempt_of(student, options.attempt);
    const GradedRung& rung = rung_of(attempt, options.rung);
    const nlohmann::ordered_json record = rung.record();
    if (record.is_null())
        throw CannotCheck(fmt::format("{} has not been judged yet", rung.asked.short_name()));
    Workbook workbook = open_workbook();
    const Chosen chosen = choose_rung(workbook, rung.asked.chapter + "/" + rung.asked.rung);
    const Secret secret(folder, false);
    const Workshop workshop =
        describe_workshop(workbook.toolchain, {chosen.chapter}, book.assignment.backend,
                          this_machine(book.assignment.backend == Backend::cuda), RUNGS_VERSION);
    const fs::path source = source_in(folder, student, attempt, rung);
    const std::string bytes = record.at("bytes");
    std::error_code unknown;
    if (fs::exists(source, unknown) ? judge::Sha256::of(read_own_file(source)) != bytes : !bytes.empty())
        throw CannotCheck(source.string() + ": these are not the bytes that were judged; restore the file");
    if (record.at("key") != record_key(workshop, secret, rung.asked, bytes)) {
        out.line(
            out.paint(Style::warn, "the workbook, judge, compiler or sandbox differ from the record's:"));
        const auto differs = [&](const char* what, const std::string& then, const std::string& now) {
            if (then != now)
                out.line(out.cut(fmt::format("  {}: {} then, {} now", what, then, now),
                                 std::max(out.width(), 100)));
        };
        differs("judge", record.at("judge").at("build"), workshop.judge);
        differs("compiler", record.at("toolchain"), workshop.toolchain);
        differs("sandbox", record.at("sandbox"), workshop.sandbox);
        for (const auto& [part, digest] : workshop.chapters.at(rung.asked.chapter))
            differs(part.c_str(), record.at("workbook").at(part), digest);
    }
    judge::JudgeOptions judging;
    use_cache_in(folder, workbook.toolchain);
    judging.toolchain = workbook.toolchain;
    judging.backend = book.assignment.backend;
    judging.seed = secret.seed();
    judging.stop = &stop_requested();
    const std::unique_ptr<Exam> exam = judge::exam_of(*chosen.chapter);
    judge::prepare_to_judge_apart(judging.toolchain, judging.backend);
    std::string died;
    const judge::RungResult result = judge::judge_apart(
        "judge-" + student.person.id, {*chosen.chapter, *chosen.rung, source, *exam, judging}, died);
    stop_here();
    const std::optional<double> points = result.judged ? std::optional(result.points) : std::nullopt;
    const int width = std::max(out.width(), 100);
    const auto row = [&](const std::string& when, const std::string& verdict,
                         const std::optional<double>& got, const std::string& reason) {
        out.line(out.cut(
            fmt::format("  {:<22}{:<16}{:<16}{}", when, verdict, points_of(got, rung.max_points), reason),
            width));
    };
    out.line(out.paint(Style::bold, fmt::format("{} {}, attempt {}", student.person.id,
                                                rung.asked.short_name(), attempt.number)));
    row(record.at("started"), rung.verdict, rung.judged, rung.reason);
    row("now, the same inputs", judge::name_of(result.verdict), points, result.reason());
    for (const auto& [when, times] :
         {std::pair("then", table_of_times(*rung.result())), std::pair("now", table_of_times(result))}) {
        if (!times.empty()) out.line(fmt::format("  {}", when));
        for (const std::string& line : times) out.line("    " + line);
    }
    if (rung.decision)
        out.line(fmt::format("  decided: {}, by {}: {}", points_of(rung.points, rung.max_points),
                             rung.decision->by, rung.decision->because));
    if (!result.judged) return 3;
    const bool same = rung.verdict == judge::name_of(result.verdict) && rung.judged &&
                      std::abs(*rung.judged - *points) < 1e-9;
    out.line(same ? "the same verdict and the same points" : "they differ");
    return same ? 0 : 1;
}

}  // namespace rungs
