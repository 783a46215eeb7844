#pragma once
// What a right y = A u looks like.

#include <algorithm>
#include <cmath>
#include <limits>

#include "exam/cases.hpp"
#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "rungs/exam.hpp"

namespace pcg {

/// Compares y = A u element by element.
/// @param setting  the case
/// @param u        the input
/// @param y        what a rung left
inline rungs::Check check_apply(const Setting& setting, const Field& u, const Field& y) {
    const Grid& grid = setting.grid;
    const Field right = laplace(grid, u);
    // An element is a sum of 2d + 1 terms: in any order it is off by at most 2d + 1 roundings of their sizes
    // (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 4.2).
    Field sizes = u;
    for (double& value : sizes) value = -std::abs(value);
    Field allowed = laplace(grid, sizes);  // with the diagonal's sign yet to be turned
    const double unit = unit_of(setting.problem);
    for (std::size_t i = 0; i < u.size(); ++i) {
        allowed[i] = (2 * grid.d + 1) * unit * (allowed[i] + 4 * grid.d * std::abs(u[i]));
    }
    const double least = setting.problem.single ? std::numeric_limits<float>::denorm_min() : 0;
    const auto close = [&](std::size_t i, double got, double expected) {
        if (std::isnan(expected) || std::isinf(expected)) {
            return std::isnan(expected) ? std::isnan(got) : got == expected;
        }
        return std::abs(got - expected) <= allowed[i] + least;
    };
    rungs::Check check;
    check.measure = "|got - expected| / rounding of 2d + 1 terms";
    check.tolerance = 1;
    check.of = u.size();
    for (std::size_t i = 0; i < u.size(); ++i) {
        const double ratio = std::abs(y[i] - right[i]) / allowed[i];
        if (std::isfinite(ratio)) check.error = std::max(check.error, ratio);
        if (close(i, y[i], right[i])) continue;
        if (!std::isfinite(ratio)) check.error = std::numeric_limits<double>::infinity();
        ++check.wrong;
        if (check.first.size() >= 5) continue;
        const auto in_float = [](double value) { return static_cast<float>(value); };
        check.first.push_back({i, y[i], right[i],
                               setting.problem.single
                                   ? rungs::ulp_distance(in_float(y[i]), in_float(right[i]))
                                   : rungs::ulp_distance(y[i], right[i])});
    }
    check.passed = check.wrong == 0;
    if (!check.passed) check.cause = explain_operator(grid, u, y, close);
    if (check.cause.empty() && !check.passed && !setting.problem.single && check.error < 0x1p32) {
        check.cause = "the error is that of float: is anything in the double version a float?";
    }
    return check;
}

}  // namespace pcg
