#pragma once
/// @file
/// Kernels that are wrong, each in one way, for check mode to find. All run on small systems of their own.

namespace nbody::demonstrations {

/// A leapfrog step in one kernel, with __syncthreads() where all blocks would have to wait.
void one_kernel(int blocks);

/// The same step in kernels of their own.
void own_kernels(int blocks);

/// Rung 02 without the barrier before a tile is overwritten, or without the one after.
void tiled_without_first_barrier();
void tiled_without_second_barrier();

/// Rung 08 without __syncwarp() around the visitors, or without the barrier that ends a turn.
void symmetric_without_warp_barrier();
void symmetric_without_turns();

/// Rung 02 with a thread for every body and no guard.
void tiled_without_guard();

/// Rung 02 that leaves before the barriers when a thread has no body of its own.
void tiled_with_early_return();

/// Rung 07 that adds up one row more than there is.
void split_with_one_row_more();

}  // namespace nbody::demonstrations
