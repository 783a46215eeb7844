#pragma once
/// @file
/// The contract of chapter 7: solve A x = b by conjugate gradients, A the Laplacian in 1 to 6 dimensions.

#include <cuda_runtime.h>

namespace pcg {

inline constexpr int most_dimensions = 6;

/// Points of a cube of `side` points in each of d directions.
__host__ __device__ constexpr long long points(int d, int side) {
    long long n = 1;
    for (int i = 0; i < d; ++i) n *= side;
    return n;
}

/// y = A u. All pointers are device memory.
///
/// Point (c_0, c_1, ... c_{d-1}), each coordinate from 0 to side - 1, is element
/// c_0 + side (c_1 + side (c_2 + ...)): the first coordinate is the fastest. A is h^2 times the negative
/// Laplacian: 2d on the diagonal and -1 for each of the 2d neighbours; a neighbour outside of the cube is 0
/// and not stored. Its eigenvalues are sums of d of the numbers 4 sin^2(pi j / (2 (side + 1))), j
/// = 1 ... side.
///
/// @param u     points(d, side) numbers
/// @param y     as many
/// @param d     dimensions, 1 to most_dimensions
/// @param side  points along each of them, from 0 up; need not be a multiple of anything. points(d, side) may
///              pass 2^31
///
/// Arrays may start at any element and do not overlap. The work is queued on `stream`, and the call may
/// return before it is done.
/// @throws std::invalid_argument when d or side is none of these
/// @throws rungs::CudaError when a launch fails
template <class T>
using Apply = void(const T* u, T* y, int d, int side, cudaStream_t stream);

/// How a solve can end. Each is an answer, none is an error of the call.
enum Outcome : int {
    converged = 0,      ///< ||b - A x|| <= tolerance ||b||, computed from this x
    limit_reached = 1,  ///< `limit` iterations were done and did not suffice
    breakdown = 2,  ///< p.Ap or r.z is not a positive number though r is not zero: A or the preconditioner is
                    ///< not positive definite, or a number has left its range
    diverged = 3,   ///< ||r|| has grown past `too_far` ||b||, or is no number any more
};

/// A residual that has grown by this factor will not come back.
inline constexpr double too_far = 1e6;

/// Solves A x = b from x = 0, A as in Apply. All pointers are device memory.
///
/// Let x_k be the iterate after k iterations, x_0 = 0. Along with it goes r_k, in exact arithmetic its
/// residual: r_0 = b, r_{k+1} = r_k - alpha A p_k. The solve stops at the first k at which
/// - ||r_k|| <= tolerance ||b||, and b - A x_k, computed from x_k, is as small; or else r_k is replaced by
///   that, and the solve goes on. So `converged` is never said of an x that is not, however far r has
///   drifted;
/// - or another Outcome is reached.
///
/// What an iteration is depends on the rung:
/// - *cg*: of conjugate gradients, one product with A.
/// - *mixed*: of defect correction in double. Conjugate gradients in float, for b - A x divided
/// by its norm, go
///   on until r has fallen by a factor, or have taken too long; then what they found, a float at each point,
///   times that norm is added to x, and r is b - A x, computed in double. To 1e-10 there are at most 12
///   corrections.
/// - *multigrid*: of conjugate gradients in double, preconditioned by one V-cycle in float.
///
/// @param b        the right-hand side, points(d, side) numbers. Sums of squares are formed in double. The
///                 largest magnitude in b is 0, or at least 1e-25 in float and 1e-100 in double: below that
///                 squares or products vanish, and no Outcome is to be relied on. Above 1e25 and 1e100 a
///                 number may leave its range, which ends as breakdown or diverged
/// @param x        x_k, for k = outcome[1]; of a breakdown or a divergence the last one that was formed. x_0
///                 is 0, also where b is no number
/// @param history  ||r_0||, ... ||r_k||, where r was replaced what replaced it, and NaN up to the end of
///                 `limit + 1` doubles
/// @param outcome  two ints: an Outcome, and k
/// @param d        dimensions, 1 to most_dimensions
/// @param side     points along each of them, from 0 up
/// @param limit    the most iterations, from 0 up
/// @param tolerance  from 0 up; what T cannot reach ends as limit_reached
///
/// Arrays may start at any element and do not overlap. The work is queued on `stream`, a stream that is not
/// being captured, and the call may return before it is done.
/// @throws std::invalid_argument when d, side or limit is none of these
/// @throws rungs::CudaError when a launch fails
template <class T>
using Solve = void(const T* b, T* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream);

/// y_i = M u_i for `count` vectors u_0, u_1, ... of points(d, side) floats each, one behind the other; M is
/// the preconditioner of a rung: linear, symmetric and positive definite. All else as in Apply.
using Precondition = void(const float* u, float* y, int d, int side, int count, cudaStream_t stream);

/// One red-black sweep of Gauss-Seidel for A y = r, from y = x: all points whose coordinates add up to a
/// number that is even (red, 0) or odd (black, 1) take (r + sum of their neighbours) / 2d; then those of the
/// other colour do, with the new values. r, x and y have points(d, side) floats. All else as in Apply.
/// @param first  the colour that comes first, 0 or 1
using Smooth = void(const float* r, const float* x, float* y, int d, int side, int first,
                    cudaStream_t stream);

/// The right-hand side of the next coarser grid: the transpose of Prolong's interpolation, times
/// restriction_scale(d, side) of grids.cuh. All else as in Apply.
/// @param v       points(d, side) floats, a residual
/// @param coarse  points(d, coarse_side(side)) floats
using Restrict = void(const float* v, float* coarse, int d, int side, cudaStream_t stream);

/// y = x + what `coarse` is between its points, linear along each axis from point to point and to the walls,
/// where it is 0. coarse, x and y are floats; `side` is that of x and y. All else as in Restrict.
using Prolong = void(const float* coarse, const float* x, float* y, int d, int side, cudaStream_t stream);

using FloatApply = Apply<float>;
using DoubleApply = Apply<double>;
using FloatSolve = Solve<float>;
using DoubleSolve = Solve<double>;

FloatApply laplace_nd;        ///< 01: coordinates by dividing, for every neighbour again
DoubleApply laplace_nd;       ///< 01
FloatApply laplace_stencil;   ///< 02: d known to the compiler, indices by adding
DoubleApply laplace_stencil;  ///< 02
FloatApply laplace_morton;    ///< 03: threads walk the cube in the order of interleaved bits
DoubleApply laplace_morton;   ///< 03
FloatSolve cg;                ///< 04: as in the textbook
DoubleSolve cg;               ///< 04
FloatSolve one_launch;        ///< 05: the same in one launch
DoubleSolve one_launch;       ///< 05
FloatSolve on_chip;           ///< 06: in one launch, with x, r and A p in shared memory
DoubleSolve on_chip;          ///< 06
DoubleSolve float_inside;     ///< 08: float does the work, double the correction
Smooth smoother;              ///< 09: red-black Gauss-Seidel
Restrict transfer;            ///< 10: from grid to coarser grid
Prolong transfer;             ///< 10: and back
Precondition v_cycle;         ///< 11: the two together: one V-cycle for A y = u from y = 0
FloatSolve cg_fused;          ///< 12: an iteration is one pass over memory, and one reduction
DoubleSolve cg_fused;         ///< 12
DoubleSolve mixed_precision;  ///< 13: rung 08 with the passes of rung 12
DoubleSolve multigrid;        ///< 14: preconditioned by a V-cycle
Precondition multigrid;       ///< 14: the preconditioner alone: one V-cycle for A y = u from y = 0
FloatSolve persistent;        ///< 15: one launch, vectors on the chip, no barrier of the grid
DoubleSolve persistent;       ///< 15

/// One row of the ladder. What a rung does not solve is null.
struct Rung {
    const char* name;  ///< also the stem of its file
    FloatApply* apply;
    DoubleApply* apply_double;
    FloatSolve* solve;
    DoubleSolve* solve_double;
    const char* method;  ///< of the solve: "cg", "mixed" or "multigrid"; else "apply" or "part"

    FloatApply* apply_of(float) const { return apply; }
    DoubleApply* apply_of(double) const { return apply_double; }
    FloatSolve* solve_of(float) const { return solve; }
    DoubleSolve* solve_of(double) const { return solve_double; }
};

/// The ladder, bottom first. (Preconditioners and their parts are no operator A and are not named here.)
inline constexpr Rung rungs[] = {
    {"01_laplace_nd", laplace_nd, laplace_nd, nullptr, nullptr, "apply"},
    {"02_laplace_stencil", laplace_stencil, laplace_stencil, nullptr, nullptr, "apply"},
    {"03_laplace_morton", laplace_morton, laplace_morton, nullptr, nullptr, "apply"},
    {"04_cg", nullptr, nullptr, cg, cg, "cg"},
    {"05_one_launch", nullptr, nullptr, one_launch, one_launch, "cg"},
    {"06_on_chip", nullptr, nullptr, on_chip, on_chip, "cg"},
    {"08_float_inside", nullptr, nullptr, nullptr, float_inside, "mixed"},
    {"09_smoother", nullptr, nullptr, nullptr, nullptr, "part"},
    {"10_transfer", nullptr, nullptr, nullptr, nullptr, "part"},
    {"11_v_cycle", nullptr, nullptr, nullptr, nullptr, "part"},
    {"12_cg_fused", nullptr, nullptr, cg_fused, cg_fused, "cg"},
    {"13_mixed_precision", nullptr, nullptr, nullptr, mixed_precision, "mixed"},
    {"14_multigrid", nullptr, nullptr, nullptr, multigrid, "multigrid"},
    {"15_persistent", nullptr, nullptr, persistent, persistent, "cg"},
};

}  // namespace pcg
