// rungs grade: a class, from what it handed in to its records. Everything else is derived from those.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/changes.hpp"
#include "class/intake.hpp"
#include "class/ledger.hpp"
#include "class/policy.hpp"
#include "class/sharing.hpp"
#include "class/slurm.hpp"
#include "judge/apart.hpp"
#include "judge/build/build.hpp"
#include "judge/build/cache.hpp"
#include "judge/build/hash.hpp"
#include "judge/build/tool_files.hpp"
#include "judge/confine/sandbox.hpp"
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

/// Of a rung on which the judge fails, and of one on which the judge's own process dies.
constexpr int most_tries = 3, most_deaths = 2;

/// What stops a whole run and no single rung; the records that are there stay.
class FaultOfMachine : public CannotCheck {
  public:
    explicit FaultOfMachine(const std::string& what)
        : CannotCheck(what + ", then repeat the command: it resumes") {}
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

/// The hand-in of a slot, as records name it.
std::string hand_in_of(const Slot& slot) { return fmt::format("{}/{}", slot.student, slot.attempt); }

/// What `--regrade` asks for and a run that was interrupted has not done yet: the slots that have to get to a
/// judging. It is a file, so that a second start goes on with it.
class Regrade {
  public:
    explicit Regrade(const fs::path& out) : file_(out / "regrade.json") {
        std::error_code unknown;
        if (fs::exists(file_, unknown))
            wanted_ = Json::parse(read_own_file(file_)).get<std::map<std::string, int>>();
    }
    void ask(const Slot& slot, int judging) { wanted_[name_of(slot)] = judging; }
    void keep() const { write_file(file_, Json(wanted_).dump(1) + '\n'); }
    bool asks_for(const Slot& slot, int judging) const {
        const auto found = wanted_.find(name_of(slot));
        return found != wanted_.end() && judging < found->second;
    }
    bool has_asked_for(const Slot& slot) const { return wanted_.count(name_of(slot)) > 0; }
    void done() const {
        std::error_code ignored;
        fs::remove(file_, ignored);
    }

  private:
    static std::string name_of(const Slot& slot) {
        return fmt::format("{}/{}/{}", hand_in_of(slot), slot.rung.chapter, slot.rung.rung);
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

/// Whether a record is about the machine, which could not judge the reference either, and not about a
/// hand-in.
bool was_fault_of_machine(const Json& record) {
    if (record.at("result").at("verdict") != judge::name_of(Verdict::infra)) return false;
    const std::string reference = record.at("canary").at("reference");
    return !reference.empty() && reference != judge::name_of(Verdict::ok) &&
           reference != judge::name_of(Verdict::slow);
}

/// Whether each file of an attempt is what was taken in: since then it has been on a disk, for months
/// perhaps.
void check_bytes(const fs::path& hand_in) {
    const Json about = Json::parse(read_own_file(hand_in / "hand-in.json"));
    for (const char* which : {"files", "alike"}) {
        for (const Json& file : about.value(which, Json::array())) {
            const std::string path = file.value("path", "");
            if (path.empty() ||
                judge::Sha256::of(read_own_file(hand_in / path)) == file.at("sha256").get<std::string>())
                continue;
            throw ClassError((hand_in / path).string() +
                             ": this file has changed since it was taken in; restore it, or delete " +
                             hand_in.string() + " to take it in again");
        }
    }
}

/// Seconds of judging that a hand-in has had, as its records tell. What `--regrade` asks for has a budget of
/// its own: then only that counts.
struct Spent {
    double all = 0, again = 0;
    bool asked = false;

    void add(double seconds, bool was_asked) {
        all += seconds;
        if (was_asked) again += seconds;
    }
    double counts() const { return asked ? again : all; }
};

struct Plan {
    std::vector<Work> tasks;
    std::map<std::string, Spent> spent;  ///< by hand-in
    std::size_t kept = 0;                ///< slots whose record stands
    std::size_t slots = 0;               ///< all that may come to count
    std::size_t copied = 0;              ///< slots whose bytes had been judged for somebody else
};

/// What is to be judged, in a fair order: rung by rung, so that nobody's many attempts or slow rungs keep
/// others waiting, and within a rung by student. What is not ours others judge meanwhile.
Plan make_plan(const fs::path& out, const Workbook& workbook, const Assignment& assignment,
               const Workshop& workshop, const Secret& secret, const std::string& asked,
               const std::function<bool(const std::string& key)>& is_ours) {
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
    std::set<fs::path> checked;
    bool any_asked = asked.empty();
    for (std::size_t index = 0; index < assignment.rungs.size(); ++index) {
        const AskedRung& rung = assignment.rungs[index];
        for (const Student& student : book.students) {
            for (const std::size_t i : that_may_count(assignment, student)) {
                const Attempt& attempt = student.attempts[i];
                const GradedRung& graded = attempt.rungs[index];
                // Of a refused one what a human has taken is judged.
                if (!attempt.refused.empty() && !graded.take) continue;
                const fs::path hand_in =
                    out / "hand-ins" / student.person.id / std::to_string(attempt.number);
                if (checked.insert(hand_in).second) check_bytes(hand_in);
                Slot slot{student.person.id, attempt.number, rung, graded.bytes};
                const std::string key = record_key(workshop, secret, rung, slot.bytes);
                const int judging = last_judging(slot.folder(out / "records"), rung.rung);
                ++plan.slots;
                if (!asked.empty() && means(asked, slot)) {
                    regrade.ask(slot, judging + 1);
                    any_asked = true;
                }
                const bool again = regrade.asks_for(slot, judging);
                Spent& spent = plan.spent[hand_in_of(slot)];
                spent.asked = spent.asked || regrade.has_asked_for(slot);
                if (judging > 0 && !again) {
                    const fs::path kept =
                        slot.folder(out / "records") / fmt::format("{}.{}.json", rung.rung, judging);
                    const Json record = Json::parse(read_own_file(kept));
                    if (record.at("key") == key && !was_fault_of_machine(record)) {
                        ++plan.kept;
                        if (record.at("same_as") == "")
                            spent.add(record.value("spent", 0.0), regrade.has_asked_for(slot));
                        // One whose budget was used up says nothing of others with the same bytes.
                        if (record.at("result").at("verdict") != judge::name_of(Verdict::not_run)) {
                            records.emplace(key, kept);
                            owners.emplace(key, hand_in_of(slot));
                        }
                        continue;
                    }
                }
                // Where there is none, the name says which is missing.
                const fs::path source =
                    graded.source.empty() ? hand_in / rung.chapter / rung.file() : graded.source;
                if (is_ours(key)) open.push_back({slot, source, key, again});
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
            put_record(out, entry.slot, Json::parse(read_own_file(judged->second)), owners.at(entry.key));
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
             const Workshop& workshop, const Secret& secret, const Plan& plan, const BackendChoice& backend)
        : workbook_(workbook),
          out_(out),
          assignment_(assignment),
          workshop_(workshop),
          secret_(secret),
          tasks_(plan.tasks),
          begun_(tasks_.size()),
          task_of_(tasks_.size()),
          seconds_(tasks_.size()) {
        judging_.toolchain = workbook.toolchain;
        judging_.backend = backend.backend;
        judging_.seed = secret.seed();
        for (const auto& [hand_in, spent] : plan.spent) spent_[hand_in] = spent.counts();
        if (tasks_.empty()) return;
        try {
            judge::prepare_to_judge_apart(judging_.toolchain, judging_.backend);
            watch_tools(tasks_.front().chosen);
            for (const Work& task : tasks_) {
                if (exams_[task.chosen.chapter]) continue;
                exams_[task.chosen.chapter] = judge::exam_of(*task.chosen.chapter);
                watch_headers(task.chosen.chapter->folder);
            }
        } catch (const judge::InfraError& error) {
            throw FaultOfMachine(has_no_room() ? make_room() : repair(error.what()));
        } catch (const judge::Stopped&) {
            throw Stopped{};
        }
    }

    /// Job `job` of `jobs`.
    Jobs::End judge(std::size_t job, bool alone, const std::atomic<bool>& stop, Jobs& jobs) {
        const std::size_t index = task_for(job);
        const Work& task = tasks_[index];
        const std::string started = now_text();
        const Slot* const payer = payer_of(task);
        if (!payer) {
            leave(task, started);
            return Jobs::End::finished;
        }
        const auto start = Clock::now();
        double turns = 0;
        const auto pay = [&] {
            const double seconds = std::chrono::duration<double>(Clock::now() - start).count() - turns;
            const std::lock_guard lock(mutex_);
            spent_[hand_in_of(*payer)] += seconds;
            return seconds_[index] += seconds;
        };
        judge::JudgeOptions options = judging_;
        options.stop = &stop;
        options.before_timing = [&jobs] { jobs.wait_to_be_alone(); };
        options.after_timing = [&jobs] { jobs.no_longer_alone(); };
        RungReport report = about(task);
        Canary canary;
        for (;; ++canary.tries) {
            const Judged judged = judge_one(task, "judge-" + payer->student, task.source, options);
            if (stop) return Jobs::End::stopped;
            report.result = judged.result;
            turns += report.result.profile.seconds(judge::Part::turn);
            if (may_be_fault_of_machine(report.result) && !fault_of_machine(task, options).empty()) {
                // It may be a neighbour's: what is left when nothing else runs is the machine's.
                if (!alone) jobs.wait_to_be_alone();
                const std::string fault = stop ? "" : fault_of_machine(task, options);
                if (stop) return Jobs::End::stopped;
                if (!fault.empty()) throw FaultOfMachine(fault);
                if (!alone) {
                    pay();
                    return Jobs::End::alone_once_more;
                }
                if (canary.tries == most_tries)
                    throw FaultOfMachine(repair("tools fail intermittently here"));
                continue;
            }
            if (!alone && deserves_another_try(report.result, judging_.backend)) {
                pay();
                return Jobs::End::alone_once_more;
            }
            if (!depends_on_load(report.result, judging_.backend)) break;
            if (ask_canary(task, report, canary, options, judged.died.empty() ? most_tries : most_deaths)) {
                if (!judged.died.empty()) tell_death(*payer, report.result);
                break;
            }
            if (stop) return Jobs::End::stopped;
        }
        if (const std::string fault = tools_.changed(); !fault.empty()) throw FaultOfMachine(repair(fault));
        const Json record = make_record(*payer, workshop_, secret_, report, canary, started, pay());
        for (const Slot& slot : task.slots)
            put_record(out_, slot, record, &slot == payer ? "" : hand_in_of(*payer));
        const std::lock_guard lock(mutex_);
        ++done_;
        return Jobs::End::finished;
    }

    /// Rungs on which the judge's own process has ended, and how: a line each.
    std::vector<std::string> deaths() const {
        const std::lock_guard lock(mutex_);
        return deaths_;
    }

    /// Rungs that were not judged, since their hand-ins had used up their budgets.
    std::size_t left() const {
        const std::lock_guard lock(mutex_);
        return left_;
    }

    std::size_t done() const {
        const std::lock_guard lock(mutex_);
        return done_;
    }

  private:
    static RungReport about(const Work& task) {
        RungReport report;
        report.idea = task.chosen.rung->idea;
        report.kind = name_of(task.chosen.rung->kind);
        report.file = fmt::format("{}/{}", task.chosen.chapter->chapter, task.chosen.rung->file());
        return report;
    }

    double spent_by(const Slot& slot) const {
        const auto spent = spent_.find(hand_in_of(slot));
        return spent == spent_.end() ? 0 : spent->second;
    }

    /// Whose time it is that a task takes: the first one's whose budget is not used up, or anybody's where
    /// nothing was handed in. @returns nullptr where all are
    const Slot* payer_of(const Work& task) const {
        if (!fs::exists(task.source)) return &task.slots.front();
        const std::lock_guard lock(mutex_);
        for (const Slot& slot : task.slots) {
            if (assignment_.most_seconds <= 0 || spent_by(slot) < assignment_.most_seconds) return &slot;
        }
        return nullptr;
    }

    /// What is not judged is neither a pass nor a zero, and waits for a human.
    void leave(const Work& task, const std::string& started) {
        RungReport report = about(task);
        report.result = not_run(task.chosen, judging_.backend, judging_.seed,
                                fmt::format("budget used up: this hand-in has had more than {} min of "
                                            "judging; ./rungs grade --regrade gives it the same budget again",
                                            number_text(assignment_.most_seconds / 60)));
        for (const Slot& slot : task.slots)
            put_record(out_, slot, make_record(slot, workshop_, secret_, report, {}, started, 0), "");
        const std::lock_guard lock(mutex_);
        ++done_;
        ++left_;
    }

    /// The task that a job is for. Whoever has had more than the budget of a hand-in comes after all others.
    std::size_t task_for(std::size_t job) {
        const std::lock_guard lock(mutex_);
        if (task_of_[job]) return *task_of_[job];
        std::optional<std::size_t> next;
        for (std::size_t i = first_; i < tasks_.size(); ++i) {
            if (begun_[i]) continue;
            const bool within = spent_by(tasks_[i].slots.front()) < assignment_.budget_seconds;
            if (!next || within) next = i;
            if (within) break;
        }
        begun_[*next] = true;
        while (first_ < tasks_.size() && begun_[first_]) ++first_;
        task_of_[job] = next;
        return *next;
    }

    /// How a rung was judged, in a process of its own.
    struct Judged {
        RungResult result;
        std::string died;  ///< how that process has ended; empty: in order
    };

    /// `process`: its name.
    Judged judge_one(const Work& task, const std::string& process, const fs::path& source,
                     const judge::JudgeOptions& options) {
        Judged judged;
        const Chosen& chosen = task.chosen;
        judged.result = judge::judge_apart(
            process, {*chosen.chapter, *chosen.rung, source, *exams_.at(chosen.chapter), options},
            judged.died);
        return judged;
    }

    /// Watches the files that builds read, which must stay the same for the whole run.
    void watch_tools(const Chosen& chosen) {
        std::vector<judge::Mode> modes{judge::Mode::run};
        if (judging_.toolchain.tools(Backend::cpu, judge::Mode::check)) modes.push_back(judge::Mode::check);
        for (const judge::Mode mode : modes) {
            const Backend backend = mode == judge::Mode::check ? Backend::cpu : judging_.backend;
            tools_.watch(judge::places_of_tools(*chosen.chapter, *chosen.rung, judging_.toolchain, backend,
                                                mode, &stop_requested()));
        }
    }

    /// Watches the headers that rungs of a chapter include.
    void watch_headers(const fs::path& chapter) {
        judge::ToolPlaces headers;
        for (const auto& entry : fs::directory_iterator(chapter)) {
            if (entry.path().extension() == ".cuh") headers.files.push_back(entry.path());
        }
        tools_.watch(headers);
    }

    bool has_no_room() const {
        return judge::nearly_full(out_) || judge::nearly_full(judging_.toolchain.cache);
    }
    std::string make_room() const {
        return fmt::format("almost no space is left in {}; free some", out_.string());
    }

    static std::string repair(const std::string& fault) {
        return fmt::format("{}: repair this machine or build again", fault);
    }

    /// Whether the machine may be at fault and not the hand-in: the judge has failed, or the compiler.
    static bool may_be_fault_of_machine(const RungResult& result) {
        return result.verdict == Verdict::infra ||
               (result.verdict == Verdict::compile_error && !result.causes.empty() &&
                result.causes.front().source == judge::Source::build);
    }

    /// What is wrong with this machine, and what to do; empty: nothing is. No hand-in has a part in it,
    /// unless it runs beside this.
    std::string fault_of_machine(const Work& task, const judge::JudgeOptions& options) {
        if (has_no_room()) return make_room();
        if (const std::string fault = tools_.any_changed(); !fault.empty()) return repair(fault);
        const judge::Apart tried = judge::run_apart(
            "judge-tools",
            [&options, &chapter = *task.chosen.chapter,
             &rung = *task.chosen.rung](const judge::Caller&) -> std::string {
                try {
                    judge::try_tools(chapter, rung, options.toolchain, options.backend,
                                     &judge::Caller::stop());
                } catch (const std::exception& error) {
                    return error.what();
                } catch (const judge::Stopped&) {
                }
                return "";
            },
            options.stop);
        const std::string& fault = tried.died.empty() ? tried.result : tried.died;
        return fault.empty() ? "" : repair("the compiler does not work here: " + fault);
    }

    /// Is it us? The reference tells, in the same place. Where it passes, a limit that was met is the
    /// student's; where it fails, or the judge has failed, the rung is tried again, and held in the end.
    /// Where the judge fails on the reference, too, nothing can be judged here.
    /// @returns whether the result stands
    bool ask_canary(const Work& task, RungReport& report, Canary& canary, const judge::JudgeOptions& options,
                    int most) {
        const std::atomic<bool>& stop = *options.stop;
        const RungResult reference =
            judge_one(task, "judge-reference", source_of(workbook_, task.chosen, judge::Whose::solution),
                      options)
                .result;
        if (stop) return false;
        canary.verdict = judge::name_of(reference.verdict);
        const bool failed = report.result.verdict == Verdict::infra;
        if (!failed && reference.passed()) return true;
        if (canary.tries < most) {
            for (int i = 0; i < 20 * canary.tries && !stop; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            return false;
        }
        if (failed && reference.verdict == Verdict::infra)
            throw FaultOfMachine(repair("not even the reference can be judged here: " + reference.reason()));
        if (!failed) {
            report.result.decide(
                {.kind = Verdict::infra,
                 .text = fmt::format("tried {} times: {}; but the reference rung also ends with {} here",
                                     most, judge::name_of(report.result.verdict), canary.verdict),
                 .source = judge::Source::setup});
            report.result.judged = false;
            report.result.points = 0;
        }
        return true;
    }

    void tell_death(const Slot& slot, const RungResult& result) {
        const std::lock_guard lock(mutex_);
        deaths_.push_back(fmt::format("{} {}: {}", slot.student, slot.rung.short_name(), result.reason()));
    }

    const Workbook& workbook_;
    const fs::path& out_;
    const Assignment& assignment_;
    const Workshop& workshop_;
    const Secret& secret_;
    const std::vector<Work>& tasks_;
    judge::JudgeOptions judging_;
    std::map<const Manifest*, std::unique_ptr<Exam>> exams_;
    judge::ToolFiles tools_;
    mutable std::mutex mutex_;  // of all below; never held while a process begins that judges
    std::vector<bool> begun_;
    std::size_t first_ = 0;
    std::vector<std::optional<std::size_t>> task_of_;
    std::vector<double> seconds_;          // of each task, beside others and alone
    std::map<std::string, double> spent_;  // by hand-in
    std::vector<std::string> deaths_;
    std::size_t done_ = 0;
    std::size_t left_ = 0;
};

std::string duration_text(double seconds) {
    const long long minutes = static_cast<long long>(std::ceil(seconds / 60));
    return minutes >= 60 ? fmt::format("{} h {:02} min", minutes / 60, minutes % 60)
                         : fmt::format("{} min", minutes);
}

/// Judges all tasks and says how far it is.
void run_tasks(const Plan& plan, ClassRun& run, unsigned threads, const Lease& lease, Terminal& out) {
    const auto start = Clock::now();
    const std::size_t count = plan.tasks.size();
    Jobs jobs(count, threads, [&](std::size_t job, bool alone, const std::atomic<bool>& stop) {
        return run.judge(job, alone, stop, jobs);
    });
    std::size_t shown = 0, tenth = 0;
    const auto meanwhile = [&] {
        if (stop_requested() || lease.lost()) jobs.stop();
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
    if (lease.lost())
        throw CannotCheck("this process was suspended for too long; another one has taken over");
}

// ----------------------------------------------------------------------------------------- intake

/// The exercises of an assignment, in the workbook's order.
std::vector<Chosen> choose_exercises(const Workbook& workbook, const std::vector<NamedRung>& rungs) {
    const auto exercises = [&](const std::vector<std::string>& names) {
        std::vector<Chosen> chosen = choose(workbook, names);
        std::erase_if(chosen, [](const Chosen& one) { return one.rung->given(); });
        return chosen;
    };
    std::vector<std::string> names;
    for (const NamedRung& rung : rungs) {
        try {
            if (exercises({rung.name}).empty())
                throw UsageError(fmt::format("'{}' is given, so it is not an exercise", rung.name));
        } catch (const UsageError& error) {
            throw UsageError(rung.where + ": " + error.what());
        }
        names.push_back(rung.name);
    }
    return exercises(names);
}

Assignment read_assignment(const Workbook& workbook, const fs::path& file, Backend backend) {
    Policy policy;
    if (!file.empty()) policy = read_policy(file);
    Assignment& assignment = policy.assignment;
    if (!policy.roster.empty()) assignment.people = read_roster(policy.roster, assignment);
    assignment.backend = backend;
    for (const Chosen& one : choose_exercises(workbook, policy.rungs)) {
        assignment.rungs.push_back({one.chapter->chapter, one.rung->name, one.rung->idea,
                                    name_of(one.rung->kind), judge::max_points(*one.rung, backend)});
    }
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
                             ": this is inside the class's folder; name another one");
    }
    if (!fs::exists(out, unknown) && !unknown) {
        make_folder(out);
        fs::permissions(out, fs::perms::owner_all);
    }
    if (!fs::is_directory(out, unknown)) {
        if (unknown) throw FileError(out, unknown.value(), "could not read");
        throw UsageError("--out " + clean_name(options.out) + " is not a folder");
    }
    if (!options.group.empty()) share_with(out, options.group);
    follow_sharing(out);
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
    const fs::path work = out / ".work";
    fs::remove_all(work);
    make_folder(work);
    const ClassFolder folder = open_class(options.place, work, stop_here);
    Assignment assignment = read_assignment(
        workbook, options.assignment.empty() ? folder.policy() : fs::path(options.assignment), backend);
    Intake intake = read_class(folder, assignment, work, stop_here);
    Intake cloned = read_repositories(assignment, work, stop_here);
    std::move(cloned.hand_ins.begin(), cloned.hand_ins.end(), std::back_inserter(intake.hand_ins));
    std::error_code none;
    if (intake.hand_ins.empty() && assignment.people.empty() && !fs::exists(out / "hand-ins", none))
        throw UsageError(clean_name(options.place) +
                         ": there is nothing to grade: no folder and no archive of a student, and no "
                         "roster with students");
    store(out, assignment, intake);
    fs::remove_all(work);
    assignment.problems = intake.problems;
    write_file(out / "assignment.json", to_json(assignment).dump(1) + '\n');
    return assignment;
}

int exit_status_of(const Gradebook& book) {
    const Presence presence = presence_of(book);
    if (presence.is_suspicious()) return 3;
    bool failed = presence.is_thin();
    for (const Student& student : book.students) {
        if (!student.score) return 3;
        if (student.missing() || !student.counted) continue;
        for (const GradedRung& rung : student.attempts[*student.counted].rungs)
            failed = failed || rung.status != "passed";
    }
    return failed ? 1 : 0;
}

// ------------------------------------------------------------------------------------- where it runs

/// All that a run needs beside the class: where, with which tools, in which mode.
struct Place {
    explicit Place(const ClassOptions& given)
        : options(given),
          workbook(open_workbook()),
          machine(this_machine(options.backend == "cuda")),
          backend(choose_backend(workbook, options.backend, machine.gpu)) {
        if (!backend.cannot.empty()) throw CannotCheck(backend.cannot);
        folder = out_folder(options);
    }

    const ClassOptions& options;
    Workbook workbook;
    Machine machine;
    BackendChoice backend;
    fs::path folder;

    /// Describes what verdicts follow from here.
    Workshop workshop(const Assignment& assignment) const {
        std::set<std::string> names;
        std::vector<const Manifest*> chapters;
        for (const AskedRung& rung : assignment.rungs) {
            if (names.insert(rung.chapter).second)
                chapters.push_back(&choose_chapter(workbook, rung.chapter));
        }
        return describe_workshop(workbook.toolchain, chapters, backend.backend, machine, RUNGS_VERSION);
    }

    unsigned threads() const {
        if (options.jobs > 0) return options.jobs;
        // Of a node, Slurm may have given us some processors without keeping us off the others.
        const char* const given = std::getenv("SLURM_CPUS_ON_NODE");
        const int processors = given ? std::atoi(given) : 0;
        const unsigned most = jobs_at_once(machine, backend.backend);
        return processors > 0 ? std::min(most, static_cast<unsigned>(processors)) : most;
    }
};

/// While it is watched whether somebody on another machine is still at work.
Meanwhile watching(Terminal& out) {
    return [&out, said = false](const Holder& holder) mutable {
        stop_here();
        if (!said) out.line(fmt::format("  waiting up to a minute for {} to respond", holder.text()));
        said = true;
    };
}

void judge_all(const Place& place, const Assignment& assignment, const Workshop& workshop,
               const Secret& secret, const Plan& plan, const Lease& lease, Terminal& out) {
    ClassRun run(place.workbook, place.folder, assignment, workshop, secret, plan, place.backend);
    const auto say_how_far = [&] {
        out.line(fmt::format("  {} of {} were judged and are kept; the same command resumes there",
                             run.done(), plan.tasks.size()));
    };
    try {
        run_tasks(plan, run, place.threads(), lease, out);
    } catch (...) {
        say_how_far();
        throw;
    }
    if (stop_requested()) say_how_far();
    stop_here();
    for (const std::string& death : run.deaths())
        out.line(out.paint(Style::warn, out.cut("  " + death, std::max(out.width(), 120))));
    if (run.left() > 0) {
        out.line(out.paint(
            Style::warn,
            fmt::format("  {} were not judged, because their hand-ins have used up {} min of judging each",
                        run.left(), number_text(assignment.most_seconds / 60))));
    }
}

/// Once all is judged: what is left of the way there goes, and the grades are shown.
Gradebook finish(const Place& place, Terminal& out) {
    Regrade(place.folder).done();
    end_run(place.folder);
    Gradebook book = read_gradebook(place.folder);
    write_file(place.folder / "projection.txt", projection(book));
    show_changes(note_changes(place.folder, book, now_text()), place.options.out, out);
    show_class(book, place.options.out, out);
    return book;
}

// ------------------------------------------------------------------------------------------ Slurm

/// What is left of an earlier run on a cluster, told before this one goes on in its place.
void show_run(const ArrayRun& run, const Place& place, Terminal& out) {
    const int started = run.started(place.folder);
    std::string text = fmt::format("{}, submitted {}, has not finished; ", run.name, run.submitted);
    text += started > 0 ? fmt::format("{} of its {} tasks have begun", started, run.tasks)
                        : fmt::format(
                              "none of its {} tasks has left a log in {}/slurm/{}: none has begun, or their "
                              "nodes cannot see that folder",
                              run.tasks, place.options.out, run.name);
    out.line(out.paint(Style::warn, "  " + text));
    if (!place.options.slurm)
        out.line(fmt::format("  its queued jobs will find nothing left to do; scancel --name={} removes them",
                             run.name));
}

/// One job cannot be in two runs.
void refuse_while_queued(const Slurm& slurm, const ArrayRun& run) {
    const std::string queued = slurm.queued(run.name);
    if (queued.empty()) return;
    throw ClassError(fmt::format(
        "{}, submitted {}, has not finished: {}; wait for it (squeue --name={}), or cancel it first: scancel "
        "--name={}{}",
        run.name, run.submitted, queued, run.name, run.name,
        queued.find("held") == std::string::npos ? "" : "; held jobs continue after scontrol release"));
}

int submit(const Place& place, const Slurm& slurm, const Workshop& workshop, const Plan& plan,
           Terminal& out) {
    const ClassOptions& options = place.options;
    ArrayRun run;
    run.name = new_run_name();
    run.submitted = now_text();
    run.workshop = parts_of(workshop);
    for (const Work& work : plan.tasks) run.work.push_back(work.key);
    const int count = static_cast<int>(plan.tasks.size());
    run.tasks = std::min(options.tasks > 0 ? options.tasks : std::min((count + 49) / 50, 100), count);
    std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(),
                                     "grade",
                                     fs::absolute(options.place).lexically_normal().string(),
                                     "--out",
                                     place.folder.string(),
                                     "--backend",
                                     options.backend};
    if (options.jobs > 0) command.insert(command.end(), {"--jobs", std::to_string(options.jobs)});
    std::map<std::string, std::string> variables{{"RUNGS_BUILD", build_folder().string()}};
    for (const char* name : {"PATH", "LD_LIBRARY_PATH"}) {
        if (const char* const value = std::getenv(name)) variables[name] = value;
    }
    write_run(place.folder, run);  // before a task can look for it
    write_file(run.folder(place.folder) / "job.sh", job_script(run, command, variables));
    std::string array;
    try {
        array = slurm.submit(array_arguments(run, place.folder, options.sbatch));
    } catch (...) {
        end_run(place.folder);
        throw;
    }
    out.line(fmt::format("  {} to judge, by job {}: {} tasks named {}", count, array, run.tasks, run.name));
    const std::string again = fmt::format("./rungs grade {} --out {}", options.place, options.out);
    try {
        const std::string report = slurm.submit(report_arguments(run, place.folder, options.sbatch, array));
        out.line(fmt::format("  job {} judges what they leave undone, and writes the report", report));
    } catch (const ClassError& error) {
        throw CannotCheck(
            fmt::format("{}\n  the tasks run, but no report job follows; when they have finished: {}",
                        error.what(), again));
    }
    out.line(fmt::format("  watch: squeue --name={}; stop: scancel --name={}; logs: {}/slurm/{}/", run.name,
                         run.name, options.out, run.name));
    out.line("  every node has to see that folder, the workbook and its build under the same paths");
    out.line(
        fmt::format("  then: {} shows the grades, and judges what is missing if jobs have failed", again));
    return 0;
}

/// One job of an array. Its exit status says whether it has done its part, and nothing about grades.
int work_as_task(const Place& place, Terminal& out) {
    const std::string& task = place.options.task;
    const std::size_t slash = task.rfind('/');
    const std::string name = task.substr(0, slash),
                      number = slash == std::string::npos ? "" : task.substr(slash + 1);
    if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
        throw UsageError("--task " + clean_name(task) +
                         ": RUN/N is what ./rungs grade --slurm gives its jobs");
    const int which = std::stoi(number);
    const auto find_run = [&]() -> std::optional<ArrayRun> {
        std::optional<ArrayRun> run = read_run(place.folder);
        if (run && run->name == name) return run;
        out.line(fmt::format("{}: nothing is left to do, {}", name,
                             run ? "because " + run->name + " has replaced it" : "it has finished"));
        return std::nullopt;
    };
    std::optional<ArrayRun> run = find_run();
    if (!run) return 0;
    if (which > run->tasks)
        throw UsageError(fmt::format("--task {}: this run has {} tasks", clean_name(task), run->tasks));
    const auto wait_for = [&](const fs::path& lock, double seconds) {
        const auto end = Clock::now() + std::chrono::duration<double>(seconds);
        for (bool said = false; const std::optional<Holder> holder = holder_of(lock, watching(out));
             said = true) {
            if (!said) out.line(fmt::format("  waiting for {}", holder->text()));
            if (Clock::now() > end)
                throw ClassError(
                    fmt::format("{} is being graded by {}", place.folder.string(), holder->text()));
            for (int i = 0; i < 20; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                stop_here();
            }
        }
    };
    const bool is_report = which == 0;
    const double as_long_as_it_takes = 1e6;
    const fs::path whole = place.folder / "lock";
    const fs::path mine = is_report ? whole : run->lock_of(place.folder, which);
    std::optional<Lease> lease;
    while (!lease) {
        // A job that Slurm has forgotten, or whose node has lost its network, may still be at work in our
        // place.
        for (int other = 1; other <= run->tasks; ++other) {
            if (is_report || other == which) wait_for(run->lock_of(place.folder, other), as_long_as_it_takes);
        }
        // Whoever submits a run is there for a moment longer, and so is the report of one that seemed to be
        // over; a grader that is not on the cluster, for the night.
        wait_for(whole, is_report ? as_long_as_it_takes : 300);
        try {
            lease.emplace(mine, watching(out));
        } catch (const ClassError&) {
            if (!holder_of(mine, watching(out))) throw;
            continue;  // another one that has waited as well
        }
        // A task and the report may have begun at once: each has its lock before it looks for the other's.
        if (is_report ? !working_task(place.folder, watching(out)).empty()
                      : holder_of(whole, watching(out)).has_value())
            lease.reset();
    }
    run = find_run();
    if (!run) return 0;
    const Assignment assignment = read_gradebook(place.folder).assignment;
    const Workshop workshop = place.workshop(assignment);
    if (const std::string differs = difference(parts_of(workshop), run->workshop); !differs.empty()) {
        throw CannotCheck(
            fmt::format("this node differs from the machine that submitted {}: {}; submit from a node like "
                        "those that grade (srun ./rungs grade ... --slurm), and select them with "
                        "--constraint or --partition after --",
                        name, differs));
    }
    const Secret secret(place.folder, false);
    const Plan plan =
        make_plan(place.folder, place.workbook, assignment, workshop, secret, "",
                  [&](const std::string& key) { return is_report || run->task_of(key) == which; });
    out.line(fmt::format("{} of {}: {} to judge, sandbox {}", is_report ? "report" : "task " + number, name,
                         plan.tasks.size(), workshop.sandbox.substr(0, 2)));
    judge_all(place, assignment, workshop, secret, plan, *lease, out);
    if (is_report && exit_status_of(finish(place, out)) == 3) return 3;
    return 0;
}

int work_alone(const Place& place, Terminal& out) {
    const ClassOptions& options = place.options;
    std::optional<Slurm> slurm;
    if (options.slurm) {
        refuse_own_options(options.sbatch);
        slurm.emplace();
    }
    const Lease lease(place.folder / "lock", watching(out));
    if (!lease.taken_over().empty()) out.line(out.paint(Style::warn, "  " + lease.taken_over()));
    if (const std::string task = working_task(place.folder, watching(out)); !task.empty()) {
        throw ClassError(fmt::format("{} is being graded by {}; wait for it, or stop it by scancel",
                                     place.folder.string(), task));
    }
    if (const std::optional<ArrayRun> before = read_run(place.folder)) {
        if (slurm) refuse_while_queued(*slurm, *before);
        show_run(*before, place, out);
    }
    const Assignment assignment = take_in(place.folder, place.workbook, options, place.backend.backend);
    // Before anything of a student's is compiled.
    const judge::SandboxLevel level = judge::sandbox_level(place.backend.backend);
    if (level.name < assignment.least_sandbox && !options.below) {
        throw CannotCheck(fmt::format(
            "the sandbox reaches only {} here ({}), and the class requires {}; ./rungs doctor says how to "
            "reach more, and --below-s3 grades anyway",
            level.name, level.describe, assignment.least_sandbox));
    }
    std::error_code unknown;
    const Secret secret(place.folder, !fs::exists(place.folder / "records", unknown));
    const Workshop workshop = place.workshop(assignment);
    make_folder(place.folder / "records");
    const Plan plan = make_plan(place.folder, place.workbook, assignment, workshop, secret, options.regrade,
                                [](const std::string&) { return true; });
    out.line(fmt::format("{}: {} of {} on the {} backend, sandbox {}",
                         assignment.title.empty() ? clean_name(options.place) : clean_name(assignment.title),
                         count_text(plan.slots, "rung"),
                         count_text(read_gradebook(place.folder).students.size(), "student"),
                         name_of(place.backend.backend), level.name));
    show_problems(assignment.problems, out);
    if (plan.kept + plan.copied > 0)
        out.line(fmt::format("  {} already have a record, {} share the bytes of one that has", plan.kept,
                             plan.copied));
    if (slurm && !plan.tasks.empty()) return submit(place, *slurm, workshop, plan, out);
    judge_all(place, assignment, workshop, secret, plan, lease, out);
    return exit_status_of(finish(place, out));
}

}  // namespace

int grade_class(const ClassOptions& options, Terminal& out) {
    if (!options.slurm && !options.sbatch.empty())
        throw UsageError(clean_name(options.sbatch.front()) + ": options for sbatch need --slurm");
    if (!options.slurm && options.tasks > 0) throw UsageError("--tasks needs --slurm");
    std::error_code unknown;
    // Jobs of a cluster need not see it.
    if (options.task.empty() && !fs::exists(options.place, unknown))
        throw UsageError(clean_name(options.place) + ": no such folder or archive");
    try {
        Place place(options);
        // Nobody else's builds, and none of ours for anybody else.
        use_cache_in(place.folder, place.workbook.toolchain);
        return options.task.empty() ? work_alone(place, out) : work_as_task(place, out);
    } catch (const FileError& error) {
        if (!is_full(error.error())) throw;
        throw FaultOfMachine(fmt::format("{}\n  the disk is full; free some space", error.what()));
    } catch (const fs::filesystem_error& error) {
        if (!is_full(error.code().value())) throw;
        throw FaultOfMachine(fmt::format("{}\n  the disk is full; free some space", error.what()));
    }
}

}  // namespace rungs
