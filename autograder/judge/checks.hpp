#pragma once
// The second look at a rung on the CPU backend: compiled in check mode, where every access to memory is seen,
// it runs on small cases. What is found can only lower a score: a worker that keeps its findings back has
// what its values earn, no more.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "judge.hpp"
#include "worker_process.hpp"

namespace rungs::judge {

/// Which block and warp of the first launch to follow while counting.
struct Watched {
    std::uint64_t block = 0;
    std::uint64_t warp = 0;
};

/// A worker in check mode.
class CheckedWorker {
  public:
    /// @param executable  built with Mode::check
    /// @param options  limits, and the flag that stops
    /// @param machine  whose number of multiprocessors and cache the rung finds; none: the CPU backend's own
    CheckedWorker(std::filesystem::path executable, const JudgeOptions& options,
                  const simt::model::Machine* machine = nullptr)
        : executable_(std::move(executable)), options_(options), machine_(machine) {}

    /// One call of the case, in the given order of blocks, warps and lanes. `report` gets what was found and,
    /// with `count`, counted: the text of `{"findings": [...], "launches": [...]}`; empty if the worker could
    /// not say.
    /// @returns what went wrong. @throws Stopped, InfraError
    std::optional<Failure> call(const Case& which, const Task& task, std::uint64_t order,
                                const Watched* count, double seconds, std::string& report);

    /// Whether lines had to be looked up for the last report: counters of that call lack them.
    bool looked_up() const { return worker_ && worker_->looked_up(); }

    /// What it printed: trimmed and safe to show.
    std::string printed() const { return worker_ ? worker_->printed() : ""; }

  private:
    std::filesystem::path executable_;
    const JudgeOptions& options_;
    const simt::model::Machine* machine_;
    std::unique_ptr<Worker> worker_;
};

/// Looks for findings and puts them, and the verdict that follows from an error, into `result`, which holds
/// what the run mode found. `failing`: the case that failed there.
/// @throws Stopped, InfraError
void judge_checks(RungResult& result, const Manifest& manifest, const RungEntry& rung,
                  const std::filesystem::path& source, const Exam& exam, const JudgeOptions& options,
                  const std::optional<Case>& failing);

}  // namespace rungs::judge
