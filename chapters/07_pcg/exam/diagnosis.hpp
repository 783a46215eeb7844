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
#include "rungs/iteration_exam.hpp"

namespace pcg {

/// An operator like A with a fault: called for each point, axis and side, it says which element is taken for
/// the neighbour, or -1 for none.
using Neighbour = std::function<long long(long long i, long long c, long long stride, int axis, int step)>;

/// An operator that is wrong in a way of its own.
struct FaultyOperator {
    std::string cause;
    double diagonal;
    Neighbour neighbour;
    int first_added = 0, last_added = -1;  ///< the axes whose neighbours are added, not subtracted
};

/// 2d u - the neighbours at point i, with a diagonal and neighbours of one's own choice.
inline double faulty_laplace_at(const Grid& grid, std::span<const double> u, const FaultyOperator& fault,
                                std::size_t at) {
    const auto n = static_cast<long long>(u.size()), i = static_cast<long long>(at);
    double value = fault.diagonal * u[at];
    long long stride = 1;
    for (int axis = 0; axis < grid.d; ++axis, stride *= grid.L) {
        const double sign = axis >= fault.first_added && axis <= fault.last_added ? 1 : -1;
        for (const int step : {-1, 1}) {
            const long long j = fault.neighbour(i, i / stride % grid.L, stride, axis, step);
            if (j >= 0 && j < n) value += sign * u[static_cast<std::size_t>(j)];
        }
    }
    return value;
}

inline Field faulty_laplace(const Grid& grid, std::span<const double> u, const FaultyOperator& fault) {
    Field v(u.size());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = faulty_laplace_at(grid, u, fault, i);
    return v;
}

/// @param named  whether causes say which axis it is
inline std::vector<FaultyOperator> faulty_operators(const Grid& grid, bool named = true) {
    const long long side = grid.L;
    const int last = grid.d - 1;
    const auto right = [side](long long i, long long c, long long stride, int, int step) {
        return c + step < 0 || c + step >= side ? -1 : i + step * stride;
    };
    const auto inside = [](long long i, long long, long long stride, int, int step) {
        return i + step * stride;
    };
    std::vector<FaultyOperator> all = {
        {"a point at the end of a row takes the first point of the next row for its neighbour: beyond the "
         "last coordinate there is 0",
         2.0 * grid.d, inside},
        {"a point at the end of a row takes the first point of the next row for its neighbour: along axis 0 "
         "too the coordinate says whether there is one, not the index",
         2.0 * grid.d,
         [=](long long i, long long c, long long stride, int axis, int step) {
             return axis == 0 ? i + step : right(i, c, stride, axis, step);
         }},
        {"opposite faces of the cube are neighbours here: beyond the last coordinate there is 0",
         2.0 * grid.d,
         [=](long long i, long long c, long long stride, int, int step) {
             const long long wrapped = (c + step + side) % side;
             return i + (wrapped - c) * stride;
         }},
        {"only the neighbours before the point are taken, those after it are missing", 2.0 * grid.d,
         [=](long long i, long long c, long long stride, int axis, int step) {
             return step > 0 ? -1 : right(i, c, stride, axis, step);
         }},
        {"only the neighbours after the point are taken, those before it are missing", 2.0 * grid.d,
         [=](long long i, long long c, long long stride, int axis, int step) {
             return step < 0 ? -1 : right(i, c, stride, axis, step);
         }},
        {"points next to the last one along an axis have lost their neighbour: the boundary is "
         "one point early",
         2.0 * grid.d,
         [=](long long i, long long c, long long stride, int axis, int step) {
             return step > 0 && c + 2 == side ? -1 : right(i, c, stride, axis, step);
         }},
        {"neighbours are one element off: the band of axis k lies side^k elements away", 2.0 * grid.d,
         [=](long long i, long long c, long long stride, int axis, int step) {
             const long long j = right(i, c, stride, axis, step);
             return j < 0 || axis == 0 ? j : i + step * (stride - 1);
         }},
        {"neighbours along every axis are one element away: those along axis k are side^k away", 2.0 * grid.d,
         [=](long long i, long long c, long long stride, int axis, int step) {
             return right(i, c, stride, axis, step) < 0 ? -1 : i + step;
         }},
        {"the neighbours are added: A subtracts them", 2.0 * grid.d, right, 0, last},
    };
    for (const int diagonal : {2, 3, 4, 6, 8}) {
        if (diagonal == 2 * grid.d) continue;
        all.push_back({"the diagonal is " + std::to_string(diagonal) +
                           " here; each of the d axes adds 2, which makes " + std::to_string(2 * grid.d),
                       static_cast<double>(diagonal), right});
    }
    for (int axis = 0; axis <= last; ++axis) {
        const std::string name = named ? "axis " + std::to_string(axis) : "one axis";
        const bool ends = named && axis == last && last > 0;
        const auto without = [=](long long i, long long c, long long stride, int along, int step) {
            return along == axis ? -1 : right(i, c, stride, along, step);
        };
        all.push_back(
            {name + (ends ? ", the last one, has no neighbours: the loop over the axes ends too early"
                          : " has no neighbours: a point has two along each of the d axes"),
             2.0 * grid.d, without});
        all.push_back(
            {name + (ends ? ", the last one, is left out altogether: the loop over the axes ends too early"
                          : " is left out altogether: each of the d axes adds 2 to the diagonal and "
                            "has two neighbours"),
             2.0 * last, without});
        all.push_back(
            {"the neighbours along " + name + " are added: they are subtracted, like those along the others",
             2.0 * grid.d, right, axis, axis});
    }
    return all;
}

/// What y looks like where it should be A u; empty when it looks like nothing known.
/// @param close  whether an element is near enough to what it is held against
inline std::string explain_operator(
    const Grid& grid, std::span<const double> u, std::span<const double> y,
    const std::function<bool(std::size_t i, double got, double expected)>& close) {
    const auto n = static_cast<long long>(u.size());
    const auto looks_like = [&](const Field& candidate, double scale = 1) {
        for (std::size_t i = 0; i < candidate.size(); ++i) {
            if (!close(i, y[i] / scale, candidate[i])) return false;
        }
        return true;
    };
    for (const FaultyOperator& candidate : faulty_operators(grid)) {
        std::size_t i = 0;
        while (i < y.size() && close(i, y[i], faulty_laplace_at(grid, u, candidate, i))) ++i;
        if (i == y.size()) return candidate.cause;
    }
    const Field exact = laplace(grid, u);
    if (looks_like(exact, -1)) return "the sign is the wrong way round: A has 2d on its diagonal";
    if (looks_like(exact, (grid.L + 1.0) * (grid.L + 1.0)))
        return "divided by h^2: A is h^2 times the Laplacian";
    const auto missing = static_cast<long long>(
        std::find_if(y.rbegin(), y.rend(), [](double v) { return !std::isnan(v); }) - y.rbegin());
    const auto unwritten = std::count_if(y.begin(), y.end(), [](double v) { return std::isnan(v); });
    if (unwritten > missing && unwritten < n &&
        std::none_of(u.begin(), u.end(), [](double v) { return std::isnan(v); })) {
        const auto first =
            std::find_if(y.begin(), y.end(), [](double v) { return std::isnan(v); }) - y.begin();
        return std::to_string(unwritten) + " of the " + std::to_string(n) + " points, here and there from " +
               std::to_string(first) +
               " on, were not written, or are not numbers: does every point have a thread?";
    }
    if (missing > 0 && missing < n) {
        return "the last " + std::to_string(missing) + " points, from " + std::to_string(n - missing) +
               " on, were not written, or are not numbers";
    }
    return {};
}

/// A solve with a mistake in a step. Left alone, what there is is right.
struct Mistake {
    std::function<double(double rz, double pAp, double last)> alpha = [](double rz, double pAp, double) {
        return rz / pAp;
    };  ///< `last` is the right one of the step before, or 0
    std::function<double(double next, double rz, double last)> beta = [](double next, double rz, double) {
        return next / rz;
    };
    std::function<Field(const Grid&, const Field&)> apply = [](const Grid& grid, const Field& p) {
        return laplace(grid, p);
    };
    double by_w = -1, by_p = 0;  ///< r += alpha (by_w A p + by_p p)
    bool keeps_p = true;         ///< p = z + beta p; else p = r + beta p
};

/// @param precondition  z of r
/// @returns ||r_0||, ... after `count` iterations
inline std::vector<double> faulty_history(const Grid& grid, std::span<const double> b, int count,
                                          const Mistake& mistake,
                                          const std::function<Field(const Field&)>& precondition) {
    Field r(b.begin(), b.end()), p = precondition(r);
    std::vector<double> history{std::sqrt(dot(r, r))};
    double rz = dot(r, p), before = 0, beta = 0;
    for (int k = 0; k < count; ++k) {
        const Field w = mistake.apply(grid, p);
        const double pAp = dot(p, w), alpha = mistake.alpha(rz, pAp, before);
        before = rz / pAp;
        for (std::size_t i = 0; i < r.size(); ++i)
            r[i] += alpha * (mistake.by_w * w[i] + mistake.by_p * p[i]);
        history.push_back(std::sqrt(dot(r, r)));
        const Field z = precondition(r);
        const double next = dot(r, z);
        beta = mistake.beta(next, rz, beta);
        for (std::size_t i = 0; i < r.size(); ++i) p[i] = (mistake.keeps_p ? z : r)[i] + beta * p[i];
        rz = next;
    }
    return history;
}

/// The common mistakes of conjugate gradients, and, where they are preconditioned by one, of a V-cycle.
/// @param grid  it and b must outlive the suspects
/// @param multigrid  preconditioned; the rung's V-cycle is in float, and may end otherwise
/// on its smallest grid
inline std::vector<rungs::Suspect> suspects_of(const Grid& grid, std::span<const double> b, bool multigrid) {
    std::vector<rungs::Suspect> all;
    if (grid.points() > 50'000) return all;  // takes too long
    const auto add = [&](const std::string& cause, const Mistake& mistake, Cycle cycle = {}) {
        cycle.sooner = true;
        const auto precondition = [=, &grid](const Field& r) {
            return multigrid ? v_cycle(grid, r, cycle) : r;
        };
        all.push_back(
            {cause, [=, &grid](int count) { return faulty_history(grid, b, count, mistake, precondition); },
             multigrid ? 0.02 : 1e-3});
    };
    add("alpha is that of the iteration before: is r.r complete, and p.Ap cleared, before the step?",
        {.alpha = [](double rz, double pAp, double last) { return last == 0 ? rz / pAp : last; }});
    add("alpha is upside down: it is r.r / p.Ap",
        {.alpha = [](double rz, double pAp, double) { return pAp / rz; }});
    add("r goes the wrong way: x takes + alpha p, so b - A x takes - alpha A p", {.by_w = 1});
    add("r was updated by alpha p: b - A x changes by alpha A p, which is w", {.by_w = 0, .by_p = -1});
    add("this is steepest descent: p has to keep beta times the direction before",
        {.beta = [](double, double, double) { return 0.0; }});
    add("beta is the wrong way round: it is the new r.r over the old one",
        {.beta = [](double next, double rz, double) { return rz / next; }});
    add("p = r + p: the direction before has to be multiplied by beta",
        {.beta = [](double, double, double) { return 1.0; }});
    add("beta has the wrong sign", {.beta = [](double next, double rz, double) { return -next / rz; }});
    add("beta is a ratio of norms: it is that of their squares, r.r",
        {.beta = [](double next, double rz, double) { return std::sqrt(next / rz); }});
    for (const int threads : {32, 64, 128, 256, 512, 1024}) {
        const double times = threads;
        add("a sum is as many times too large as a warp or a block has threads: do all of them add it?",
            {.alpha = [=](double rz, double pAp, double) { return rz / pAp / times; }});
        add("a sum is as many times too large as a warp or a block has threads: do all of them add it?",
            {.alpha = [=](double rz, double pAp, double) { return rz / pAp * times; }});
    }
    // Norms do not tell an axis from another one along which b is alike.
    for (const FaultyOperator& wrong : faulty_operators(grid, false)) {
        add(wrong.cause,
            {.apply = [=](const Grid& on, const Field& p) { return faulty_laplace(on, p, wrong); }});
    }
    if (!multigrid) return all;
    all.push_back({"there is no preconditioner: z is r", [=, &grid](int count) {
                       return faulty_history(grid, b, count, {}, [](const Field& r) { return r; });
                   }});
    add("p is made of r: it takes z = M r, what the cycle has found", {.keeps_p = false});
    add("M is not symmetric: on the way up the colours come in the opposite order, black before red", {},
        {.symmetric = false});
    // A rung that corrects the red points alone, since black ones are relaxed next, loses what it corrected.
    add("red is relaxed before black on the way up: then M is not symmetric, and the coarse grid's "
        "correction of "
        "the red points is overwritten",
        {}, {.symmetric = false, .scale = 0});
    add("the restriction has the weight 1 for every fine point: it is the transpose of the interpolation", {},
        {.weighted = false});
    if (grid.d != 2) {  // where restriction_scale is 1
        add("the residual on the coarse grid is not multiplied by restriction_scale(d, side)", {},
            {.scale = std::ldexp(1.0, grid.d - 2)});
    }
    add("the residual on the coarse grid is scaled twice", {}, {.scale = 4});
    add("the residual on the coarse grid is not scaled", {}, {.scale = 0.25});
    add("the coarse grid's correction is lost", {}, {.scale = 0});
    add("every second point is a coarse one: all grids have the same walls", {}, {.same_walls = false});
    return all;
}

}  // namespace pcg
