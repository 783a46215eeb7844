// rungs grade: a class, from what it handed in to its records. Everything else is derived from those.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/intake.hpp"
#include "class/ledger.hpp"
#include "class/policy.hpp"
#include "judge/build.hpp"
#include "judge/cache.hpp"
#include "judge/hash.hpp"
#include "program/class/classes.hpp"
#include "program/grading.hpp"
#include "program/interrupt.hpp"
#include "program/jobs.hpp"
#include "program/submission.hpp"
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
using judge::RungResult;
using judge::Verdict;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int most_tries = 3;

std::string now_text() {
    return time_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

/// What stops a whole run and no single rung; the records that are there stay.
class DiskFull : public CannotCheck {
    using CannotCheck::CannotCheck;
};

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// ----------------------------------------------------------------------------------- what to do

/// Equal bytes for one rung: judged once, for all who handed them in.
struct Work {
    Chosen chosen;
    fs::path source;
    std::vector<Slot> slots;
    std::string key;
};

/// What `--regrade` asks for and a run that was interrupted has not done yet: the slots that have to get to a
/// judging. It is a file, so that a second start goes on with it.
class Regrade {
  public:
    explicit Regrade(const fs::path& out) : file_(out / "regrade.json") {
        std::error_code unknown;
        if (fs::exists(file_, unknown))
            wanted_ = Json::parse(read_file(file_)).get<std::map<std::string, int>>();
    }
    void ask(const Slot& slot, int judging) { wanted_[name_of(slot)] = judging; }
    void keep() const { write_file(file_, Json(wanted_).dump(1) + '\n'); }
    bool asks_for(const Slot& slot, int judging) const {
        const auto found = wanted_.find(name_of(slot));
        return found != wanted_.end() && judging < found->second;
    }
    void done() const {
        std::error_code ignored;
        fs::remove(file_, ignored);
    }

  private:
    static std::string name_of(const Slot& slot) {
        return fmt::format("{}/{}/{}/{}", slot.student, slot.attempt, slot.rung.chapter, slot.rung.rung);
    }
    fs::path file_;
    std::map<std::string, int> wanted_;
};

/// Whether `--regrade` means this slot: "all", a student, a rung, or STUDENT/RUNG.
bool means(const std::string& asked, const Slot& slot) {
    const std::string& id = slot.student;
    const auto rung = [&](const std::string& name) {
        return name == slot.rung.short_name() || name == slot.rung.chapter + "/" + slot.rung.rung;
    };
    return asked == "all" || asked == id || rung(asked) ||
           (asked.compare(0, id.size() + 1, id + "/") == 0 && rung(asked.substr(id.size() + 1)));
}

/// SHA-256 of each file of an attempt, as it was taken in.
std::map<std::string, std::string> bytes_of(const fs::path& hand_in) {
    const Json about = Json::parse(read_file(hand_in / "hand-in.json"));
    std::map<std::string, std::string> bytes;
    for (const Json& file : about.at("files")) {
        const std::string path = file.at("path");
        bytes[path] = file.at("sha256");
        // Since then it has been on a disk, for months perhaps.
        if (judge::Sha256::of(read_file(hand_in / path)) != bytes[path])
            throw ClassError((hand_in / path).string() +
                             ": this is not what was taken in; restore the file, or delete " +
                             hand_in.string() + " to take it in again");
    }
    return bytes;
}

struct Plan {
    std::vector<Work> tasks;
    std::size_t kept = 0;    ///< slots whose record stands
    std::size_t slots = 0;   ///< all that may come to count
    std::size_t copied = 0;  ///< slots whose bytes had been judged for somebody else
};

/// What is to be judged, in a fair order: rung by rung, so that nobody's many attempts or slow rungs keep
/// others waiting, and within a rung by student.
Plan make_plan(const fs::path& out, const Workbook& workbook, const Assignment& assignment,
               const Workshop& workshop, const Secret& secret, const std::string& asked) {
    Plan plan;
    Regrade regrade(out);
    const Gradebook book = read_gradebook(out);
    struct Entry {
        Slot slot;
        fs::path source;
        std::string key;
        bool again;
    };
    std::vector<Entry> open;
    std::map<std::string, fs::path> records;  // by key: what has been judged
    std::map<std::string, std::string> owners;
    std::map<fs::path, std::map<std::string, std::string>> taken;
    bool any_asked = asked.empty();
    for (const AskedRung& rung : assignment.rungs) {
        for (const Student& student : book.students) {
            for (const std::size_t i : that_may_count(assignment, student)) {
                const Attempt& attempt = student.attempts[i];
                if (!attempt.refused.empty()) continue;
                const fs::path hand_in =
                    out / "hand-ins" / student.person.id / std::to_string(attempt.number);
                const std::string file =
                    rung.chapter + "/" + rung.rung + (rung.kind == "predict" ? ".toml" : ".cu");
                if (const auto [place, fresh] = taken.try_emplace(hand_in); fresh)
                    place->second = bytes_of(hand_in);
                const std::map<std::string, std::string>& bytes = taken.at(hand_in);
                const auto found = bytes.find(file);
                Slot slot{student.person.id, attempt.number, rung, found == bytes.end() ? "" : found->second};
                const std::string key = record_key(workshop, secret, rung, slot.bytes);
                const int judging = last_judging(slot.folder(out / "records"), rung.rung);
                ++plan.slots;
                if (!asked.empty() && means(asked, slot)) {
                    regrade.ask(slot, judging + 1);
                    any_asked = true;
                }
                const bool again = regrade.asks_for(slot, judging);
                if (judging > 0) {
                    const fs::path record =
                        slot.folder(out / "records") / fmt::format("{}.{}.json", rung.rung, judging);
                    if (Json::parse(read_file(record)).at("key") == key) {
                        if (!again) {
                            ++plan.kept;
                            records.emplace(key, record);
                            owners.emplace(key, fmt::format("{}/{}", slot.student, slot.attempt));
                            continue;
                        }
                    }
                }
                open.push_back({slot, hand_in / file, key, again});
            }
        }
    }
    if (!any_asked)
        throw UsageError("--regrade " + asked +
                         ": no student and no rung of this class; say all, ada, 01/03 or ada/01/03");
    if (!asked.empty()) regrade.keep();
    std::map<std::string, std::size_t> task_of;
    for (Entry& entry : open) {
        const auto judged = records.find(entry.key);
        if (!entry.again && judged != records.end()) {
            put_record(out, entry.slot, Json::parse(read_file(judged->second)), owners.at(entry.key));
            ++plan.copied;
            continue;
        }
        const auto [place, fresh] = task_of.emplace(entry.key, plan.tasks.size());
        if (fresh) {
            const AskedRung& rung = entry.slot.rung;
            plan.tasks.push_back(
                {choose_rung(workbook, rung.chapter + "/" + rung.rung), entry.source, {}, entry.key});
        }
        plan.tasks[place->second].slots.push_back(std::move(entry.slot));
    }
    return plan;
}

// --------------------------------------------------------------------------------------- the run

class ClassRun {
  public:
    ClassRun(const Workbook& workbook, const fs::path& out, const Assignment& assignment,
             const Workshop& workshop, const Secret& secret, const std::vector<Work>& tasks,
             const BackendChoice& backend)
        : workbook_(workbook),
          out_(out),
          assignment_(assignment),
          workshop_(workshop),
          secret_(secret),
          tasks_(tasks),
          begun_(tasks.size()),
          task_of_(tasks.size()) {
        judging_.toolchain = workbook.toolchain;
        judging_.backend = backend.backend;
        judging_.seed = secret.seed();
        for (const Work& task : tasks) {
            if (!exams_[task.chosen.chapter])
                exams_[task.chosen.chapter] = judge::exam_of(*task.chosen.chapter);
        }
    }

    Jobs::End judge(std::size_t job, bool alone, const std::atomic<bool>& stop) {
        const std::size_t index = task_for(job);
        const Work& task = tasks_[index];
        const std::string started = now_text();
        const auto start = Clock::now();
        RungReport report;
        report.idea = task.chosen.rung->idea;
        report.kind = name_of(task.chosen.rung->kind);
        report.file = fmt::format("{}/{}", task.chosen.chapter->chapter, task.chosen.rung->file());
        Canary canary;
        for (;; ++canary.tries) {
            report.result = judge_one(task, task.source, stop);
            if (stop) return Jobs::End::stopped;
            if (!depends_on_load(report.result, judging_.backend)) break;
            if (!alone) return Jobs::End::alone_once_more;
            if (ask_canary(task, report, canary, stop)) break;
            if (stop) return Jobs::End::stopped;
        }
        const Json record = make_record(task.slots.front(), workshop_, secret_, report, canary, started);
        for (const Slot& slot : task.slots) {
            const Slot& first = task.slots.front();
            put_record(out_, slot, record,
                       &slot == &first ? "" : fmt::format("{}/{}", first.student, first.attempt));
        }
        const std::lock_guard lock(mutex_);
        spent_[owner(task)] += std::chrono::duration<double>(Clock::now() - start).count();
        ++done_;
        return Jobs::End::finished;
    }

    std::size_t done() const {
        const std::lock_guard lock(mutex_);
        return done_;
    }

  private:
    static std::string owner(const Work& task) {
        return fmt::format("{}/{}", task.slots.front().student, task.slots.front().attempt);
    }

    /// The task that a job is for. Whoever has had more than the budget of a hand-in comes after all others.
    std::size_t task_for(std::size_t job) {
        const std::lock_guard lock(mutex_);
        if (task_of_[job]) return *task_of_[job];
        std::optional<std::size_t> next;
        for (std::size_t i = first_; i < tasks_.size(); ++i) {
            if (begun_[i]) continue;
            const auto spent = spent_.find(owner(tasks_[i]));
            const bool within = spent == spent_.end() || spent->second < assignment_.budget_seconds;
            if (!next || within) next = i;
            if (within) break;
        }
        begun_[*next] = true;
        while (first_ < tasks_.size() && begun_[first_]) ++first_;
        task_of_[job] = next;
        return *next;
    }

    RungResult judge_one(const Work& task, const fs::path& source, const std::atomic<bool>& stop) {
        judge::JudgeOptions options = judging_;
        options.stop = &stop;
        return judge::judge_rung(*task.chosen.chapter, *task.chosen.rung, source,
                                 *exams_.at(task.chosen.chapter), options);
    }

    /// Is it us? The reference tells, in the same place. Where it passes, a limit that was met is the
    /// student's; where it fails, or the judge has failed, the rung is tried again, and held in the end.
    /// @returns whether the result stands
    bool ask_canary(const Work& task, RungReport& report, Canary& canary, const std::atomic<bool>& stop) {
        if (judge::nearly_full(out_) || judge::nearly_full(judging_.toolchain.cache))
            throw DiskFull(
                fmt::format("next to nothing can be written below {}; make room, then give the same command "
                            "again: it goes on",
                            out_.string()));
        const RungResult reference =
            judge_one(task, source_of(workbook_, task.chosen, judge::Whose::solution), stop);
        if (stop) return false;
        canary.verdict = judge::name_of(reference.verdict);
        const bool ours = report.result.verdict == Verdict::infra || !reference.passed();
        if (!ours) return true;
        if (canary.tries < most_tries) {
            for (int i = 0; i < 20 * canary.tries && !stop; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            return false;
        }
        if (report.result.verdict != Verdict::infra) {
            report.result.decide(
                {.kind = Verdict::infra,
                 .text = fmt::format("tried {} times: {}; but the reference rung ends with {} here, too",
                                     most_tries, judge::name_of(report.result.verdict), canary.verdict),
                 .source = judge::Source::setup});
            report.result.judged = false;
            report.result.points = 0;
        }
        return true;
    }

    const Workbook& workbook_;
    const fs::path& out_;
    const Assignment& assignment_;
    const Workshop& workshop_;
    const Secret& secret_;
    const std::vector<Work>& tasks_;
    judge::JudgeOptions judging_;
    std::map<const Manifest*, std::unique_ptr<Exam>> exams_;
    mutable std::mutex mutex_;  // of all below
    std::vector<bool> begun_;
    std::size_t first_ = 0;
    std::vector<std::optional<std::size_t>> task_of_;
    std::map<std::string, double> spent_;
    std::size_t done_ = 0;
};

std::string duration_text(double seconds) {
    const long long minutes = static_cast<long long>(std::ceil(seconds / 60));
    return minutes >= 60 ? fmt::format("{} h {:02} min", minutes / 60, minutes % 60)
                         : fmt::format("{} min", minutes);
}

/// Judges all tasks and says how far it is.
void run_tasks(const Plan& plan, ClassRun& run, unsigned threads, Terminal& out) {
    const auto start = Clock::now();
    const std::size_t count = plan.tasks.size();
    Jobs jobs(count, threads, [&](std::size_t job, bool alone, const std::atomic<bool>& stop) {
        return run.judge(job, alone, stop);
    });
    std::size_t shown = 0, tenth = 0;
    const auto meanwhile = [&] {
        if (stop_requested()) jobs.stop();
        const std::size_t done = run.done();
        if (done == shown || done == 0) return;
        shown = done;
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        const std::string text = fmt::format(
            "{} of {} judged, about {} left", done, count,
            duration_text(seconds / static_cast<double>(done) * static_cast<double>(count - done)));
        out.status("  " + text);
        if (!out.is_terminal() && 10 * done / count > tenth) {
            tenth = 10 * done / count;
            out.line("  " + text);
        }
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (!jobs.wait(i, meanwhile)) break;
    }
    out.status("");
}

// ----------------------------------------------------------------------------------------- intake

Assignment read_assignment(const Workbook& workbook, const ClassOptions& options, Backend backend) {
    fs::path file = options.assignment;
    std::error_code unknown;
    if (file.empty() && fs::exists(fs::path(options.place) / "assignment.toml", unknown))
        file = fs::path(options.place) / "assignment.toml";
    Policy policy;
    if (!file.empty()) policy = read_policy(file);
    Assignment& assignment = policy.assignment;
    if (!policy.roster.empty()) assignment.people = read_roster(policy.roster, assignment);
    assignment.backend = backend;
    for (const Chosen& one : choose(workbook, policy.rungs)) {
        if (one.rung->given()) continue;
        assignment.rungs.push_back({one.chapter->chapter, one.rung->name, one.rung->idea,
                                    name_of(one.rung->kind), judge::max_points(*one.rung, backend)});
    }
    if (assignment.rungs.empty()) throw UsageError(file.string() + ": 'rungs' names no exercise");
    for (const auto& [name, weight] : policy.weights)
        assignment.weights[choose_chapter(workbook, name).chapter] = weight;
    return assignment;
}

/// The folder of a run, made for its owner alone; never inside of what students hand in.
fs::path out_folder(const ClassOptions& options) {
    const fs::path out = fs::absolute(options.out).lexically_normal();
    std::error_code unknown;
    if (fs::is_directory(options.place, unknown)) {
        const fs::path place = fs::canonical(options.place), inside = fs::weakly_canonical(out);
        if (inside == place || lies_in(inside, place))
            throw UsageError("--out " + clean_name(options.out) +
                             ": this is in the class's folder; name another one");
    }
    if (!fs::exists(out, unknown)) {
        make_folder(out);
        fs::permissions(out, fs::perms::owner_all);
    }
    if (!fs::is_directory(out, unknown))
        throw UsageError("--out " + clean_name(options.out) + " is no folder");
    return out;
}

void show_problems(const std::vector<std::string>& problems, Terminal& out) {
    constexpr std::size_t most = 20;
    for (std::size_t i = 0; i < problems.size() && i < most; ++i)
        out.line(out.paint(Style::warn, out.cut("  " + problems[i], std::max(out.width(), 120))));
    if (problems.size() > most)
        out.line(out.paint(Style::warn,
                           fmt::format("  and {} more: ./rungs review lists all", problems.size() - most)));
}

/// Takes in the class. @returns the assignment, which it has written to OUT as well
Assignment take_in(const fs::path& out, const Workbook& workbook, const ClassOptions& options,
                   Backend backend) {
    Assignment assignment = read_assignment(workbook, options, backend);
    const fs::path work = out / ".work";
    fs::remove_all(work);
    make_folder(work);
    Intake intake = read_class(options.place, assignment, work);
    Intake cloned = read_repositories(assignment, work);
    std::move(cloned.hand_ins.begin(), cloned.hand_ins.end(), std::back_inserter(intake.hand_ins));
    fs::remove_all(work);
    store(out, assignment, intake);
    assignment.problems = intake.problems;
    write_file(out / "assignment.json", to_json(assignment).dump(1) + '\n');
    return assignment;
}

int exit_status_of(const Gradebook& book) {
    bool failed = false;
    for (const Student& student : book.students) {
        if (!student.score) return 3;
        if (student.missing() || !student.counted) continue;
        for (const GradedRung& rung : student.attempts[*student.counted].rungs)
            failed = failed || rung.status != "passed";
    }
    return failed ? 1 : 0;
}

}  // namespace

int grade_class(const ClassOptions& options, Terminal& out) {
    Workbook workbook = open_workbook();
    const Machine machine = this_machine(options.backend == "cuda");
    const BackendChoice backend = choose_backend(workbook, options.backend, machine.gpu);
    if (!backend.cannot.empty()) throw CannotCheck(backend.cannot);
    const fs::path folder = out_folder(options);
    try {
        const Lock lock(folder);
        if (!lock.taken_over().empty()) out.line(out.paint(Style::warn, "  " + lock.taken_over()));
        const Assignment assignment = take_in(folder, workbook, options, backend.backend);
        // Before anything of a student's is compiled.
        const judge::SandboxLevel level = judge::sandbox_level(backend.backend);
        if (level.name < assignment.least_sandbox && !options.below) {
            throw CannotCheck(
                fmt::format("hand-ins would be held at {} here ({}), and the class asks for {}; ./rungs "
                            "doctor says how to get more, "
                            "and --below-s3 grades all the same",
                            level.name, level.describe, assignment.least_sandbox));
        }
        std::error_code unknown;
        const Secret secret(folder, !fs::exists(folder / "records", unknown));
        std::set<std::string> names;
        std::vector<const Manifest*> chapters;
        for (const AskedRung& rung : assignment.rungs) {
            if (names.insert(rung.chapter).second)
                chapters.push_back(&choose_chapter(workbook, rung.chapter));
        }
        const Workshop workshop =
            describe_workshop(workbook.toolchain, chapters, backend.backend, machine, RUNGS_VERSION);
        // Nobody else's builds, and none of ours for anybody else.
        workbook.toolchain.cache = folder / "cache";
        make_folder(folder / "records");
        const Plan plan = make_plan(folder, workbook, assignment, workshop, secret, options.regrade);
        out.line(fmt::format(
            "{}: {} rungs of {} students on the {} backend, held at {}",
            assignment.title.empty() ? clean_name(options.place) : clean_name(assignment.title), plan.slots,
            read_gradebook(folder).students.size(), name_of(backend.backend), level.name));
        show_problems(assignment.problems, out);
        if (plan.kept + plan.copied > 0)
            out.line(fmt::format("  {} have a record already, {} equal bytes that have one", plan.kept,
                                 plan.copied));
        ClassRun run(workbook, folder, assignment, workshop, secret, plan.tasks, backend);
        const unsigned threads = backend.backend == Backend::cuda ? 1
                                 : options.jobs > 0               ? options.jobs
                                                                  : jobs_at_once(machine);
        try {
            run_tasks(plan, run, threads, out);
        } catch (...) {
            out.line(fmt::format("  {} of {} were judged and are kept; the same command goes on from there",
                                 run.done(), plan.tasks.size()));
            throw;
        }
        if (stop_requested()) {
            out.line(fmt::format("  {} of {} were judged and are kept; the same command goes on from there",
                                 run.done(), plan.tasks.size()));
        }
        stop_here();
        Regrade(folder).done();
        const Gradebook book = read_gradebook(folder);
        write_file(folder / "projection.txt", projection(book));
        show_class(book, options.out, out);
        return exit_status_of(book);
    } catch (const FileError& error) {
        if (!is_full(error.error())) throw;
        throw DiskFull(fmt::format(
            "{}\n  the disk is full; make room, then give the same command again: it goes on", error.what()));
    } catch (const fs::filesystem_error& error) {
        if (!is_full(error.code().value())) throw;
        throw DiskFull(fmt::format(
            "{}\n  the disk is full; make room, then give the same command again: it goes on", error.what()));
    }
}

}  // namespace rungs
