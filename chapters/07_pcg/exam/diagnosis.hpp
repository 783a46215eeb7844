#pragma once
// Why results are wrong. A faulty operator or a faulty step leaves other numbers, not noise: this computes
// what the common faults would have left, and looks whether the answer is one of those.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "exam/reference.hpp"

namespace pcg {

/// An operator like A with a fault: called for each cell, axis and side, it says which element is taken for
/// the neighbour, or -1 for none.
using Neighbour = std::function<long long(long long i, long long c, long long stride, int axis, int step)>;

/// 2d u - the neighbours, with a diagonal and neighbours of one's own choice.
inline Field faulty_laplace(const Grid& grid, std::span<const double> u, double diagonal,
                            const Neighbour& neighbour) {
    Field v(u.size());
    const auto n = static_cast<long long>(u.size());
    for (long long i = 0; i < n; ++i) {
        double value = diagonal * u[static_cast<std::size_t>(i)];
        long long stride = 1;
        for (int axis = 0; axis < grid.d; ++axis, stride *= grid.L) {
            for (const int step : {-1, 1}) {
                const long long j = neighbour(i, i / stride % grid.L, stride, axis, step);
                if (j >= 0 && j < n) value -= u[static_cast<std::size_t>(j)];
            }
        }
        v[static_cast<std::size_t>(i)] = value;
    }
    return v;
}

/// What y looks like where it should be A u; empty when it looks like nothing known.
/// @param close  whether an element is near enough to what it is held against
inline std::string explain_operator(
    const Grid& grid, std::span<const double> u, std::span<const double> y,
    const std::function<bool(std::size_t i, double got, double expected)>& close) {
    const auto n = static_cast<long long>(u.size());
    const int last = grid.d - 1;
    const auto looks_like = [&](const Field& candidate, double scale = 1) {
        for (std::size_t i = 0; i < candidate.size(); ++i) {
            if (!close(i, y[i] / scale, candidate[i])) return false;
        }
        return true;
    };
    const auto right = [&](long long i, long long c, long long stride, int, int step) {
        return c + step < 0 || c + step >= grid.L ? -1 : i + step * stride;
    };
    const auto inside = [](long long i, long long, long long stride, int, int step) {
        return i + step * stride;
    };
    struct Candidate {
        const char* cause;
        double diagonal;
        Neighbour neighbour;
    };
    const Candidate candidates[] = {
        {"a cell at the end of a row takes the first cell of the next row for its neighbour: beyond the last "
         "coordinate there is 0",
         2.0 * grid.d, inside},
        {"opposite faces of the cube are neighbours here: beyond the last coordinate there is 0",
         2.0 * grid.d,
         [&](long long i, long long c, long long stride, int, int step) {
             const long long wrapped = (c + step + grid.L) % grid.L;
             return i + (wrapped - c) * stride;
         }},
        {"the diagonal is 2 here; each of the d axes adds 2", 2.0, right},
        {"only the neighbours before the cell are taken, those after it are missing", 2.0 * grid.d,
         [&](long long i, long long c, long long stride, int axis, int step) {
             return step > 0 ? -1 : right(i, c, stride, axis, step);
         }},
        {"only the neighbours after the cell are taken, those before it are missing", 2.0 * grid.d,
         [&](long long i, long long c, long long stride, int axis, int step) {
             return step < 0 ? -1 : right(i, c, stride, axis, step);
         }},
        {"the last axis has no neighbours: the loop over the axes ends too early", 2.0 * grid.d,
         [&](long long i, long long c, long long stride, int axis, int step) {
             return axis == last ? -1 : right(i, c, stride, axis, step);
         }},
        {"the last axis is left out altogether: the loop over the axes ends too early", 2.0 * last,
         [&](long long i, long long c, long long stride, int axis, int step) {
             return axis == last ? -1 : right(i, c, stride, axis, step);
         }},
        {"cells next to the last one along an axis have lost their neighbour: the boundary is one cell early",
         2.0 * grid.d,
         [&](long long i, long long c, long long stride, int axis, int step) {
             return step > 0 && c + 2 == grid.L ? -1 : right(i, c, stride, axis, step);
         }},
        {"neighbours are one element off: the band of axis k lies side^k elements away", 2.0 * grid.d,
         [&](long long i, long long c, long long stride, int axis, int step) {
             const long long j = right(i, c, stride, axis, step);
             return j < 0 || axis == 0 ? j : i + step * (stride - 1);
         }},
    };
    for (const Candidate& candidate : candidates) {
        if (looks_like(faulty_laplace(grid, u, candidate.diagonal, candidate.neighbour)))
            return candidate.cause;
    }
    const Field exact = laplace(grid, u);
    if (looks_like(exact, -1)) return "the sign is the wrong way round: A has 2d on its diagonal";
    if (looks_like(exact, (grid.L + 1.0) * (grid.L + 1.0)))
        return "divided by h^2: A is h^2 times the Laplacian";
    const auto missing = static_cast<long long>(
        std::find_if(y.rbegin(), y.rend(), [](double v) { return !std::isnan(v); }) - y.rbegin());
    if (missing > 0 && missing < n) {
        return "the last " + std::to_string(missing) + " cells, from " + std::to_string(n - missing) +
               " on, were not written, or are no numbers";
    }
    return {};
}

/// Conjugate gradients with a fault in a step. @returns ||r_0||, ... for `count` iterations
inline std::vector<double> faulty_history(const Grid& grid, std::span<const double> b, std::size_t count,
                                          bool stale_alpha, double beta_is) {
    Field r(b.begin(), b.end()), p = r;
    std::vector<double> history{std::sqrt(dot(r, r))};
    double alpha = 0, stale = 0;
    while (history.size() <= count) {
        const Field q = laplace(grid, p);
        const double rr = dot(r, r), fresh = rr / dot(p, q);
        alpha = stale_alpha && history.size() > 1 ? stale : fresh;
        stale = fresh;
        for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i];
        const double next = dot(r, r), beta = beta_is < 0 ? rr / next : beta_is == 0 ? 0 : next / rr;
        for (std::size_t i = 0; i < r.size(); ++i) p[i] = r[i] + beta * p[i];
        history.push_back(std::sqrt(next));
    }
    return history;
}

/// What a history looks like that is not that of conjugate gradients; empty for nothing known.
inline std::string explain_history(const Grid& grid, std::span<const double> b, std::span<const double> got) {
    const std::size_t count = std::min<std::size_t>(got.size(), 6);  // the first steps tell
    const auto looks_like = [&](const std::vector<double>& candidate) {
        for (std::size_t k = 0; k < count; ++k) {
            if (!(std::abs(got[k] - candidate[k]) <= 1e-3 * candidate[k])) return false;
        }
        return count > 2;
    };
    if (looks_like(faulty_history(grid, b, count, true, 1))) {
        return "alpha is that of the iteration before: is r.r complete, and p.Ap cleared, before the step?";
    }
    if (looks_like(faulty_history(grid, b, count, false, 0))) {
        return "this is steepest descent: p has to keep beta times the direction before";
    }
    if (looks_like(faulty_history(grid, b, count, false, -1))) {
        return "beta is the wrong way round: it is the new r.r over the old one";
    }
    return {};
}

}  // namespace pcg
