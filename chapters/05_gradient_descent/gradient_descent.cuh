#pragma once
/// @file
/// The contract of chapter 5: solve A x = b for a dense matrix A, by iteration, without the host in the way.

#include <cuda_runtime.h>

namespace gradient_descent {

/// How a solve can end. Each is an answer, none is an error of the call.
enum Outcome : int {
    converged = 0,      ///< ||b - A x|| <= tolerance ||b||, found for this x and not for an earlier one
    limit_reached = 1,  ///< `limit` iterations were done and did not suffice
    breakdown = 2,      ///< descent: r.Ar is not a positive number, so A is not positive definite.
                        ///< Gauss-Jacobi: a zero on the diagonal
    diverged = 3,       ///< ||r|| has grown past `too_far` ||b||, or is no number any more
};

/// A residual that has grown by this factor will not come back.
inline constexpr double too_far = 1e6;

/// A residual that is carried along by a recurrence is computed from x again after so many iterations.
inline constexpr int renew_every = 50;

/// Starts from x = 0 and iterates until an Outcome is reached. All pointers are device memory.
///
/// Let x_k be the iterate after k iterations, x_0 = 0, and r_k = b - A x_k its residual.
///
/// @param a        A, n rows of n floats, one row after the other. Descent wants it symmetric and positive
///                 definite and may read either half; Gauss-Jacobi wants a diagonal without zeros.
/// @param b        the right-hand side, n floats of any size: sums of squares are formed in double, so that
///                 r.r neither overflows nor vanishes where a float's range would end
/// @param x        x_k, for k = outcome[1]; of a breakdown or a divergence the last one that was formed
/// @param history  ||r_0||, ... ||r_k||, and NaN up to the end of `limit + 1` doubles
/// @param outcome  two ints: an Outcome, and k
/// @param n        unknowns, from 0 up; need not be a multiple of anything
/// @param limit    the most iterations, from 0 up
/// @param tolerance  the stop is exact: at the first k with ||r_k|| <= tolerance ||b||. The residual that is
///                 tested then is b - A x_k itself, also where a recurrence carries r along.
///
/// Inputs and outputs may start at any float, and do not overlap. The work is queued on `stream`, a stream
/// that is not being captured, and the call may return before it is done.
/// @throws rungs::CudaError when a launch fails
using Solve = void(const float* a, const float* b, float* x, double* history, int* outcome, int n, int limit,
                   double tolerance, cudaStream_t stream);

// Gauss-Jacobi: x_{k+1} = x_k + D^-1 r_k, D the diagonal of A.
Solve host_loop;     ///< 01: one thread per row; the host asks for ||r|| after each sweep
Solve gauss_jacobi;  ///< 02: one thread per row; all sweeps are queued at once
Solve coalesced;     ///< 03: one thread per row, on the transposed matrix
Solve row_per_warp;  ///< 04: one warp per row
// Descent: x_{k+1} = x_k + alpha r_k, alpha = r_k.r_k / r_k.A r_k.
Solve descent;     ///< 05: as in the textbook: two products per iteration
Solve recurrence;  ///< 06: r_{k+1} = r_k - alpha A r_k: one product per iteration
Solve graph;       ///< 08: the loop itself is on the device
Solve persistent;  ///< 09: the whole solve is one launch
Solve on_chip;     ///< 10: the same, with rows kept in shared memory
Solve symmetric;   ///< 11: reads half of A, in one launch, part of it kept on the chip

/// One row of the ladder.
struct Rung {
    const char* name;  ///< also the stem of its file
    Solve* solve;
    bool descends;  ///< else it is Gauss-Jacobi
};

/// The ladder, bottom first.
inline constexpr Rung rungs[] = {
    {"01_host_loop", host_loop, false}, {"02_gauss_jacobi", gauss_jacobi, false},
    {"03_coalesced", coalesced, false}, {"04_row_per_warp", row_per_warp, false},
    {"05_descent", descent, true},      {"06_recurrence", recurrence, true},
    {"08_graph", graph, true},          {"09_persistent", persistent, true},
    {"10_on_chip", on_chip, true},      {"11_symmetric", symmetric, true},
};

}  // namespace gradient_descent
