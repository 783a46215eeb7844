#pragma once
// What a rung asks of the hardware, counted in check mode on one case: the same numbers on every machine. And
// from them the modelled time on a GPU that is not here.
//
// The counts come from the worker's process, so an author who overwrites its memory can forge them. Values
// that no call can have are for a human to see; beyond that, modelled speed is worth what its author is. What
// a counted call leaves in its outputs is examined as in any other call, on an input that nobody has seen
// before, too, where it must cost the same.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/checks.hpp"
#include "judge/trial.hpp"

namespace rungs::judge {

/// The case whose counters are shown: [[modelled]] of the manifest where it asks for that speed, else the
/// largest small case of its first problem. The same for everybody and always.
Case case_to_count(const Manifest& manifest, const RungEntry& rung, const Exam& exam);

/// The case with other extents, smaller by an eighth to a half, and odd: a kernel that is fast where
/// everybody knows that it is counted has to be fast there, too.
Case neighbour(const Exam& exam, Case which, std::uint64_t random);

/// Counts one call of what is judged, on case_to_count(), right or not. @returns nothing where that
/// cannot be, and `why_not` says so
/// @param wrong  receives what is wrong with the counted call; empty where it was right
/// @throws Stopped, InfraError
std::optional<Tally> count(const Trial& trial, std::string& why_not, Watched watched = {},
                           std::string* wrong = nullptr);

/// The counters of one call of a rung's reference. They are the same for everybody, so a machine counts them
/// once. @returns nothing where that cannot be, and `why_not` says so
/// @throws Stopped, InfraError
std::optional<Tally> count_reference(const Trial& trial, const Case& which, std::string& why_not);

/// The counters of an exercise's reference on `calls`, as a student edition keeps them: without lines and
/// arrays of its source. count_reference() reads them there. @throws Stopped, InfraError
nlohmann::json record_counts(const Trial& trial, const std::vector<Case>& calls);

/// The modelled time of a call. @throws InfraError where no launch was counted
double modelled_seconds(const JudgeOptions& options, const Tally& tally);

/// The counters of a worker's report, as parse_report() has read it. @throws std::runtime_error
/// @param rung  whose kernel is the one to draw
Tally tally_of(const nlohmann::json& report, const std::string& rung = {});

/// Puts counters and, where the manifest asks for it, the modelled speed of a rung into `result`. Touches
/// the verdict only of a rung that is right: SLOW, SUSPECT for counts that cannot be, and what the outputs
/// and findings of the counted calls make it. @throws Stopped, InfraError
void judge_counts(RungResult& result, const Trial& trial);

/// On a GPU, where kernels are not counted: why a call that has to move `least` bytes may be the host's work,
/// which has seen `seen` bytes of it. Empty: it is not, or the reference is like that, and the rung is about
/// copies. @throws Stopped, InfraError
std::string seen_by_host(const Trial& trial, double least, double seen);

}  // namespace rungs::judge
