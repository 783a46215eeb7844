#pragma once
/// @file
/// The contract of chapter 6: tridiagonal systems, one or many, and the one-dimensional heat
/// equation that makes them.

#include <cuda_runtime.h>

namespace btcs {

/// What a status can say. From 0 up it is a row: the first one that its diagonal does not dominate.
enum Status : int {
    solved = -1,         ///< all is well
    not_converged = -2,  ///< iteration_limit iterations did not suffice (01, 04); x is the last iterate
    indefinite = -3,     ///< 04: r.Ar is not positive: A is not positive definite; x is the last iterate
};

/// What a solved system promises of its residual, in every row i:
/// |b - A x|_i <= tolerance (|lower| + |diagonal| + |upper|)_i max_j |x_j|. The iterations stop at three
/// quarters of it, since the residual that they see is rounded. Parallel reduction (07, 08, 10) finds each
/// unknown apart from its neighbours, as a sum of terms that may nearly cancel. What it promises has in place
/// of x the solution where nothing cancels, of the system with |rhs|, |diagonal|, -|lower| and -|upper|.
inline constexpr float tolerance = 0x1p-20f;

/// The most iterations of rungs 01 and 04.
inline constexpr int iteration_limit = 1 << 16;

/// The largest number of rows of one system of a Batch; of rungs 07 and 08, which have a thread a row, 1024.
inline constexpr int most_rows = 8192;
inline constexpr int most_short_rows = 1024;

/// Makes the matrix of an implicit time step on n points of a rod whose conductivity differs from place to
/// place: row i is (-r faces[i], 1 + r (faces[i] + faces[i + 1]), -r faces[i + 1]), each to a few roundings.
///
/// @param faces  n + 1 floats from 0 up: the conductivity between points i - 1 and i
/// @param lower,diagonal,upper  n floats each; lower[0] and upper[n - 1] as well: with them the values at the
///               ends go to the right-hand side
/// @param n      points, from 0 up; beyond 2^31 too
/// @param r      dt / dx^2, from 0 up
using Create = void(const float* faces, float* lower, float* diagonal, float* upper, long long n, double r,
                    cudaStream_t stream);

/// Assembles the linear finite elements of -(k u')' = f on an interval, with u = 0 at both ends. Element e
/// lies between nodes e and e + 1; with h_e its length, k_e and f_e constant on it, s_e = k_e / h_e. The row
/// of node i + 1 is row i: (-s_i, s_i + s_{i+1}, -s_{i+1}), right-hand side (f_i h_i + f_{i+1} h_{i+1}) / 2.
/// Each number is right to a few roundings, upper[i] and lower[i + 1] are the same float, and no diagonal is
/// below the sum of the magnitudes beside it: else a solver would refuse it.
///
/// @param nodes         n + 2 floats, increasing
/// @param conductivity,load  n + 1 floats each: k_e > 0 and f_e
/// @param lower,diagonal,upper,rhs  n floats each; lower[0] and upper[n - 1] as well
/// @param n             inner nodes, from 0 up; beyond 2^31 too
using Assemble = void(const float* nodes, const float* conductivity, const float* load, float* lower,
                      float* diagonal, float* upper, float* rhs, long long n, cudaStream_t stream);

/// Solves one tridiagonal system A x = b. Row i of A reads, left to right: lower[i] in column i - 1,
/// diagonal[i] in column i, upper[i] in column i + 1. lower[0] and upper[n - 1] are outside of A: they may
/// hold anything, and have no effect.
///
/// Nothing is pivoted, so A has to be diagonally dominant. That is checked: row i is dominated by its
/// diagonal if |diagonal[i]| >= |lower[i]| + |upper[i]|, exactly, and diagonal[i] != 0; a row with a NaN is
/// not. (The heat equation's rows are, for every r; in float the 1 of 1 + before + behind is lost beyond r of
/// about 2^23, and what is left is a row with nothing to spare, or one that falls short by a rounding.) If
/// there is a row that is not, *status is the first such row, and x is NaN throughout: no answer instead of a
/// wrong one. Else *status is a Status. A dominated system may still be singular; x is then not finite, or
/// huge. Rungs 10, 11 and 17 divide by one instruction, for which the diagonals, and what elimination makes
/// of them, have to be from 2^-126 to 2^126.
///
/// @param lower,diagonal,upper,rhs  n floats each
/// @param start   n floats, from which an iteration (01, 04) begins; a direct solver need not look at them
/// @param x       n floats
/// @param status  one number
/// @param n       rows, from 0 up; beyond 2^31 too
///
/// All pointers are device memory, may start at any float, and do not overlap. Rung 04 wants A symmetric,
/// upper[i] = lower[i + 1], with a positive diagonal. The work is queued on `stream`, which is not being
/// captured; rungs 01 and 04 wait for it now and then.
/// @throws rungs::CudaError when a launch fails
using Solve = void(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                   const float* start, float* x, long long* status, long long n, cudaStream_t stream);

/// Solves many systems of the same size, each as Solve does: status[i] and the rows of x of system i depend
/// on system i alone. The rung's problem decides where row j of system i is:
/// - *interleaved*: element j * systems + i,
/// - *contiguous*: element i * m + j.
///
/// @param lower,diagonal,upper,rhs  m * systems floats each, which may be more than 2^31
/// @param x        m * systems floats
/// @param status   `systems` numbers: solved, or the first row that is not dominated
/// @param m        rows of each system, from 0 to most_rows (07, 08: most_short_rows)
/// @param systems  their number, from 0 up
/// @throws rungs::CudaError when a launch fails, std::invalid_argument for larger m
using Batch = void(const float* lower, const float* diagonal, const float* upper, const float* rhs, float* x,
                   int* status, int m, int systems, cudaStream_t stream);

/// z_i = lambda z_{i-1} + d_i for i = 0, 1, ... n - 1, with z_{-1} = 0.
///
/// @param d       n floats
/// @param z       n floats, each right to rounding: 2^-24 max |d| (4 / (1 - lambda)^2 + 32 / (1 - lambda))
/// @param n       from 0 up
/// @param lambda  from 0 up, below 1
using Recurrence = void(const float* d, float* z, long long n, double lambda, cudaStream_t stream);

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
/// @param theta   from 0 to 1; of rung 14, 0
///
/// All pointers are device memory, may start at any float, and do not overlap. The work
/// is queued on `stream`.
/// @throws rungs::CudaError when a launch fails, std::invalid_argument for r or theta outside of their range
using March = void(const float* start, const float* left, const float* right, float* u, float* work,
                   long long n, int steps, double r, double theta, cudaStream_t stream);

Solve tridiagonal_jacobi;      ///< 01: one thread per row, sweep after sweep
Create create_tridiag;         ///< 02: the matrix of a time step
Assemble finite_elements;      ///< 03: the matrix of linear elements
Solve tridiagonal_descent;     ///< 04: along the residual, as far as it pays
Batch thomas;                  ///< 05: interleaved: elimination, one thread per system
Batch thomas_batched;          ///< 06: interleaved: from both ends, remembering on the chip where that pays
Batch parallel_reduction;      ///< 07: contiguous: one thread per row, all rows in every step
Batch cyclic_reduction;        ///< 08: contiguous: half of the rows in every step
Batch hybrid_reduction;        ///< 10: contiguous: elimination in registers, then parallel reduction
Solve partitioned;             ///< 11: one system of any size, cut into tiles
March jacobi_steps;            ///< 12: each step solved by sweeps
Recurrence recurrence;         ///< 13: a recurrence as a scan, in one block
March overlapped_steps;        ///< 14: several explicit steps for one pass over the memory
March time_loop;               ///< 15: many steps of any scheme for one pass over the memory
Recurrence serial_recurrence;  ///< 16: a recurrence as a loop of one thread, for rung 13 to beat
Batch thomas_contiguous;       ///< 17: contiguous: elimination, one thread per system, for rung 07 to beat

/// One row of the ladder. One pointer is set.
struct Rung {
    const char* name;  ///< also the stem of its file
    Create* create = nullptr;
    Assemble* assemble = nullptr;
    Solve* solve = nullptr;
    Batch* batch = nullptr;
    Recurrence* scan = nullptr;
    March* march = nullptr;
    bool interleaved = false;    ///< of a batch
    int most_rows = 0;           ///< of a batch
    bool explicit_only = false;  ///< of a march: theta = 0
};

/// The ladder, bottom first.
inline constexpr Rung rungs[] = {
    {.name = "01_tridiagonal_jacobi", .solve = tridiagonal_jacobi},
    {.name = "02_create_tridiag", .create = create_tridiag},
    {.name = "03_finite_elements", .assemble = finite_elements},
    {.name = "04_tridiagonal_descent", .solve = tridiagonal_descent},
    {.name = "05_thomas", .batch = thomas, .interleaved = true, .most_rows = most_rows},
    {.name = "06_thomas_batched", .batch = thomas_batched, .interleaved = true, .most_rows = most_rows},
    {.name = "07_parallel_reduction", .batch = parallel_reduction, .most_rows = most_short_rows},
    {.name = "08_cyclic_reduction", .batch = cyclic_reduction, .most_rows = most_short_rows},
    {.name = "10_hybrid_reduction", .batch = hybrid_reduction, .most_rows = most_rows},
    {.name = "11_partitioned", .solve = partitioned},
    {.name = "12_jacobi_steps", .march = jacobi_steps},
    {.name = "13_recurrence", .scan = recurrence},
    {.name = "14_overlapped_steps", .march = overlapped_steps, .explicit_only = true},
    {.name = "15_time_loop", .march = time_loop},
    {.name = "16_serial_recurrence", .scan = serial_recurrence},
    {.name = "17_thomas_contiguous", .batch = thomas_contiguous, .most_rows = most_short_rows},
};

/// Where the reference of rung 06 keeps what a system has to remember of its rows: in shared memory, which
/// has room for few threads of a multiprocessor if systems are long, or in memory, which has room for all of
/// them. The benchmark times both forms.
enum class Remember { where_it_pays, on_chip, in_memory };
inline Remember remember = Remember::where_it_pays;

}  // namespace btcs
