#pragma once
// The second look at a rung on the CPU backend: compiled in check mode, where every access to memory is seen,
// it runs on small cases. Its outputs are examined as in run mode. What is found can only lower a score: a
// worker that keeps its findings back has what its values earn, no more. A rung passes only when all cases
// were looked at.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/judge.hpp"
#include "judge/worker_process.hpp"

namespace rungs::judge {

/// Which block and warp of the first launch to follow while counting.
struct Watched {
    std::uint64_t block = 0;
    std::uint64_t warp = 0;
};

/// The GPU whose time is modelled, and whose number of multiprocessors a counted call finds.
/// @throws InfraError
const simt::model::Machine& modelled_machine(const Toolchain& toolchain);

/// What a call in check mode left: copied before the worker could go on.
struct Checked {
    std::vector<Array> outputs;  ///< of a call that succeeded
    /// What was found and, if that was asked for, counted: the text of `{"findings": [...], "launches":
    /// [...]}`; empty if the worker could not say.
    std::string report;
};

/// A worker in check mode.
class CheckedWorker {
  public:
    /// @param executable  built with Mode::check
    /// @param options  limits, and the flag that stops
    CheckedWorker(std::filesystem::path executable, const JudgeOptions& options)
        : executable_(std::move(executable)), options_(options) {}

    /// One call of the case, in the given order of blocks, warps and lanes, with `count` counted. A worker is
    /// for one of both.
    /// @returns what went wrong. @throws Stopped, InfraError
    std::optional<Failure> call(const Case& which, const Task& task, std::uint64_t order,
                                const Watched* count, double seconds, Checked& checked);

    /// Whether lines had to be looked up for the last report: counters of that call lack them.
    bool looked_up() const { return worker_ && worker_->looked_up(); }

    /// What it printed: trimmed and safe to show.
    std::string printed() const { return worker_ ? worker_->printed() : ""; }

  private:
    std::filesystem::path executable_;
    const JudgeOptions& options_;
    std::unique_ptr<Worker> worker_;
};

/// A call in check mode whose outputs are wrong, though in run mode all were right: that is the verdict.
void put_wrong(RungResult& result, const std::string& which, const Check& check);

/// Is the first finding, which explains most, an error?
bool has_error(const std::vector<Finding>& findings);

/// Puts what was found in the case `which` into `result`; an error is its verdict, unless the manifest lets a
/// right rung off.
void put_findings(RungResult& result, const Manifest& manifest, const std::filesystem::path& source,
                  std::vector<Finding> findings, const std::string& which);

/// Looks for findings and puts them, and the verdict that follows from an error, into `result`, which holds
/// what the run mode found. `failing`: the case that failed there.
/// @throws Stopped, InfraError
void judge_checks(RungResult& result, const Manifest& manifest, const RungEntry& rung,
                  const std::filesystem::path& source, const Exam& exam, const JudgeOptions& options,
                  const std::optional<Case>& failing);

/// What shows in check mode alone that a rung is wrong: the first error found, failure or wrong output,
/// over all of its cases and orders; empty: nothing does. @throws Stopped, InfraError also for one that
/// cannot be built
std::string first_fault(const Manifest& manifest, const RungEntry& rung, const std::filesystem::path& source,
                        const Exam& exam, const JudgeOptions& options);

}  // namespace rungs::judge
