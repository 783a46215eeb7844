#pragma once
// The second look at a rung on the CPU backend: compiled in check mode, where every access to memory is seen,
// it runs on small cases. Its outputs are examined as in run mode. What is found can only lower a score: a
// worker that keeps its findings back has what its values earn, no more. A rung passes only when all cases
// were looked at.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/result/launch_kinds.hpp"
#include "judge/session.hpp"
#include "judge/trial.hpp"

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
struct CheckedCall {
    std::vector<Array> outputs;  ///< of a call that succeeded
    std::string left;            ///< left_in_scratch() of one
    double busy_seconds = 0;     ///< processor time of the busiest thread
    /// What was found and, if that was asked for, counted: `{"findings": [...], "launches": [...]}`; null if
    /// the worker could not say.
    nlohmann::json report;
    std::string unread;  ///< why that lacks columns
};

/// Calls in check mode.
class CheckedSession {
  public:
    /// @param executable  built with Mode::check
    /// @param options  limits, and the flag that stops
    /// @param count  what to follow while counting; nothing: count nothing
    CheckedSession(const std::filesystem::path& executable, const JudgeOptions& options,
                   std::optional<Watched> count = std::nullopt);

    /// One call of the case, in the given order of blocks, warps and lanes. `small`: a launch that takes as
    /// long as a few seconds has no end.
    /// @returns what went wrong, a report that is none included. @throws Stopped, InfraError
    std::optional<Cause> call(const Case& which, const Task& task, std::uint64_t order, double seconds,
                              bool small, CheckedCall& checked);

    /// A call whose launches are all refused. @returns whether the launcher reports it @throws as call()
    bool reports_refusal(const Case& which, const Task& task, double seconds);

    /// Whether lines had to be looked up for the last report: counters of that call lack them.
    bool looked_up() const { return looked_up_; }

    /// What its calls have launched.
    const LaunchKinds& launched() const { return launched_; }

  private:
    const simt::model::Machine& machine_;
    std::optional<Watched> count_;
    Session session_;
    bool looked_up_ = false;
    LaunchKinds launched_;
};

/// A call in check mode whose outputs are wrong, though in run mode all were right: that is the verdict.
void put_wrong(RungResult& result, const std::string& which, const Check& check);

/// Whether a rung whose values are right must not pass if check mode cannot look at all of it. Where a GPU
/// has computed them, the rung may use what the CPU backend lacks, or need blocks that run at the same time;
/// but the fault of a repair may show in check mode alone.
bool needs_checks(const Trial& trial);

/// Whether a finding says only that check mode saw no end of a kernel. On a GPU, blocks that wait for each
/// other may all run at the same time.
bool has_no_end(const QuotedFinding& finding);

/// Is the first finding, which explains most, an error?
bool has_error(const std::vector<QuotedFinding>& findings);

/// Puts what was found in the case `which` into `result`; an error is its verdict, unless the manifest lets a
/// right rung off.
void put_findings(RungResult& result, const Trial& trial, std::vector<QuotedFinding> findings,
                  const std::string& which);

/// Looks for findings and puts them, and the verdict that follows from an error, into `result`, which holds
/// what the run mode found. `failing`: the case that failed there.
/// @throws Stopped, InfraError
void judge_checks(RungResult& result, const Trial& trial, const std::optional<Case>& failing);

/// Checks what run mode has launched, by `executable`, and the checks have not. What no check has time for is
/// for a human to look at. Where lines were not reached, larger cases are tried as well. For a rung that is
/// right, on the CPU backend. @throws Stopped, InfraError
void check_the_rest(RungResult& result, const Trial& trial, const LaunchKinds& launched,
                    const std::filesystem::path& executable);

/// What shows in check mode alone that a rung is wrong: the first error found, failure or wrong output,
/// over all of its cases and orders; empty: nothing does. `executable`: built with Mode::check.
/// @throws Stopped, InfraError, also for a call whose process was too slow, twice, or did not come to its end
std::string first_fault(const Trial& trial, const std::filesystem::path& executable);

/// On a GPU: says that they are incomplete where the GPU may have run another program than was checked, since
/// the rung's text is another one for another compiler. After its calls have been counted.
void doubt_checks(RungResult& result, const Trial& trial);

}  // namespace rungs::judge
