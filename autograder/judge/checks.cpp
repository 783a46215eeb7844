#include "judge/checks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "judge/build.hpp"
#include "judge/findings.hpp"
#include "simt/inspect/columns.h"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using protocol::Region;
using simt::check::Severity;

constexpr double start_seconds = 20;
constexpr double budget_of_failed = 6;  ///< seconds for a rung that was wrong: there is a verdict already
constexpr double failing_work = 1e7;    ///< of the case that failed
constexpr std::size_t report_bytes = 4U << 20;

double work_of(const Exam& exam, const Case& which) {
    const Work work = exam.work(which);
    return std::max(work.bytes, work.flops);
}

/// The case that failed, where it is not too large, then those of the manifest, the small ones first.
std::vector<Case> cases_to_check(const Manifest& manifest, const RungEntry& rung, const Exam& exam,
                                 std::uint64_t key, const std::optional<Case>& failing) {
    std::vector<Case> cases;
    if (failing && work_of(exam, *failing) <= failing_work) cases.push_back(*failing);
    for (Case& which : manifest.check_cases_of(rung, key)) {
        if (manifest.check.sizes.empty() && work_of(exam, which) > manifest.check.work) continue;
        cases.push_back(std::move(which));
    }
    for (Case& which : manifest.large_check_cases_of(rung, key)) {
        const auto same = [&](const Case& other) {
            return other.problem == which.problem && other.sizes == which.sizes && other.kind == which.kind &&
                   other.seed == which.seed;
        };
        if (std::none_of(cases.begin(), cases.end(), same)) cases.push_back(std::move(which));
    }
    return cases;
}

/// Verdicts for which a closer look may tell more.
bool worth_a_look(Verdict verdict) {
    static constexpr std::array verdicts{
        Verdict::ok,      Verdict::wrong,         Verdict::out_of_bounds, Verdict::deadlock,
        Verdict::timeout, Verdict::runtime_error, Verdict::runtime_signal};
    return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
}

/// A worker that did not come to its end although run mode was right.
void put_failure(RungResult& result, const std::string& which, const Failure& failure) {
    const bool clear = failure.verdict == Verdict::timeout || failure.verdict == Verdict::deadlock;
    result.verdict = clear ? failure.verdict : Verdict::suspect;
    result.reason = clear ? fmt::format("in check mode, {}: {}", which, failure.reason)
                          : fmt::format("the results are right, but the checks could not be made: {}: {}",
                                        which, failure.reason);
}

bool same(const std::vector<Array>& a, const std::vector<Array>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Array& x, const Array& y) { return x.bytes == y.bytes; });
}

/// Lines of the rung that no block of `ran` comes from. Those without a word are the end of something.
std::vector<unsigned> unreached(const fs::path& executable, const std::string& name, const std::string& text,
                                const std::set<std::uint64_t>& ran) {
    std::istringstream in(text);
    std::vector<unsigned> lines;
    const auto run = simt::check::lines_run(executable.string(), name, ran);
    unsigned number = 0;
    for (std::string line; std::getline(in, line);) {
        const auto found = run.find(++number);
        const bool word =
            std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c); });
        if (word && found != run.end() && !found->second) lines.push_back(number);
    }
    return lines;
}

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
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

std::optional<Failure> CheckedWorker::call(const Case& which, const Task& task, std::uint64_t order,
                                           const Watched* count, double seconds, Checked& checked) {
    checked = {};
    const simt::model::Machine& machine = modelled_machine(options_.toolchain);
    const Layout layout = lay_out(task);
    if (!worker_ || !worker_->holds(layout)) {
        if (worker_) worker_->kill();
        WorkerOptions how;
        how.cpu_seconds = 2 * options_.budget + start_seconds;
        how.in_bytes = 2 * layout.in_bytes;
        how.out_bytes = 2 * layout.out_bytes;
        how.report_bytes = report_bytes;
        // All lanes of a cooperative grid live at once: in check mode so many take more memory than there is.
        if (count) how.multiprocessors = machine.multiprocessors;
        how.stop = options_.stop;
        worker_ = std::make_unique<Worker>(executable_, how);
        if (std::optional<Failure> failure = worker_->start(start_seconds)) return failure;
    }
    protocol::Request& request = worker_->request();
    fill_request(request, which.problem, task, 1);
    request.order = order;
    request.launch_seconds = 0.75 * seconds;  // what is left is for stopping it and for its report
    request.count = count != nullptr;
    if (count) {
        request.trace_block = count->block;
        request.trace_warp = count->warp;
    }
    request.l2_bytes = machine.l2_bytes;
    const std::uint32_t poison = draw_secrets().poison;
    for (std::size_t i = 0; i < layout.regions.size(); ++i) {
        const Region& region = request.region[i] = layout.regions[i];
        // What the worker does not hand back must not look like an answer.
        fill_region(worker_->out() + region.out_offset, region, {}, poison);
        if (i >= task.inputs.size()) continue;
        fill_region(worker_->in() + region.in_offset, region, task.inputs[i], 0);
    }
    const std::optional<Failure> failure = worker_->order(protocol::all_steps, seconds);
    if (failure) {
        worker_.reset();
        return failure;
    }
    checked.outputs = outputs_in(task, layout, worker_->out() + protocol::reply_bytes);
    // A lane that a bad access has stopped makes the launch fail; what it did is worth more than that.
    const std::optional<Failure> complaint = worker_->complaint(worker_->reply());
    if (const std::optional<Failure> silent = worker_->report(seconds, checked.report)) {
        worker_.reset();
        return complaint ? complaint : silent;
    }
    if (complaint) worker_.reset();  // a failed launch may leave the next ones failing as well
    return complaint;
}

void put_wrong(RungResult& result, const std::string& which, const Check& check) {
    put_mismatches(result.correctness, check);
    result.correctness.cause = check.cause;
    result.correctness.failing_case = "in check mode, " + which;
    result.verdict = Verdict::wrong;
    result.reason =
        fmt::format("{}: {}", result.correctness.failing_case, wrong_in_words(result.correctness));
}

bool has_error(const std::vector<Finding>& findings) {
    return !findings.empty() && findings.front().severity == Severity::error;
}

void put_findings(RungResult& result, const Manifest& manifest, const fs::path& source,
                  std::vector<Finding> findings, const std::string& which) {
    Checks& checks = result.checks;
    checks.findings = std::move(findings);
    checks.found_in = which;
    quote_source(checks.findings, source.filename().string(), content(source));
    if (has_error(checks.findings) && (manifest.check.required || !result.passed())) {
        result.verdict = verdict_of(checks.findings.front());
        result.reason = in_one_line(checks.findings.front());
    }
}

std::string first_fault(const Manifest& manifest, const RungEntry& rung, const fs::path& source,
                        const Exam& exam, const JudgeOptions& options) {
    const Build build =
        build_worker(manifest, rung, source, options.toolchain, Backend::cpu, options.stop, Mode::check);
    if (build.executable.empty()) throw InfraError("does not compile in check mode: " + build.reason);
    CheckedWorker worker(build.executable, options);
    const std::vector<Case> cases = cases_to_check(manifest, rung, exam, options.key, std::nullopt);
    for (int order = 0; order < manifest.check.orders; ++order) {
        for (const Case& which : cases) {
            const Task task = exam.make(which);
            Checked checked;
            const std::optional<Failure> failure = worker.call(which, task, static_cast<std::uint64_t>(order),
                                                               nullptr, rung.time_limit, checked);
            const std::vector<Finding> found =
                checked.report.empty() ? std::vector<Finding>() : read_findings(checked.report);
            if (has_error(found)) return in_one_line(found.front());
            if (failure) return failure->reason;
            if (!exam.check(which, task, checked.outputs).passed)
                return "wrong output: " + describe(exam, which, task);
        }
    }
    return "";
}

void judge_checks(RungResult& result, const Manifest& manifest, const RungEntry& rung, const fs::path& source,
                  const Exam& exam, const JudgeOptions& options, const std::optional<Case>& failing) {
    Checks& checks = result.checks;
    const BackendTools* tools = options.toolchain.tools(Backend::cpu, Mode::check);
    if (!tools) {
        checks.why_not = "this build has no check mode: it uses a sanitizer of its own";
        return;
    }
    if (!worth_a_look(result.verdict)) {
        checks.why_not = "not done: the verdict stands without them";
        return;
    }
    const auto start = Clock::now();
    const auto since = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    const auto progress = [&](int done, int of) {
        if (options.progress) options.progress({rung, Phase::checks, done, of});
    };
    progress(0, 0);
    checks.tool = "check mode, " + tools->describe;
    const Build build =
        build_worker(manifest, rung, source, options.toolchain, Backend::cpu, options.stop, Mode::check);
    if (build.executable.empty()) {
        // Run mode's compiler took it: no fault of the student's as far as we can tell.
        checks.why_not = "does not compile in check mode: " + build.reason;
        if (result.passed()) {
            result.verdict = Verdict::suspect;
            result.reason = checks.why_not;
        }
        return;
    }
    const bool right = result.passed();
    const std::vector<Case> cases = cases_to_check(manifest, rung, exam, options.key, failing);
    checks.of = static_cast<int>(cases.size());
    checks.orders = manifest.check.orders;
    const double limit = right ? options.budget : budget_of_failed;
    const double call_limit = options.time_limit > 0 ? options.time_limit : rung.time_limit;
    const auto calls_start = Clock::now();
    CheckedWorker worker(build.executable, options);
    std::vector<Finding> findings;
    std::string found_in, cut_short;
    std::set<std::uint64_t> blocks;
    for (const Case& which : cases) {
        progress(checks.cases, checks.of);
        const Task task = exam.make(which);
        std::vector<Array> right_outputs;
        for (int order = 0; order < checks.orders && cut_short.empty(); ++order) {
            const double left = limit - std::chrono::duration<double>(Clock::now() - calls_start).count();
            if (left <= 0) {
                cut_short = fmt::format("{} s were over", limit);
                break;
            }
            Checked checked;
            std::optional<Failure> failure =
                worker.call(which, task, static_cast<std::uint64_t>(order), nullptr,
                            right ? call_limit : std::min(left, call_limit), checked);
            std::vector<Finding> found;
            try {
                if (!checked.report.empty()) {
                    const nlohmann::json report = parse_report(checked.report);
                    found = findings_of(report);
                    for (const std::uint64_t block : blocks_of(report)) blocks.insert(block);
                }
            } catch (const std::runtime_error& error) {
                failure = Failure{Verdict::protocol, error.what()};
            }
            const std::string where = fmt::format("{}, order {}", describe(exam, which, task), order);
            if (!found.empty() && (has_error(found) || findings.empty())) {
                findings = std::move(found);
                found_in = where;
            }
            if (has_error(findings)) break;
            if (failure) {
                cut_short = failure->reason;
                if (right) put_failure(result, describe(exam, which, task), *failure);
                // A kernel would have been stopped, and found, before the call as a whole was.
                if (failure->verdict == Verdict::timeout && result.verdict == Verdict::timeout &&
                    findings.empty()) {
                    result.reason += "; the line is not known: perhaps a loop on the host";
                }
            } else if (right && !same(checked.outputs, right_outputs)) {
                const Check check = exam.check(which, task, checked.outputs);
                if (!check.passed) {
                    cut_short = "its outputs are wrong";
                    put_wrong(result, where, check);
                }
                right_outputs = std::move(checked.outputs);
            }
        }
        if (has_error(findings) || !cut_short.empty()) break;
        ++checks.cases;
    }
    put_findings(result, manifest, source, std::move(findings), found_in);
    if (checks.of > 0 && checks.cases == checks.of)
        checks.unchecked = unreached(build.executable, source.filename().string(), content(source), blocks);
    checks.done = has_error(checks.findings) || (checks.of > 0 && checks.cases == checks.of);
    if (!checks.done) {
        checks.why_not = checks.of == 0 ? std::string("no case is small enough")
                                        : fmt::format("cut short after {} of {} cases: {}", checks.cases,
                                                      checks.of, cut_short);
        if (result.passed()) {
            result.verdict = Verdict::suspect;
            result.reason = "the results are right, but the checks were " + checks.why_not;
        }
    }
    checks.seconds = since();
}

}  // namespace rungs::judge
