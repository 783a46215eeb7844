#pragma once
// What a right preconditioner looks like.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "exam/cases.hpp"
#include "exam/reference.hpp"
#include "rungs/exam.hpp"
#include "rungs/iteration_exam.hpp"

namespace pcg {

/// A V-cycle M of this chapter is meant to be as good as A^-1 within these bounds: eigenvalues of M A between
/// them, so that the condition number of M A is at most their ratio. Without over-correction the upper one
/// is 1 (J. Xu, SIAM Review 34, 1992). Of the oracle's V-cycle the least ones found were 0.67 for d = 2, 0.53
/// for d = 3 and 0.38 for d = 5, the largest always 1.
inline constexpr double least_eigenvalue = 0.3, largest_eigenvalue = 1.05;

/// Why the smoothest wave, which sweeps leave alone, comes out `ratio` times as large as it should.
inline const char* explain_smooth(double ratio) {
    if (ratio > 1)
        return ": too large. Is the coarse residual multiplied by restriction_scale(d, side), once?";
    return ": too small. Does a correction come back from the coarser grid, found by the whole cycle "
           "there, down to the last grid? And is the coarse residual multiplied by restriction_scale(d, "
           "side), once?";
}

/// Probes y = M u: whether M is linear, symmetric, positive definite, and near A^-1.
/// @param setting  the case
/// @param u        the probes
/// @param y        what a rung left of each
inline rungs::Check check_precondition(const Setting& setting, const Field& u, const Field& y) {
    const Grid& grid = setting.grid;
    const std::size_t n = grid.points();
    rungs::Check check;
    check.measure = "deviation from a symmetric, linear M near A^-1 / what float explains";
    check.tolerance = 1;
    check.of = 1;
    check.passed = true;
    const auto fail = [&](const std::string& cause) {
        check.passed = false, check.wrong = 1, check.error = std::numeric_limits<double>::infinity(),
        check.cause = cause;
        return check;
    };
    const auto vector = [&](const Field& all, std::size_t i) { return std::span(all).subspan(i * n, n); };
    if (n == 0) return check;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (std::isfinite(y[i])) continue;
        return fail("element " + std::to_string(i % n) + " of vector " + std::to_string(i / n) +
                    " is not a finite number: is every vector written, and y = 0 at the start of the cycle?");
    }
    // One rounding of a residual reaches y through M, which is about A^-1: at most 1 / (smallest eigenvalue)
    // times as large, and in the mean over the waves far less. Four rounding floors of that are generous.
    const double unit = unit_of(setting.problem), gain = 1 / eigenvalue(grid, 1);
    const auto size = [](std::span<const double> v) { return std::sqrt(dot(v, v)); };
    const auto blur = [&](std::size_t i) { return 4 * unit * (4 * grid.d * gain + 1) * size(vector(y, i)); };
    const auto within = [&](double deviation, double allowed) {
        check.error = std::max(check.error, deviation > 0 ? deviation / allowed : 0.0);
        return deviation <= allowed;
    };
    for (std::size_t i = 0; i < probes; ++i) {
        const double energy = dot(vector(u, i), vector(y, i));
        if (!(energy > 0) && size(vector(u, i)) > 0) {
            return fail("u.M u is " + rungs::three_digits(energy) + ": M is not positive definite");
        }
    }
    Field sum(n);
    for (std::size_t i = 0; i < n; ++i) sum[i] = y[3 * n + i] - y[i] - y[n + i];
    if (!within(size(sum), blur(0) + blur(1) + blur(3))) {
        return fail(
            "M (u + v) is not M u + M v: does the cycle begin with y = 0, and do the same for every u?");
    }
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const double here = dot(vector(u, i), vector(y, j)), there = dot(vector(u, j), vector(y, i));
            const double allowed = blur(j) * size(vector(u, i)) + blur(i) * size(vector(u, j));
            if (within(std::abs(here - there), allowed)) continue;
            const auto [one, other] = rungs::told_apart(here, there);
            return fail("u.M v = " + one + " and v.M u = " + other +
                        ": M is not symmetric. Are the colours in the opposite order on the way up, is what "
                        "goes down the residual r - A x, and the restriction the transpose of the "
                        "interpolation?");
        }
    }
    for (const std::size_t i : {2, 0, 1}) {
        const bool wave = i == 2;
        if (!wave && n > most_solved) break;
        // What u.A^-1 u is; of an eigenvector that takes no solution.
        const double energy = wave ? dot(vector(u, i), vector(u, i)) / eigenvalue(grid, 1)
                                   : dot(vector(u, i), solution(grid, vector(u, i)));
        const double ratio = dot(vector(u, i), vector(y, i)) / energy;
        if (ratio >= least_eigenvalue && ratio <= largest_eigenvalue) continue;
        return fail((wave ? "on the smoothest wave M is " : "on random data M is ") +
                    rungs::three_digits(ratio) + " times A^-1" + (wave ? explain_smooth(ratio) : ""));
    }
    return check;
}

}  // namespace pcg
