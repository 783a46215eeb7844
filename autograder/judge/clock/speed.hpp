#pragma once
// Judging speed on a GPU: the rung, its baseline and the reference, interleaved, by the judge's clock.

#include <filesystem>
#include <future>

#include "judge/result/result.hpp"
#include "judge/trial.hpp"

namespace rungs::judge {

/// Begins to build what a rung will be timed against. judge_speed() finds it in the cache, or says why not.
std::future<void> build_rivals(const Trial& trial);

/// Measures `executable`, a rung that has been found correct, and fills in `result.speed`; the verdict
/// becomes SLOW where no points for speed were earned, UNSTABLE where time varies too much, and whatever an
/// output that is checked on the way deserves. @throws InfraError, Stopped, std::runtime_error
void judge_speed(RungResult& result, const Trial& trial, const std::filesystem::path& executable);

}  // namespace rungs::judge
