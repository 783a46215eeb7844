#include "program/grading.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/confine/sandbox.hpp"
#include "judge/result/kept.hpp"
#include "judge/sanitizer.hpp"
#include "program/interrupt.hpp"
#include "program/jobs.hpp"
#include "program/progress.hpp"
#include "program/show.hpp"
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
using judge::RungResult;
using judge::Verdict;

/// Whether links lead from a file of a submission to a place outside of it: another student's work, a
/// solution, or a file of the grader's own user, which compiler messages would show.
bool leads_outside(const fs::path& submission, const fs::path& file) {
    std::error_code error;
    const fs::path resolved = fs::weakly_canonical(file, error);
    return error || !lies_in(resolved, submission);
}

/// The verdict on a file that is not even looked at.
RungResult refused(const Chosen& chosen, const GradeOptions& options, const std::string& why) {
    RungResult result = not_run(chosen, options.backend.backend, options.seed, why, Verdict::compile_error);
    result.judged = true;
    return result;
}

/// What is known of a run before it begins.
Report new_report(const Workbook& workbook, const std::vector<Chosen>& chosen, const GradeOptions& options) {
    const judge::BackendTools* tools = workbook.toolchain.tools(options.backend.backend);
    const judge::SandboxLevel sandbox =
        options.sanitize ? judge::tool_level() : judge::sandbox_level(options.backend.backend);
    Report report;
    report.version = RUNGS_VERSION;
    report.what = whose_text(options);
    report.title = "Rungs";
    if (!chosen.empty() && chosen.front().chapter == chosen.back().chapter)
        report.title = chosen.front().chapter->title;
    report.started = utc_text(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
    report.backend = options.backend.backend;
    report.toolchain = tools ? tools->describe : "";
    report.sandbox = sandbox.name + ": " + sandbox.describe;
    report.seed = options.seed;
    report.command = options.command;
    report.machine = options.machine;
    return report;
}

/// The rungs of a run, judged by several threads.
class Grading {
  public:
    Grading(const Workbook& workbook, const std::vector<Chosen>& chosen, const GradeOptions& options)
        : workbook_(workbook),
          chosen_(chosen),
          options_(options),
          submitted_(!options.submission.empty()),
          remembered_(options.remember && options.whose == judge::Whose::student && !submitted_),
          reports_(chosen.size()),
          doing_(chosen.size()) {
        judging_.toolchain = workbook.toolchain;
        judging_.backend = options.backend.backend;
        judging_.seed = options.seed;
        judging_.sanitize = options.sanitize;
        judging_.name_mistakes = options.backend.backend == Backend::cpu;
        judging_.speed = !options.sanitize;  // who looks for a fault does not wait for the clock
        for (const Chosen& one : chosen) {
            if (!exams_[one.chapter]) exams_[one.chapter] = judge::exam_of(*one.chapter);
        }
        if (options.backend.backend == Backend::cuda && options.backend.cannot.empty() && chosen.size() > 1) {
            build_ahead();
        }
    }
    ~Grading() {
        for (std::thread& builder : builders_) builder.join();
    }
    Grading(const Grading&) = delete;
    Grading& operator=(const Grading&) = delete;

    /// Judges rung `i`, one of `jobs`; `alone`: with no other beside it.
    Jobs::End judge(std::size_t i, bool alone, const std::atomic<bool>& stop, Jobs& jobs) {
        const Chosen& one = chosen_[i];
        const fs::path source = source_of(workbook_, one, options_.whose, options_.submission);
        RungReport& rung = reports_[i];
        rung.idea = one.rung->idea;
        rung.kind = name_of(one.rung->kind);
        rung.file = clean_name(workbook_.shown(source));
        const std::string before = remembered_ ? fingerprint(source) : std::string();
        if (!options_.backend.cannot.empty()) {
            rung.result = not_run(one, options_.backend.backend, options_.seed, options_.backend.cannot);
        } else if (submitted_ && !one.rung->given() && leads_outside(options_.submission, source)) {
            rung.result =
                refused(one, options_, source.filename().string() + " is a link out of the submission");
        } else {
            judge::JudgeOptions mine = judging_;
            mine.stop = &stop;
            mine.before_timing = [&] {
                now_doing(i, "waits for its timing");
                wait_for_builds();
                jobs.wait_to_be_alone();
            };
            mine.after_timing = [&jobs] { jobs.no_longer_alone(); };
            mine.progress = [&](const judge::PhaseProgress& now) {
                std::string what = judge::name_of(now.phase);
                if (now.of > 0) what += fmt::format(" {} of {}", now.done, now.of);
                now_doing(i, what);
            };
            const std::optional<std::string> key =
                options_.keep ? judge::verdict_key(*one.chapter, *one.rung, source, mine) : std::nullopt;
            std::optional<RungResult> kept =
                key ? judge::kept_verdict(workbook_.toolchain.cache, *key) : std::nullopt;
            rung.kept = kept.has_value();
            rung.result =
                kept ? std::move(*kept)
                     : judge::judge_rung({*one.chapter, *one.rung, source, *exams_.at(one.chapter), mine});
            if (key && !rung.kept && !stop) judge::keep_verdict(workbook_.toolchain.cache, *key, rung.result);
            now_doing(i, "");
            // What Ctrl-C did to a compiler or a worker is no verdict on the student.
            if (stop) return Jobs::End::stopped;
            if (!alone && deserves_another_try(rung.result, options_.backend.backend))
                return Jobs::End::alone_once_more;
        }
        if (remembered_) {
            tell_untouched(one, source, rung.result);
            const std::string once = grade_answers_once(workbook_, one, rung.result),
                              problem =
                                  remember(workbook_, one, rung.result, options_.backend.backend, before);
            const std::lock_guard lock(mutex_);
            if (!once.empty() || !problem.empty()) not_stored_ = once.empty() ? problem : once;
        }
        return Jobs::End::finished;
    }

    /// Who has not begun, or has saved another file, need not look for a fault.
    void tell_untouched(const Chosen& chosen, const fs::path& source, RungResult& result) const {
        if (result.causes.empty() || chosen.rung->given() || chosen.rung->kind == Kind::predict) return;
        try {
            if (read_file(source) != starter_of(workbook_, chosen)) return;
        } catch (const std::exception&) {
            return;  // there is nothing to compare
        }
        result.causes.front().text = "as handed out: " + result.causes.front().text;
    }

    /// What is known of rung `i` once it has been judged.
    RungReport take(std::size_t i) { return std::move(reports_[i]); }

    /// What all threads are at, in a line.
    std::string doing(int name_width) {
        std::string text;
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            if (doing_[i].empty()) continue;
            const std::string& name = chosen_[i].rung->name;
            text += text.empty() ? fmt::format("  {:<{}}  {}", name, name_width, doing_[i]) : ", " + name;
        }
        return text;
    }

    /// Why a student's progress could not be stored; empty: it could. Once all have been judged.
    const std::string& not_stored() const { return not_stored_; }

  private:
    /// nvcc takes long: all cores build what is judged later. Nothing is timed until that is done.
    void build_ahead() {
        for (unsigned i = 0; i < jobs_at_once(options_.machine, Backend::cpu); ++i)
            builders_.emplace_back([this] { build_the_rest(); });
    }

    void build_the_rest() {
        std::unique_lock lock(mutex_);
        while (to_build_ < chosen_.size()) {
            const Chosen& one = chosen_[to_build_++];
            ++building_;
            lock.unlock();
            const fs::path source = source_of(workbook_, one, options_.whose, options_.submission);
            judge::JudgeOptions mine = judging_;
            mine.stop = options_.stop ? options_.stop : &stop_requested();
            const judge::Trial trial{*one.chapter, *one.rung, source, *exams_.at(one.chapter), mine};
            try {
                // A link out of a submission is refused before anybody reads it.
                if (one.rung->kind != Kind::predict &&
                    !(submitted_ && leads_outside(options_.submission, source))) {
                    judge::build_worker(trial, options_.backend.backend);
                    if (!options_.sanitize) judge::build_worker(trial, Backend::cpu, judge::Mode::check);
                }
            } catch (...) {  // whoever judges it will meet the same, and say so
            }
            lock.lock();
            --building_;
            built_.notify_all();
        }
    }

    void wait_for_builds() {
        std::unique_lock lock(mutex_);
        built_.wait(lock,
                    [this] { return builders_.empty() || (to_build_ >= chosen_.size() && building_ == 0); });
    }

    void now_doing(std::size_t i, const std::string& what) {
        const std::lock_guard lock(mutex_);
        doing_[i] = what;
    }

    const Workbook& workbook_;
    const std::vector<Chosen>& chosen_;
    const GradeOptions& options_;
    bool submitted_, remembered_;
    judge::JudgeOptions judging_;
    std::map<const Manifest*, std::unique_ptr<Exam>> exams_;
    std::vector<RungReport> reports_;
    std::vector<std::thread> builders_;
    std::condition_variable built_;
    std::mutex mutex_;  // of the following four
    std::size_t to_build_ = 0, building_ = 0;
    std::vector<std::string> doing_;  // of each rung; empty: nothing
    std::string not_stored_;
};

}  // namespace

RungResult not_run(const Chosen& chosen, Backend backend, std::uint64_t seed, const std::string& why,
                   Verdict verdict) {
    RungResult result;
    result.chapter = chosen.chapter->chapter;
    result.rung = chosen.rung->name;
    result.given = chosen.rung->given();
    result.max_points = judge::max_points(*chosen.rung, backend);
    result.decide({.kind = verdict, .text = why, .source = judge::Source::setup});
    result.speed.why_not = "speed: not judged, nothing was run";
    result.seed = seed;
    return result;
}

bool depends_on_load(const RungResult& result, Backend backend) {
    switch (result.verdict) {
        case Verdict::timeout:
        case Verdict::deadlock:  // polling is one when it goes on for too long
        case Verdict::oom:
        case Verdict::suspect:
        case Verdict::infra:
            return true;
        default:
            if (std::any_of(result.causes.begin(), result.causes.end(),
                            [](const judge::Cause& cause) { return cause.limited; }))
                return true;
    }
    const judge::ChecksResult& checks = result.checks;
    if (!checks.done && checks.of > 0) return true;  // they were cut short
    return backend == Backend::cpu && result.passed() && checks.done &&
           (!result.counters.done || (!result.given && !result.counters.reference));
}

bool deserves_another_try(const RungResult& result, Backend backend) {
    return result.verdict == Verdict::unstable || depends_on_load(result, backend);
}

BackendChoice choose_backend(const Workbook& workbook, const std::string& asked, const Gpu& gpu) {
    const bool built = workbook.toolchain.cuda.has_value();
    const std::string no_nvcc =
        "this build has no cuda backend, because nvcc was not found when it was configured";
    BackendChoice choice;
    if (asked == "auto") {
        choice.backend = gpu.present && built ? Backend::cuda : Backend::cpu;
        choice.why =
            gpu.present ? (built ? "a GPU responds" : "a GPU responds, but " + no_nvcc) : gpu.why_not;
    } else {
        choice.backend = asked == "cuda" ? Backend::cuda : Backend::cpu;
        choice.why = "asked for";
    }
    if (choice.backend == Backend::cuda) {
        if (!gpu.present) choice.cannot = gpu.why_not;
        if (!built) choice.cannot = no_nvcc;
        if (!choice.cannot.empty()) choice.cannot = "not run on the cuda backend: " + choice.cannot;
    } else if (!workbook.toolchain.cpu) {
        choice.cannot = "not run: this build has no cpu backend";
    }
    return choice;
}

void refuse_root(bool as_root, const std::string& tool) {
    if (as_root || geteuid() != 0) return;
    throw UsageError(tool +
                     " runs the rung as you and unconfined, and you are root: try as another user, or add "
                     "--as-root if nobody else wrote the rung");
}

std::string utc_text(long long seconds) {
    const std::time_t time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    gmtime_r(&time, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

Report not_finished(const Workbook& workbook, const std::vector<Chosen>& chosen,
                    const GradeOptions& options) {
    Report report = new_report(workbook, chosen, options);
    for (const Chosen& one : chosen) {
        const fs::path source = source_of(workbook, one, options.whose, options.submission);
        report.rungs.push_back({not_run(one, options.backend.backend, options.seed,
                                        "the grading of this submission has not finished"),
                                one.rung->idea, clean_name(workbook.shown(source)), name_of(one.rung->kind)});
    }
    return report;
}

Report grade(const Workbook& workbook, const std::vector<Chosen>& chosen, const GradeOptions& options,
             Terminal& out) {
    const auto start = std::chrono::steady_clock::now();
    const std::atomic<bool>& stop = options.stop ? *options.stop : stop_requested();
    Report report = new_report(workbook, chosen, options);

    int name_width = 5;
    for (const Chosen& one : chosen)
        name_width = std::max(name_width, static_cast<int>(one.rung->name.size()));

    const unsigned threads =
        options.jobs > 0 ? options.jobs : jobs_at_once(options.machine, options.backend.backend);
    Grading grading(workbook, chosen, options);
    Jobs jobs(chosen.size(), threads, [&](std::size_t i, bool alone, const std::atomic<bool>& stop_jobs) {
        return grading.judge(i, alone, stop_jobs, jobs);
    });
    std::string shown;
    const auto meanwhile = [&] {
        if (stop) jobs.stop();
        const std::string text = grading.doing(name_width);
        if (text != shown) out.status(text);
        shown = text;
    };
    const Manifest* chapter = nullptr;
    const auto show_chapter = [&](const Manifest* of) {
        if (of == chapter) return;
        chapter = of;
        out.line();
        out.line(out.paint(Style::bold, chapter->chapter.substr(0, 2) + " " + chapter->title));
    };
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (!stop) show_chapter(chosen[i].chapter);
        // After a stop: what was finished before it, also behind what was not.
        if (!jobs.wait(i, meanwhile)) continue;
        show_chapter(chosen[i].chapter);
        report.rungs.push_back(grading.take(i));
        show_row(report.rungs.back(), name_width, out);
        shown.clear();
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (stop) return report;
    report.finished = true;
    show_total(report, out);
    if (!grading.not_stored().empty()) out.line("your progress could not be stored: " + grading.not_stored());
    return report;
}

}  // namespace rungs
