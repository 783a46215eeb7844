#pragma once
/// @file
/// Kernels that are wrong, each in one way, for check mode to find. All run on small lattices of their own.

namespace jacobi::demonstrations {

/// A sweep that reads and writes one buffer.
void in_place();

/// Two sweeps in one launch, with __syncthreads() where all blocks would have to wait; right with one block.
void two_sweeps(int blocks);

/// A tile that is read before all of it has arrived.
void tile_without_barrier();

/// A tile whose halo is not loaded.
void tile_without_rim();

/// Every thread reads its four neighbours, whether they are on the lattice or not.
void without_guard();

/// The slip of the well-known listing: all blocks of a column leave their partial sum in one place.
void one_sum_a_column();

}  // namespace jacobi::demonstrations
