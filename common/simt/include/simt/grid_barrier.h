/// @file
/// The barrier of a whole grid; cooperative_groups::grid_group is its public face.
#pragma once

namespace simt {

/// Waits for every thread of the grid. Needs a cooperative launch.
void sync_grid();
/// True in a kernel launched with cudaLaunchCooperativeKernel().
bool grid_is_cooperative();

}  // namespace simt
