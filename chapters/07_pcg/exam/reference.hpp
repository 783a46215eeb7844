#pragma once
// What an operator and a solve ought to do: in double, as the textbook has it; and what theory promises.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rungs/iteration_exam.hpp"

namespace pcg {

/// A grid of L^d points, coordinate 0 fastest, zero around it. See pcg.cuh.
struct Grid {
    int d = 1;
    int L = 0;

    std::size_t points() const {
        std::size_t n = 1;
        for (int axis = 0; axis < d; ++axis) n *= static_cast<std::size_t>(L);
        return n;
    }
};

/// Values at the points of a grid.
using Field = std::vector<double>;

/// A u, in double. @throws std::length_error when u has not one value for each point.
Field laplace(const Grid& grid, std::span<const double> u);

double dot(std::span<const double> v, std::span<const double> w);

/// ||b - A x||.
double residual_norm(const Grid& grid, std::span<const double> b, std::span<const double> x);

/// sqrt(v.A v), as a sum of squares of differences, so that nothing cancels:
/// v.A v = sum of (v_i - v_j)^2 over all pairs of neighbours, those beyond the boundary being 0.
double norm_in(const Grid& grid, std::span<const double> v);

/// The solution of A x = b, directly: sine waves along all axes but the first (2 (d - 1) n L operations: fast
/// only where L is small), elimination along that one.
Field solution(const Grid& grid, std::span<const double> b);

/// So many points, and checks do without it: they would take longer than what they check.
inline constexpr std::size_t most_solved = 300'000;

/// The sine wave with `waves` half periods along each axis, an eigenvector of A.
Field sine(const Grid& grid, int waves);

/// Its eigenvalue, d (2 - 2 cos(pi waves / (L + 1))).
double eigenvalue(const Grid& grid, int waves);

/// The condition number of A, the largest eigenvalue over the smallest: cot^2(pi / (2 (L + 1))).
double condition(const Grid& grid);

/// By which factor the error in the A-norm has shrunk after k iterations, at least (Chebyshev):
/// 2 / (c^k + c^-k) for c = (sqrt(kappa) + 1) / (sqrt(kappa) - 1).
double chebyshev_bound(double kappa, int k);

/// A solve, as the oracle saw it.
using Trace = rungs::Solve;

/// Conjugate gradients in double, with the contract's rules for stopping.
Trace conjugate_gradients(const Grid& grid, std::span<const double> b, int limit, double tolerance);

/// The same where every element that is kept has been rounded, up or down at random.
/// @param unit  the unit roundoff, 2^-24 or 2^-53
/// @param seed  makes the roundings
Trace rounded_conjugate_gradients(const Grid& grid, std::span<const double> b, int limit, double tolerance,
                                  double unit, std::uint64_t seed);

/// How a V-cycle is made.
struct Cycle {
    bool symmetric = true;   ///< red, black on the way down; black, red on the way up. Else red, black twice
    double scale = 1;        ///< of the restricted residual, beyond what is right
    bool same_walls = true;  ///< of all grids. Else every second point is a coarse one, also where L is even
    bool sooner = false;   ///< ends as the chapter's cycle does, on a grid that a block of threads can sweep
    bool weighted = true;  ///< the restriction. Else each of the 4^d fine points around counts in full
};

/// One multigrid V-cycle for A x = r from x = 0: one red-black Gauss-Seidel sweep, the residual restricted to
/// a grid of (L - 1) / 2 points a side with the same walls, by the transpose of linear interpolation; the
/// same there; its result interpolated and added; one more sweep. Restriction is scaled by q^2 / q^d, if
/// coarse points are q times as far apart: q^-d makes it a mean, and h^2 is in A.
Field v_cycle(const Grid& grid, std::span<const double> r, const Cycle& cycle = {});

/// x after one red-black sweep of Gauss-Seidel for A x = r, colour `first` before the other.
Field smoothed(const Grid& grid, std::span<const double> r, Field x, int first);

/// The grid below: (L - 1) / 2 points a side with the same walls.
Grid coarser(const Grid& fine);

/// A residual as the next grid's right-hand side: see v_cycle.
/// @param weighted  else every weight is 1
Field restricted(const Grid& fine, std::span<const double> v, bool weighted = true);

/// A coarse field at the points of the fine grid: see v_cycle.
/// @param weighted  else every weight is 1
Field prolonged(const Grid& fine, std::span<const double> coarse, bool weighted = true);

/// The rounding of one residual b - A x: unit || |b| + |A| |x| ||. A component is a sum whose terms have this
/// size and whose roundings go up as often as down; in any order it is off by a few times that. The residual
/// of an x whose elements are rounded is, too (N. Higham, Accuracy and Stability of Numerical Algorithms,
/// 2nd ed. 2002, section 3.5, and section 7.1 for the backward error this measures).
/// @param unit  the unit roundoff, 2^-24 or 2^-53
double rounding_floor(const Grid& grid, std::span<const double> b, std::span<const double> x, double unit);

}  // namespace pcg
