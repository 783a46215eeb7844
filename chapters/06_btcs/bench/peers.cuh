#pragma once
/// @file
/// The library that the ladder is measured against: cuSPARSE's tridiagonal solvers.

#include <cuda_runtime.h>

#include <cstddef>

namespace btcs::peers {

/// Systems in device memory that are solved in place: `x` holds the right-hand sides before and the solutions
/// after. lower[0] and upper[m - 1] of every system have to be 0.
struct Systems {
    float *lower, *diagonal, *upper, *x;
    int m, count;
};

/// Solves them once. The buffer that the call needs is kept from call to call; what it leaves in the inputs
/// is its own affair. @throws std::runtime_error what cuSPARSE says
using Solve = void(const Systems& systems, cudaStream_t stream);

Solve gtsv2;              ///< one system (count = 1), with pivoting
Solve gtsv2_nopivot;      ///< one system, cyclic reduction and PCR
Solve strided_batch;      ///< contiguous systems
Solve interleaved_batch;  ///< interleaved systems, algorithm 0: Thomas. Overwrites lower, diagonal and upper

}  // namespace btcs::peers
