/// @file
/// What check mode counts, under the names that Nsight Compute has for it, so that both can be compared.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simt/inspect/counters.h"
#include "simt/inspect/table.h"

namespace golden {

using Counts = std::map<std::string, double>;  ///< by metric

/// The metrics that are compared: requests and sectors of global memory and of textures, wavefronts and bank
/// conflicts of shared memory.
const std::vector<std::string>& compared_metrics();

/// What check mode says of a launch: all compared metrics. An atomic whose result nobody uses is a `red` on
/// the GPU and else an `atom`; the source does not tell, so both are `atom` here.
Counts counts_of(const simt::check::LaunchCounters& launch);

/// What ncu counted, in the same form. @throws std::out_of_range if the table has other metrics
Counts counts_of(const Row& row);

/// How far a prediction of `metric` may be off where ncu counted `truth`: 2 % of wavefronts, else nothing.
/// Bank conflicts are part of wavefronts, and as exact.
double allowed(const std::string& metric, const Counts& truth);

}  // namespace golden
