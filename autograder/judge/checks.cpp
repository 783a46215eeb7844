#include "checks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "build.hpp"
#include "findings.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using protocol::Region;
using simt::check::Severity;

constexpr double start_seconds = 20;
constexpr double budget = 30;           ///< seconds for all calls of a rung that was right
constexpr double budget_of_failed = 6;  ///< and of one that was not: there is a verdict already
constexpr double failing_work = 1e7;    ///< of the case that failed
constexpr std::size_t report_bytes = 4U << 20;

double work_of(const Exam& exam, const Case& which) {
    const Work work = exam.work(which);
    return std::max(work.bytes, work.flops);
}

/// The case that failed, where it is not too large, then those of the manifest.
std::vector<Case> cases_to_check(const Manifest& manifest, const RungEntry& rung, const Exam& exam,
                                 std::uint64_t key, const std::optional<Case>& failing) {
    std::vector<Case> cases;
    if (failing && work_of(exam, *failing) <= failing_work) cases.push_back(*failing);
    for (Case& which : manifest.check_cases_of(rung, key)) {
        if (manifest.check.sizes.empty() && work_of(exam, which) > manifest.check.work) continue;
        cases.push_back(std::move(which));
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

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::optional<Failure> CheckedWorker::call(const Case& which, const Task& task, std::uint64_t order,
                                           const Watched* count, double seconds, std::string& report) {
    report.clear();
    const Layout layout = lay_out(task);
    if (!worker_ || !worker_->holds(layout)) {
        if (worker_) worker_->kill();
        WorkerOptions how;
        how.cpu_seconds = 2 * budget + start_seconds;
        how.in_bytes = 2 * layout.in_bytes;
        how.out_bytes = 2 * layout.out_bytes;
        how.report_bytes = report_bytes;
        if (machine_) how.multiprocessors = machine_->multiprocessors;
        how.stop = options_.stop;
        worker_ = std::make_unique<Worker>(executable_, how);
        if (std::optional<Failure> failure = worker_->start(start_seconds)) return failure;
    }
    protocol::Request& request = worker_->request();
    fill_request(request, which.problem, task, 1);
    request.order = order;
    request.launch_seconds = 0.9 * seconds;  // what is left is for its report
    request.count = count != nullptr;
    if (count) {
        request.trace_block = count->block;
        request.trace_warp = count->warp;
    }
    if (machine_) request.l2_bytes = machine_->l2_bytes;
    for (std::size_t i = 0; i < layout.regions.size(); ++i) {
        request.region[i] = layout.regions[i];
        if (i >= task.inputs.size()) continue;
        fill_region(worker_->in() + layout.regions[i].in_offset, layout.regions[i], task.inputs[i], 0);
    }
    const std::optional<Failure> failure = worker_->order(protocol::all_steps, seconds);
    if (failure) {
        worker_.reset();
        return failure;
    }
    // A lane that a bad access has stopped makes the launch fail; what it did is worth more than that.
    const std::optional<Failure> complaint = worker_->complaint(worker_->reply());
    if (const std::optional<Failure> silent = worker_->report(seconds, report)) {
        worker_.reset();
        return complaint ? complaint : silent;
    }
    if (complaint) worker_.reset();  // a failed launch may leave the next ones failing as well
    return complaint;
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
    checks.done = true;
    const double limit = right ? budget : budget_of_failed;
    const double call_limit = options.time_limit > 0 ? options.time_limit : rung.time_limit;
    const auto calls_start = Clock::now();
    CheckedWorker worker(build.executable, options);
    std::vector<Finding> found;
    for (const Case& which : cases) {
        progress(checks.cases, checks.of);
        const Task task = exam.make(which);
        std::optional<Failure> failure;
        for (int order = 0; order < checks.orders && !failure; ++order) {
            const double left = limit - std::chrono::duration<double>(Clock::now() - calls_start).count();
            if (left <= 0) break;
            std::string report;
            failure = worker.call(which, task, static_cast<std::uint64_t>(order), nullptr,
                                  std::min(left, call_limit), report);
            try {
                found = report.empty() ? std::vector<Finding>() : read_findings(report);
            } catch (const std::runtime_error& error) {
                failure = Failure{Verdict::protocol, error.what()};
            }
            const bool error = !found.empty() && found.front().severity == Severity::error;
            if (!found.empty() && (error || checks.findings.empty())) {
                checks.findings = found;
                checks.found_in = fmt::format("{}, order {}", describe(exam, which, task), order);
            }
            if (error) {
                failure.reset();
                break;
            }
        }
        if (failure && right) put_failure(result, describe(exam, which, task), *failure);
        const bool error = !checks.findings.empty() && checks.findings.front().severity == Severity::error;
        const bool over = std::chrono::duration<double>(Clock::now() - calls_start).count() > limit;
        if (failure || error || over) break;
        ++checks.cases;
    }
    quote_source(checks.findings, source.filename().string(), content(source));
    if (!checks.findings.empty() && checks.findings.front().severity == Severity::error &&
        (manifest.check.required || !right)) {
        result.verdict = verdict_of(checks.findings.front());
        result.reason = in_one_line(checks.findings.front());
    }
    checks.seconds = since();
}

}  // namespace rungs::judge
