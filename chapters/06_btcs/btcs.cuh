#pragma once
/// @file
/// The contract of chapter 6: tridiagonal systems, one or many, and the one-dimensional heat equation that
/// makes them.

#include <cuda_runtime.h>

namespace btcs {

/// What a status can say. From 0 up it is a row: the first one that its diagonal does not dominate.
enum Status : int {
    solved = -1,         ///< all is well
    not_converged = -2,  ///< iteration_limit iterations did not suffice (01, 02); x is the last iterate
    indefinite = -3,     ///< 02: r.Ar is not positive: A is not positive definite; x is the last iterate
};

/// What a solved system promises of its residual, in every row i:
/// |b - A x|_i <= tolerance (|lower| + |diagonal| + |upper|)_i max_j |x_j|. The iterations stop at three
/// quarters of it, since the residual that they see is rounded.
inline constexpr float tolerance = 0x1p-20f;

/// The most iterations of rungs 01 and 02.
inline constexpr int iteration_limit = 1 << 16;

/// The largest number of rows of one system of a Batch.
inline constexpr int most_rows = 8192;

/// Solves one tridiagonal system A x = b. Row i of A reads, left to right: lower[i] in column i - 1,
/// diagonal[i] in column i, upper[i] in column i + 1. lower[0] and upper[n - 1] are outside of A: they may
/// hold anything, and have no effect.
///
/// Nothing is pivoted, so A has to be diagonally dominant. That is checked: row i is dominated by its
/// diagonal if |diagonal[i]| >= |lower[i]| + |upper[i]|, exactly, and diagonal[i] != 0; a row with a NaN is
/// not. (The heat equation's rows are, for every r.) If there is a row that is not, *status is the first such
/// row, and x is NaN throughout: no answer instead of a wrong one. Else *status is a Status. A dominated
/// system may still be singular; x is then not finite, or huge.
///
/// @param lower,diagonal,upper,rhs  n floats each
/// @param x       n floats
/// @param status  one number
/// @param n       rows, from 0 up; beyond 2^31 too
///
/// All pointers are device memory, may start at any float, and do not overlap. Rung 02 wants A symmetric,
/// upper[i] = lower[i + 1], with a positive diagonal. The work is queued on `stream`, which is not being
/// captured; rungs 01 and 02 wait for it now and then.
/// @throws rungs::CudaError when a launch fails
using Solve = void(const float* lower, const float* diagonal, const float* upper, const float* rhs, float* x,
                   long long* status, long long n, cudaStream_t stream);

/// Solves many systems of the same size, each as Solve does: status[i] and the rows of x of system i depend
/// on system i alone. Where row j of system i stands is the rung's problem:
/// - *interleaved*: element j * systems + i,
/// - *contiguous*: element i * m + j.
///
/// @param lower,diagonal,upper,rhs  m * systems floats each, which may be more than 2^31
/// @param x        m * systems floats
/// @param status   `systems` numbers: solved, or the first row that is not dominated
/// @param m        rows of each system, from 0 to most_rows
/// @param systems  their number, from 0 up
/// @throws rungs::CudaError when a launch fails, std::invalid_argument for m > most_rows
using Batch = void(const float* lower, const float* diagonal, const float* upper, const float* rhs, float* x,
                   int* status, int m, int systems, cudaStream_t stream);

/// Takes `steps` time steps of the heat equation u_t = kappa u_xx on n inner points of a rod, with
/// r = kappa dt / dx^2. One step from u to v is, for every i from 0 to n - 1,
///
///     v_i - theta r (v_{i-1} - 2 v_i + v_{i+1}) = u_i + (1 - theta) r (u_{i-1} - 2 u_i + u_{i+1}),
///
/// where the ends are given: at step s the values at index -1 are left[s] before and left[s + 1] after it,
/// those at index n right[s] and right[s + 1]. theta = 1 is BTCS, 1/2 Crank-Nicolson, 0 the explicit FTCS,
/// which is only stable for r <= 1/2; beyond it grows without bound here as well.
///
/// A rung may cut a rod into pieces that ignore what is far away, if that changes no value by more than
/// 2^-24 of the largest |u| on the way; where it cannot promise this it has to take another path.
///
/// @param start   n floats, the values at first; not changed
/// @param left,right  steps + 1 floats each
/// @param u       n floats, the values after the last step
/// @param work    n floats that the rung may use as it likes
/// @param n       inner points, from 0 up; beyond 2^31 too
/// @param steps   from 0 up; for 0, u = start
/// @param r       from 0 up, finite
/// @param theta   from 0 to 1
///
/// All pointers are device memory, may start at any float, and do not overlap. The work is queued on
/// `stream`.
/// @throws rungs::CudaError when a launch fails, std::invalid_argument for r or theta outside of their range
using March = void(const float* start, const float* left, const float* right, float* u, float* work,
                   long long n, int steps, double r, double theta, cudaStream_t stream);

Solve tridiagonal_jacobi;   ///< 01: one thread a row, sweep after sweep
Solve tridiagonal_descent;  ///< 02: along the residual, as far as it pays
Batch thomas_batched;       ///< 03: interleaved: one thread a system
Batch cyclic_reduction;     ///< 04: contiguous: a warp or a block a system
Solve partitioned;          ///< 05: one system of any size, cut into tiles
March time_loop;            ///< 06: many steps for one pass over the memory

/// One row of the ladder. One of the three pointers is set.
struct Rung {
    const char* name;  ///< also the stem of its file
    Solve* solve;
    Batch* batch;
    March* march;
    bool symmetric;    ///< wants a symmetric matrix
    bool interleaved;  ///< of a batch
};

/// The ladder, bottom first.
inline constexpr Rung rungs[] = {
    {"01_tridiagonal_jacobi", tridiagonal_jacobi, nullptr, nullptr, false, false},
    {"02_tridiagonal_descent", tridiagonal_descent, nullptr, nullptr, true, false},
    {"03_thomas_batched", nullptr, thomas_batched, nullptr, false, true},
    {"04_cyclic_reduction", nullptr, cyclic_reduction, nullptr, false, false},
    {"05_partitioned", partitioned, nullptr, nullptr, false, false},
    {"06_time_loop", nullptr, nullptr, time_loop, false, false},
};

}  // namespace btcs
