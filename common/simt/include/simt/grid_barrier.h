/// @file
/// The barrier of a whole grid; cooperative_groups::grid_group is its public face.
#pragma once

#include "simt/switch.h"

namespace simt {

/// Waits for every thread of the grid. Needs a cooperative launch.
Transfer arrive_at_grid_barrier() SIMT_WAITS;
SIMT_DEVICE void sync_grid() { carry_out(arrive_at_grid_barrier()); }
/// True in a kernel launched with cudaLaunchCooperativeKernel().
bool grid_is_cooperative();

}  // namespace simt
