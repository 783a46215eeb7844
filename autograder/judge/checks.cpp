#include "judge/checks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/preprocessed.hpp"
#include "judge/confine/held_reader.hpp"
#include "judge/judge.hpp"
#include "judge/result/defences.hpp"
#include "judge/result/findings.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using protocol::Region;
using simt::check::Severity;

constexpr double budget_of_failed = 3;  ///< seconds for a rung that was wrong: there is a verdict already
constexpr double failing_work = 1e7;    ///< of the case that failed
constexpr double launch_seconds = 4;    ///< for a launch of a small case, which takes 0.1
constexpr std::size_t report_bytes = 4U << 20;
// Processor time for further cases: for all of them, where run mode has launched more or where lines were not
// reached, and for each.
constexpr double seconds_for_launches = 6, seconds_for_lines = 2, seconds_of_one = 2;

bool is_small(const Trial& trial, const Case& which) {
    return trial.exam.work(which).size() <= trial.manifest.check.work;
}

/// The case that failed, where it is not too large, then those of the manifest, the small ones first.
std::vector<Case> cases_to_check(const Trial& trial, const std::optional<Case>& failing) {
    const Manifest& manifest = trial.manifest;
    const std::uint64_t seed = trial.options.seed;
    std::vector<Case> cases;
    if (failing && trial.exam.work(*failing).size() <= failing_work) cases.push_back(*failing);
    for (Case& which : manifest.check_cases_of(trial.rung, seed)) {
        if (manifest.check.sizes.empty() && !is_small(trial, which)) continue;
        cases.push_back(std::move(which));
    }
    for (Case& which : manifest.large_check_cases_of(trial.rung, seed)) {
        if (std::find(cases.begin(), cases.end(), which) == cases.end()) cases.push_back(std::move(which));
    }
    return cases;
}

/// Where the exam has no cause for what run mode left, it may have one for what check mode leaves.
void explain_wrong(RungResult& result, const Check& check) {
    Correctness& correctness = result.correctness;
    if (check.passed || check.cause.empty() || correctness.unwritten || !correctness.cause.empty()) return;
    correctness.cause = check.cause;
    correctness.certain = check.certain;
    result.say_why_outputs_are_wrong();
}

/// Verdicts for which a closer look may tell more.
bool worth_a_look(Verdict verdict) {
    static constexpr std::array verdicts{
        Verdict::ok,      Verdict::wrong,         Verdict::out_of_bounds, Verdict::deadlock,
        Verdict::timeout, Verdict::runtime_error, Verdict::runtime_signal};
    return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
}

/// A worker that did not come to its end although run mode was right.
void put_failure(RungResult& result, const std::string& which, Cause cause) {
    if (cause.kind == Verdict::timeout || cause.kind == Verdict::deadlock) {
        cause.which = "in check mode, " + which;
    } else {
        cause.kind = Verdict::suspect;
        cause.source = Source::checks;
        cause.text =
            fmt::format("the results are right, but the checks could not be made: {}: {}", which, cause.text);
    }
    result.decide(std::move(cause));
}

bool same(const std::vector<Array>& a, const std::vector<Array>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Array& x, const Array& y) { return x.bytes == y.bytes; });
}

/// Lines of the rung that no block of `ran` comes from. Those without a word are the end of something, and an
/// exam asks for nothing that a rung has to refuse.
std::vector<unsigned> unreached(const std::map<unsigned, bool>& run, const std::string& text) {
    std::istringstream in(text);
    std::vector<unsigned> lines;
    unsigned number = 0;
    bool throws = false;  // the statement goes on
    for (std::string line; std::getline(in, line);) {
        const auto found = run.find(++number);
        const auto first =
            std::find_if(line.begin(), line.end(), [](char c) { return c != ' ' && c != '\t'; });
        throws = throws || std::string_view(first, line.end()).starts_with("throw ");
        const bool word =
            std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c); });
        if (word && !throws && found != run.end() && !found->second) lines.push_back(number);
        throws = throws && line.find(';') == std::string::npos;
    }
    return lines;
}

/// simt::check::lines_run() for a source of so many lines; none where `unread` says why.
std::map<unsigned, bool> lines_run(const fs::path& executable, const std::string& name, std::size_t lines,
                                   const std::set<std::uint64_t>& ran, const std::atomic<bool>* stop,
                                   std::string& unread) {
    std::string addresses;
    for (const std::uint64_t address : ran) addresses += fmt::format("{:x}\n", address);
    Reader reader = program_reader();
    reader.words = {"lines", name};
    // A line and whether it has run, one behind the other.
    const std::vector<std::uint32_t> numbers =
        read_numbers(reader, executable, addresses, 2 * lines, unread, stop);
    std::map<unsigned, bool> run;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) run[numbers[i]] = numbers[i + 1] != 0;
    return run;
}

/// Adds the blocks that a call was the first to run to `checks`. @returns what it has found
/// @throws std::runtime_error where the report makes no sense
std::vector<QuotedFinding> take_report(const CheckedCall& checked, const fs::path& source,
                                       ChecksResult& checks) {
    if (!checked.unread.empty()) checks.unread = checked.unread;
    std::vector<QuotedFinding> found;
    if (is_on(Defence::findings)) found = findings_of(checked.report);
    // The workspaces of streams, which a header of ours allocates, are kept on purpose.
    std::erase_if(found, [&](const QuotedFinding& finding) {
        return finding.kind == "leak" && finding.side.place.file != source.filename();
    });
    for (const std::uint64_t block : blocks_of(checked.report)) checks.blocks.insert(block);
    return found;
}

/// Notes in `checks` which lines of `source` no check has reached.
void put_unchecked(ChecksResult& checks, const fs::path& executable, const fs::path& source,
                   const std::atomic<bool>* stop) {
    const std::string text = read_file(source);
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    checks.unchecked = unreached(
        lines_run(executable, source.filename().string(), lines, checks.blocks, stop, checks.unread), text);
}

WorkerOptions checked_worker(const JudgeOptions& options, const std::optional<Watched>& count) {
    WorkerOptions how;
    how.cpu_seconds = 2 * options.budget + worker_start_seconds;
    how.report_bytes = report_bytes;
    // All lanes of a cooperative grid live at once: in check mode so many take more memory than there is.
    if (count) how.multiprocessors = modelled_machine(options.toolchain).multiprocessors;
    how.stop = options.stop;
    return how;
}

}  // namespace

const simt::model::Machine& modelled_machine(const Toolchain& toolchain) {
    static const simt::model::Machine machine = [&] {
        try {
            return simt::model::read_machine(toolchain.root / "common/simt/model/h200.toml");
        } catch (const std::runtime_error& error) {
            throw InfraError(error.what());
        }
    }();
    return machine;
}

CheckedSession::CheckedSession(const fs::path& executable, const JudgeOptions& options,
                               std::optional<Watched> count)
    : machine_(modelled_machine(options.toolchain)),
      count_(count),
      session_(executable, checked_worker(options, count), worker_start_seconds) {}

std::optional<Cause> CheckedSession::call(const Case& which, const Task& task, std::uint64_t order,
                                          double seconds, bool small, CheckedCall& checked) {
    checked = {};
    looked_up_ = false;
    const Layout layout = lay_out(task);
    if (std::optional<Cause> cause = session_.prepare(which.problem, task, layout)) return cause;
    protocol::Request& request = session_.request();
    request.order = order;
    request.exact = is_on(Defence::addresses) ? 0 : 1;
    request.launch_seconds = 0.75 * seconds;  // what is left is for stopping it and for its report
    if (small) request.launch_seconds = std::min(request.launch_seconds, launch_seconds);
    request.count = count_.has_value();
    if (count_) {
        request.trace_block = count_->block;
        request.trace_warp = count_->warp;
    }
    request.l2_bytes = machine_.l2_bytes;
    WorkerProcess& worker = session_.worker();
    const double busy_before = worker.busy_seconds();
    std::optional<Cause> cause = worker.command(protocol::all_steps, seconds);
    const double busy = worker.busy_seconds() - busy_before;
    checked.busy_seconds = busy >= 0 ? busy : seconds;  // it was ended
    launched_.note(worker.reply(), which);
    if (!cause) {
        checked.outputs = outputs_in(task, layout, worker.out() + protocol::reply_bytes);
        checked.left = left_in_scratch(worker.reply());
        // A lane that a bad access has stopped makes the launch fail; what it did is worth more than that.
        cause = worker.complaint();
        std::string report;
        std::optional<Cause> silent = worker.report(seconds, report);
        looked_up_ = worker.looked_up();
        checked.unread = worker.unread();
        if (silent && !cause) cause = std::move(silent);
        try {
            if (!silent && !report.empty()) checked.report = parse_report(report);
        } catch (const std::runtime_error& error) {
            cause = Cause{Verdict::protocol, error.what()};
        }
    }
    if (cause) session_.drop();  // a failed launch may leave the next ones failing as well
    return cause;
}

bool CheckedSession::reports_refusal(const Case& which, const Task& task, double seconds) {
    if (session_.prepare(which.problem, task, lay_out(task))) return true;  // for others to tell
    protocol::Request& request = session_.request();
    request.refuse = 1;
    request.count = 0;
    request.launch_seconds = seconds;
    const std::optional<Cause> ended = session_.run(protocol::all_steps, seconds);
    session_.drop();
    return ended.has_value();
}

void put_wrong(RungResult& result, const std::string& which, const Check& check) {
    put_mismatches(result.correctness, check);
    result.correctness.cause = check.cause;
    result.correctness.certain = check.certain;
    result.correctness.failing_case = "in check mode, " + which;
    result.decide(wrong_outputs(result.correctness));
}

/// Says of outputs that were right in ascending order what the exam cannot know.
void depends_on_order(Check& check) {
    check.certain = false;
    check.cause =
        "the same call gives different results: right while blocks and warps run one after the other, and "
        "not in another order, in which some pause behind an atomic operation. Is something taken before it "
        "is there, or is scratch memory not left as it was found?" +
        (check.cause.empty() ? "" : " What the outputs look like: " + check.cause);
}

bool needs_checks(const Trial& trial) {
    return trial.options.backend == Backend::cpu || trial.rung.kind == Kind::repair;
}

bool has_no_end(const QuotedFinding& finding) {
    return finding.kind == "timeout" || finding.kind == "livelock";
}

bool has_error(const std::vector<QuotedFinding>& findings) {
    return !findings.empty() && findings.front().severity == Severity::error;
}

void put_findings(RungResult& result, const Trial& trial, std::vector<QuotedFinding> findings,
                  const std::string& which) {
    ChecksResult& checks = result.checks;
    checks.findings = std::move(findings);
    checks.found_in = which;
    quote_source(checks.findings, trial.source.filename().string(), read_file(trial.source));
    if (has_error(checks.findings) && (trial.manifest.check.required || !result.passed())) {
        const QuotedFinding& first = checks.findings.front();
        // That a given kernel reads what the rung has not written says less than that.
        if (result.correctness.unwritten && verdict_of(first) == Verdict::uninit &&
            first.side.place.file != trial.source.filename())
            return;
        result.decide(cause_of(first));
    }
}

/// Verdicts on what a call has done. The others are on how its process ended, as any may that is slow or is
/// killed.
static bool is_of_the_call(Verdict verdict) {
    return verdict == Verdict::deadlock || verdict == Verdict::runtime_error;
}

std::string first_fault(const Trial& trial, const fs::path& executable) {
    const Exam& exam = trial.exam;
    prepare_process();
    CheckedSession session(executable, trial.options);
    const std::vector<Case> cases = cases_to_check(trial, std::nullopt);
    for (int order = 0; order < trial.manifest.check.orders; ++order) {
        for (const Case& which : cases) {
            const Task task = exam.make(which);
            CheckedCall checked;
            const auto call = [&] {
                return session.call(which, task, static_cast<std::uint64_t>(order), trial.rung.time_limit,
                                    is_small(trial, which), checked);
            };
            std::optional<Cause> cause = call();
            std::vector<QuotedFinding> found = findings_of(checked.report);
            // As a busy machine may end a right call, too: once more.
            const auto may_be_right = [&] {
                return has_error(found) ? found.front().kind == "timeout"
                                        : cause && !is_of_the_call(cause->kind);
            };
            if (may_be_right()) {
                cause = call();
                found = findings_of(checked.report);
            }
            const std::string fault = has_error(found) ? in_one_line(found.front())
                                      : cause          ? cause->text
                                                       : "";
            if (may_be_right()) throw InfraError(describe(exam, which, task) + ": " + fault);
            if (!fault.empty()) return fault;
            if (!exam.check(which, task, checked.outputs).passed)
                return "wrong output: " + describe(exam, which, task);
        }
    }
    return "";
}

namespace {

/// Calls of a rung in check mode, case by case and order by order, until one has shown a fault.
class Checker {
  public:
    /// `executable`: built with Mode::check. `failing`: the case that failed in run mode.
    Checker(RungResult& result, const Trial& trial, const fs::path& executable,
            const std::optional<Case>& failing)
        : result_(result),
          checks_(result.checks),
          trial_(trial),
          executable_(executable),
          failing_(failing),
          right_(result.passed()),
          needed_(needs_checks(trial)),
          decides_(right_ && needed_ && is_on(Defence::complete_checks)),
          limit_(right_ ? trial.options.budget : budget_of_failed),
          call_limit_(trial.options.time_limit > 0 ? trial.options.time_limit : trial.rung.time_limit),
          cases_(cases_to_check(trial, failing)),
          start_(Clock::now()),
          session_(executable, trial.options) {
        checks_.of = static_cast<int>(cases_.size());
        checks_.orders =
            right_ ? trial.manifest.check.orders : 1;  // races and bounds show in any one of them
    }

    void check() {
        for (const Case& which : cases_) {
            if (trial_.options.progress)
                trial_.options.progress({trial_.rung, Phase::checks, checks_.cases, checks_.of});
            check(which);
            if (is_over()) break;
            ++checks_.cases;
        }
        if (right_ && trial_.rung.checks_launches && !is_over() && !cases_.empty()) refuse_launches();
        put_findings(result_, trial_, std::move(findings_), found_in_);
        conclude();
    }

  private:
    bool is_over() const { return has_error(findings_) || !cut_short_.empty(); }

    /// One case, in all orders.
    void check(const Case& which) {
        const Task task = [&] {
            const Lap lap(result_.profile, Part::inputs);
            return trial_.exam.make(which);
        }();
        right_outputs_.clear();
        for (int order = 0; order < checks_.orders && !is_over(); ++order) check(which, task, order);
    }

    void check(const Case& which, const Task& task, int order) {
        const double left = seconds_left();
        if (left <= 0) {
            cut_short_ = fmt::format("the {} s for them ran out", limit_);
            return;
        }
        CheckedCall checked;
        std::vector<QuotedFinding> found;
        const std::optional<Cause> cause = call(which, task, order, left, checked, found);
        const std::string where = fmt::format("{}, order {}", describe(trial_.exam, which, task), order);
        take(std::move(found), where);
        if (!cause && failing_ && which == *failing_ && result_.verdict == Verdict::wrong)
            explain_wrong(result_, trial_.exam.check(which, task, checked.outputs));
        if (has_error(findings_)) return;
        if (cause) {
            put_cause(which, task, *cause);
        } else if (right_) {
            if (is_on(Defence::checked_outputs) && !same(checked.outputs, right_outputs_))
                examine(which, task, order, where, std::move(checked.outputs));
            if (cut_short_.empty() && !checked.left.empty() && is_on(Defence::scratch))
                put_left(checked.left, where);
        }
    }

    /// Of the time for all calls. A rung that is right must not be able to sleep until nobody looks any more.
    double seconds_left() const {
        const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
        return limit_ - (right_ || passed > beside_others * limit_ ? passed : busy_);
    }

    /// @returns what went wrong
    std::optional<Cause> call(const Case& which, const Task& task, int order, double left,
                              CheckedCall& checked, std::vector<QuotedFinding>& found) {
        const Lap lap(result_.profile, Part::checks);
        std::optional<Cause> cause = session_.call(which, task, static_cast<std::uint64_t>(order),
                                                   right_ ? call_limit_ : std::min(left, call_limit_),
                                                   is_small(trial_, which), checked);
        busy_ += checked.busy_seconds;
        try {
            found = take_report(checked, trial_.source, checks_);
        } catch (const std::runtime_error& error) {
            cause = Cause{Verdict::protocol, error.what()};
        }
        return cause;
    }

    /// Keeps what was found first, until there is an error.
    void take(std::vector<QuotedFinding> found, const std::string& where) {
        // A launch that check mode has no time for says nothing new of outputs that are wrong already.
        if (result_.verdict == Verdict::wrong) {
            std::erase_if(
                found, [](const QuotedFinding& finding) { return verdict_of(finding) == Verdict::timeout; });
        }
        if (right_ && !needed_) std::erase_if(found, has_no_end);
        if (found.empty() || (!has_error(found) && !findings_.empty())) return;
        findings_ = std::move(found);
        found_in_ = where;
    }

    /// A call that did not come back as it should.
    void put_cause(const Case& which, const Task& task, const Cause& cause) {
        cut_short_ = cause.text;
        if (decides_) put_failure(result_, describe(trial_.exam, which, task), cause);
        // A kernel would have been stopped, and found, before the call as a whole was.
        if (cause.kind == Verdict::timeout && result_.verdict == Verdict::timeout && findings_.empty()) {
            result_.causes.front().text +=
                "; the line is not known: perhaps an iteration that does not converge, a loop on "
                "the host, or a graph's conditional node whose word never becomes 0";
        }
    }

    /// Outputs that are not those of the order before. In run mode all were right.
    void examine(const Case& which, const Task& task, int order, const std::string& where,
                 std::vector<Array> outputs) {
        const Lap judging(result_.profile, Part::expected);
        Check check = trial_.exam.check(which, task, outputs);
        if (!check.passed) {
            cut_short_ = "its outputs are wrong";
            result_.correctness.varies = order > 0;
            if (order > 0) depends_on_order(check);
            put_wrong(result_, where, check);
        } else if (trial_.rung.repeatable && order > 0) {
            cut_short_ = "its outputs are not the same in every order";
            result_.correctness.failing_case = "in check mode, " + where;
            result_.decide({.kind = Verdict::wrong,
                            .text = "right, but not the same bits in every run: they depend on the "
                                    "order in which blocks or warps come",
                            .source = Source::checks,
                            .which = result_.correctness.failing_case});
        }
        right_outputs_ = std::move(outputs);
    }

    /// What a right call has left in scratch memory. In run mode a GPU does not tell.
    void put_left(const std::string& left, const std::string& where) {
        cut_short_ = "scratch memory is not all 0";
        result_.correctness.failing_case = "in check mode, " + where;
        result_.decide(dirty_scratch(left, result_.correctness.failing_case));
    }

    /// A call whose launches all fail: the launcher has to say so.
    void refuse_launches() {
        const Exam& exam = trial_.exam;
        const Case& most = *std::max_element(cases_.begin(), cases_.end(), [&](const Case& a, const Case& b) {
            return exam.work(a).size() < exam.work(b).size();
        });
        const Task task = exam.make(most);
        if (session_.reports_refusal(most, task, call_limit_)) return;
        result_.correctness.failing_case = describe(exam, most, task);
        result_.decide({.kind = Verdict::wrong,
                        .text = "right, but a launch that fails is not reported: every launch was "
                                "refused here, and the launcher returned as if it had worked. After a "
                                "launch comes CUDA_CHECK(cudaGetLastError())",
                        .source = Source::checks,
                        .which = result_.correctness.failing_case});
    }

    /// Whether all was looked at, and what follows if it was not.
    void conclude() {
        const bool complete = checks_.of > 0 && checks_.cases == checks_.of;
        if (complete) {
            put_unchecked(checks_, executable_, trial_.source, trial_.options.stop);
            for (const auto& [name, which] : session_.launched().named(executable_, trial_.options.stop))
                checks_.launched.insert(name);
        }
        checks_.done = has_error(checks_.findings) || complete;
        if (checks_.done) return;
        checks_.why_not = checks_.of == 0 ? std::string("no case is small enough")
                                          : fmt::format("cut short after {} of {} cases: {}", checks_.cases,
                                                        checks_.of, cut_short_);
        if (result_.passed() && decides_) {
            result_.decide({.kind = Verdict::suspect,
                            .text = "the results are right, but the checks were " + checks_.why_not,
                            .source = Source::checks});
        }
    }

    RungResult& result_;
    ChecksResult& checks_;  ///< of `result_`
    const Trial& trial_;
    const fs::path executable_;
    const std::optional<Case>& failing_;
    const bool right_;    ///< run mode has found no fault
    const bool needed_;   ///< needs_checks()
    const bool decides_;  ///< it must not pass unless all was looked at
    const double limit_;  ///< seconds for all calls
    const double call_limit_;
    const std::vector<Case> cases_;
    const Clock::time_point start_;
    CheckedSession session_;
    double busy_ = 0;  ///< seconds of `limit_` that are gone, where others' work does not count
    std::vector<Array> right_outputs_;     ///< of the case that is checked, in the order before
    std::vector<QuotedFinding> findings_;  ///< the first, or those of the first error
    std::string found_in_;                 ///< the case of these in words
    std::string cut_short_;                ///< why the checks ended early; empty: they did not
};

}  // namespace

void judge_checks(RungResult& result, const Trial& trial, const std::optional<Case>& failing) {
    ChecksResult& checks = result.checks;
    const BackendTools* tools = trial.options.toolchain.tools(Backend::cpu, Mode::check);
    if (!tools) {
        checks.why_not = "this build has no check mode: it uses a sanitizer of its own";
        return;
    }
    if (!worth_a_look(result.verdict)) {
        checks.why_not = "not done: the verdict stands without them";
        return;
    }
    const auto start = Clock::now();
    if (trial.options.progress) trial.options.progress({trial.rung, Phase::checks, 0, 0});
    checks.tool = "check mode, " + tools->describe;
    const Build build = [&] {
        const Lap lap(result.profile, Part::check_build);
        return build_worker(trial, Backend::cpu, Mode::check);
    }();
    if (build.hides) {
        checks.why_not = "not done: the verdict stands without them";
        return result.decide({.kind = Verdict::compile_error, .text = build.reason, .source = Source::build});
    }
    if (build.executable.empty()) {
        // Run mode's compiler took it: no fault of the student's as far as we can tell.
        checks.why_not = "does not compile in check mode: " + build.reason;
        if (result.passed() && needs_checks(trial))
            result.decide({.kind = Verdict::suspect, .text = checks.why_not, .source = Source::checks});
        return;
    }
    Checker checker(result, trial, build.executable, failing);
    checker.check();
    checks.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

namespace {

/// The cases that show what the checks have not seen, those of little work first: of each launch in `missing`
/// its own and, where lines were not reached, all sizes of run mode that were not checked.
std::vector<Case> cases_of_the_rest(const Trial& trial, const std::map<std::string, Case>& missing,
                                    bool lines) {
    std::vector<Case> cases;
    const std::vector<Case> known = cases_to_check(trial, std::nullopt);
    const auto same_size = [](const Case& one) {
        return [&](const Case& other) { return one.problem == other.problem && one.sizes == other.sizes; };
    };
    for (const auto& [name, which] : missing) {
        // The case itself and none of its size: which kernel is launched may depend on the data.
        if (std::find(cases.begin(), cases.end(), which) == cases.end()) cases.push_back(which);
    }
    for (const Case& which : trial.manifest.cases_of(trial.rung, Backend::cpu, trial.options.seed)) {
        const auto is_new = [&](const std::vector<Case>& all) {
            return std::none_of(all.begin(), all.end(), same_size(which));
        };
        if (lines && is_new(known) && is_new(cases)) cases.push_back(which);
    }
    std::stable_sort(cases.begin(), cases.end(), [&](const Case& a, const Case& b) {
        return trial.exam.work(a).size() < trial.exam.work(b).size();
    });
    return cases;
}

}  // namespace

void check_the_rest(RungResult& result, const Trial& trial, const LaunchKinds& launched,
                    const fs::path& executable) {
    const Exam& exam = trial.exam;
    const std::atomic<bool>* const stop = trial.options.stop;
    ChecksResult& checks = result.checks;
    checks.unchecked_by_cases = checks.unchecked;
    if (trial.rung.given() || !result.passed() || !checks.done || has_error(checks.findings) ||
        !is_on(Defence::every_launch))
        return;
    const auto doubt = [&](const std::string& why) {
        result.decide({.kind = Verdict::suspect,
                       .text = "the results are right, but " + why,
                       .source = Source::checks});
    };
    if (launched.too_many()) return doubt("kernels are launched in too many ways to check each of them");
    std::map<std::string, Case> missing = launched.named(executable, stop);
    const auto drop_checked = [&] {
        for (const std::string& name : checks.launched) missing.erase(name);
    };
    drop_checked();
    if (missing.empty() && checks.unchecked.empty()) return;
    const Build build = build_worker(trial, Backend::cpu, Mode::check);
    const Lap lap(result.profile, Part::checks);
    CheckedSession session(build.executable, trial.options);
    double left = missing.empty() ? seconds_for_lines : seconds_for_launches;
    for (const Case& which : cases_of_the_rest(trial, missing, !checks.unchecked.empty())) {
        if (left <= 0 || (missing.empty() && checks.unchecked.empty())) break;
        const Task task = exam.make(which);
        CheckedCall checked;
        const std::optional<Cause> cause =
            session.call(which, task, 0, std::min(left, seconds_of_one), false, checked);
        left -= checked.busy_seconds;
        const std::string where = fmt::format("{}, order 0", describe(exam, which, task));
        std::vector<QuotedFinding> found;
        try {
            found = take_report(checked, trial.source, checks);
        } catch (const std::runtime_error& error) {
            return put_failure(result, where, Cause{Verdict::protocol, error.what()});
        }
        std::erase_if(found, has_no_end);  // of such a launch the first blocks were seen
        if (has_error(found)) return put_findings(result, trial, std::move(found), where);
        for (const auto& [name, ignored] : session.launched().named(build.executable, stop))
            checks.launched.insert(name);
        drop_checked();
        put_unchecked(checks, build.executable, trial.source, stop);
        if (cause) continue;  // it did not finish here; in run mode the same call was right
        const Check check = exam.check(which, task, checked.outputs);
        if (!check.passed && is_on(Defence::checked_outputs)) return put_wrong(result, where, check);
        // A call that has come to its end has made the same launches as in run mode, even where the compiler
        // calls its copies of a function something else.
        std::erase_if(missing, [&](const auto& one) { return one.second == which; });
    }
    if (missing.empty()) return;
    const auto& [name, which] = *missing.begin();
    doubt(fmt::format("no check has come to {}, as {} makes it", kernel_of(name),
                      without_seed(describe(exam, which, exam.make(which)))));
}

void doubt_checks(RungResult& result, const Trial& trial) {
    if (trial.options.backend != Backend::cuda || !result.passed() || !result.checks.done) return;
    const std::size_t line = compiler_condition(read_file(trial.source));
    if (line == 0) return;
    result.checks.done = false;
    result.checks.why_not = fmt::format(
        "line {} asks which compiler reads it: the GPU's program may be another than was checked", line);
    if (needs_checks(trial) && is_on(Defence::complete_checks)) {
        result.decide({.kind = Verdict::suspect, .text = result.checks.why_not, .source = Source::checks});
    }
}

}  // namespace rungs::judge
