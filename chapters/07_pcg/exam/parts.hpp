#pragma once
// What the parts of a V-cycle ought to leave, and what the common mistakes leave instead.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "exam/cases.hpp"
#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "rungs/exam.hpp"

namespace pcg {

/// What a mistake would have left.
struct WrongPart {
    const char* cause;
    Field y;
};

/// v with every value made `change` of itself.
template <class Change>
Field each_of(Field v, const Change& change) {
    for (double& value : v) value = change(value);
    return v;
}

/// Element by element a + factor * b.
inline Field plus(Field a, const Field& b, double factor = 1) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
    return a;
}

/// A sweep with a fault of one's own choice: value(r, sum of the neighbours) at a point.
/// @param halves  how many of the two colours are relaxed
/// @param old     neighbours have the values that they had before the sweep
template <class Value>
Field faulty_sweep(const Grid& grid, const Field& r, const Field& x, int first, const Value& value,
                   int halves = 2, bool old = false) {
    Field y = x;
    const auto length = static_cast<std::size_t>(grid.L);
    for (int half = 0; half < halves; ++half) {
        for (std::size_t i = 0; i < y.size(); ++i) {
            double around = 0;
            std::size_t stride = 1, rest = i, parity = 0;
            const Field& from = old ? x : y;
            for (int axis = 0; axis < grid.d; ++axis, rest /= length, stride *= length) {
                const std::size_t c = rest % length;
                parity += c;
                if (c > 0) around += from[i - stride];
                if (c + 1 < length) around += from[i + stride];
            }
            if (static_cast<int>(parity % 2) == (half == 0 ? first : 1 - first)) y[i] = value(r[i], around);
        }
    }
    return y;
}

inline std::vector<WrongPart> wrong_sweeps(const Grid& grid, const Field& r, const Field& x, int first) {
    const double diagonal = 2.0 * grid.d;
    const auto right = [=](double own, double around) { return (own + around) / diagonal; };
    const auto with = [&](const auto& value) { return faulty_sweep(grid, r, x, first, value); };
    return {
        {"this is Jacobi's method: the second colour has to take the new values of the first",
         faulty_sweep(grid, r, x, first, right, 2, true)},
        {"the colours come in the wrong order: `first` says which one is relaxed first",
         smoothed(grid, r, x, 1 - first)},
        {"only one colour was relaxed: a sweep has two halves", faulty_sweep(grid, r, x, first, right, 1)},
        {"only one colour was relaxed: a sweep has two halves",
         faulty_sweep(grid, r, x, 1 - first, right, 1)},
        {"the sum is not divided by the diagonal, 2d",
         with([](double own, double around) { return own + around; })},
        {"the neighbours have the wrong sign: 2d y = r + their sum",
         with([=](double own, double around) { return (own - around) / diagonal; })},
        {"r has the wrong sign: 2d y = r + the sum of the neighbours",
         with([=](double own, double around) { return (around - own) / diagonal; })},
        {"r is left out: 2d y = r + the sum of the neighbours",
         with([=](double, double around) { return around / diagonal; })},
        {"the sweep begins with 0: it has to begin with x", smoothed(grid, r, Field(x.size(), 0.0), first)},
        {"nothing was relaxed: this is x", x},
    };
}

/// Visits each fine point i with each coarse point j that it lies beside, with weights of one's own choice.
/// @param weight  along an axis: called with the share of coarse coordinate c / 2, whether the one before is
///                meant, and c, the fine coordinate
/// @param visit   called with i, j and the product of the weights
template <class Weight, class Visit>
void faulty_transfer(const Grid& grid, const Weight& weight, const Visit& visit) {
    const Grid below = coarser(grid);
    const double ratio = (grid.L + 1.0) / (below.L + 1.0);
    for (std::size_t i = 0; i < grid.points(); ++i) {
        for (int corner = 0; corner < 1 << grid.d; ++corner) {
            double product = 1;
            std::size_t j = 0, stride = 1, rest = i;
            for (int axis = 0; axis < grid.d; ++axis, rest /= static_cast<std::size_t>(grid.L)) {
                const int c = static_cast<int>(rest % static_cast<std::size_t>(grid.L));
                const int before = corner >> axis & 1, from = c / 2 - before;
                product *= from < 0 || from >= below.L ? 0 : weight((c + 1) / ratio - c / 2, before, c);
                j += stride * static_cast<std::size_t>(std::max(from, 0));
                stride *= static_cast<std::size_t>(below.L);
            }
            if (product != 0) visit(i, j, product);
        }
    }
}

/// The weights of an odd side, 1/2, 1, 1/2, which fit no even one.
inline double odd_weight(double /*share*/, int before, int c) { return c % 2 == 0 ? 0.5 : before ? 0 : 1; }
inline constexpr const char* odd_weights_cause =
    "these are the weights 1/2, 1, 1/2 of an odd side: on an even one the coarse points lie elsewhere, and "
    "Weights(side) says how much a point takes";

inline std::vector<WrongPart> wrong_restrictions(const Grid& grid, const Field& v) {
    const Grid coarse = coarser(grid);
    const double ratio = (grid.L + 1.0) / (coarse.L + 1.0), scale = ratio * ratio / std::pow(ratio, grid.d);
    const Field right = restricted(grid, v);
    const auto times = [&](double factor) { return each_of(right, [=](double y) { return factor * y; }); };
    const auto with = [&](const auto& weight) {
        Field y(coarse.points(), 0.0);
        faulty_transfer(grid, weight, [&](std::size_t from, std::size_t to, double product) {
            y[to] += scale * product * v[from];
        });
        return y;
    };
    Field injected(coarse.points());
    for (std::size_t i = 0; i < injected.size(); ++i) {
        std::size_t at = 0, stride = 1, rest = i;
        for (int axis = 0; axis < grid.d; ++axis, stride *= static_cast<std::size_t>(grid.L)) {
            at += (2 * (rest % static_cast<std::size_t>(coarse.L)) + 1) * stride;
            rest /= static_cast<std::size_t>(coarse.L);
        }
        injected[i] = v[at];
    }
    return {
        {"the result is not scaled: restriction_scale(d, side) makes a mean of the sum, times q^2",
         times(1 / scale)},
        {"the result is scaled twice", times(scale)},
        {"this is the mean alone: q^2 is missing, since A has h^2 in it", times(1 / (ratio * ratio))},
        {"this is the sum divided by 2^d: it has to be multiplied by restriction_scale(d, side), q^2 / q^d",
         times(1 / (scale * std::pow(2, grid.d)))},
        {"this is right except for a factor of 4: restriction_scale(d, side) has the q^2 in it", times(4)},
        {"every fine point counts with weight 1: it counts as much as it takes in interpolation",
         restricted(grid, v, false)},
        {odd_weights_cause, with(odd_weight)},
        {"only the fine points 2c, 2c + 1 and 2c + 2 give something: on an even side 2c + 3 takes "
         "from c as well",
         with([](double share, int before, int c) { return !before      ? share
                                                           : c % 2 == 0 ? 1 - share
                                                                        : 0; })},
        {"the weights are exchanged: Weights(side)(c) is what fine coordinate c gives to coarse "
         "coordinate c / 2",
         with([](double share, int before, int) { return before ? share : 1 - share; })},
        {"this is the value at every second point: the others have to give theirs as well", injected},
        {"this is the value at every second point: the others have to give theirs as well",
         each_of(injected, [=](double y) { return scale * y; })},
    };
}

inline std::vector<WrongPart> wrong_prolongations(const Grid& grid, const Field& coarse, const Field& x) {
    const Field right = prolonged(grid, coarse);
    const auto with = [&](const auto& weight) {
        Field y = x;
        faulty_transfer(grid, weight, [&](std::size_t to, std::size_t from, double product) {
            y[to] += product * coarse[from];
        });
        return y;
    };
    return {
        {"this is the correction alone: it has to be added to x", right},
        {"the correction was subtracted", plus(x, right, -1)},
        {"nothing was added: this is x", x},
        {"every coarse point around counts with weight 1: along each axis the weights of the two add up to 1",
         with([](double, int, int) { return 1.0; })},
        {"the weights of the two coarse points are exchanged: Weights(side)(c) is that of coarse "
         "coordinate c / 2",
         with([](double share, int before, int) { return before ? share : 1 - share; })},
        {"only coarse coordinate c / 2 is taken: a fine point lies between two along each axis",
         with([](double share, int before, int) { return before ? 0 : share; })},
        {odd_weights_cause, with(odd_weight)},
    };
}

/// Compares a part of a V-cycle element by element.
/// @param setting  the case
/// @param in       r of a sweep, v of a restriction, the coarse field of an interpolation
/// @param x        of a sweep and an interpolation
/// @param y        what a rung left
inline rungs::Check check_part(const Setting& setting, const Field& in, const Field& x, const Field& y) {
    const Grid& grid = setting.grid;
    const Method method = setting.problem.method;
    const int first = std::string_view(setting.problem.name) == "smooth_black";
    const auto size = [](double v) { return std::abs(v); };
    const double unit = unit_of(setting.problem), d = grid.d;
    // Every element is a sum of positive multiples of the inputs. With their sizes instead it is the sum of
    // the sizes of its terms; each passes through so many roundings (N. Higham, Accuracy and Stability of
    // Numerical Algorithms, 2nd ed. 2002, section 4.2). A weight is off by a few roundings of 1, not of
    // itself: so what weights of 1 would make counts as well.
    Field right, allowed;
    if (method == Method::smooth) {
        right = smoothed(grid, in, x, first);
        allowed = each_of(smoothed(grid, each_of(in, size), each_of(x, size), first),
                          [&](double v) { return 2 * (2 * d + 4) * unit * v; });
    } else if (method == Method::restrict_) {
        right = restricted(grid, in);
        const Field sizes = each_of(in, size);
        allowed = each_of(plus(each_of(restricted(grid, sizes), [&](double v) { return std::pow(4, d) * v; }),
                               restricted(grid, sizes, false), 4 * d),
                          [&](double v) { return unit * v; });
    } else {
        right = plus(x, prolonged(grid, in));
        const Field sizes = each_of(in, size);
        allowed = each_of(plus(plus(each_of(x, size), prolonged(grid, sizes), std::pow(2, d) + 2),
                               prolonged(grid, sizes, false), 4 * d),
                          [&](double v) { return unit * v; });
    }
    rungs::Check check;
    check.measure = "|got - expected| / rounding of its terms";
    check.tolerance = 1;
    check.of = right.size();
    if (y.size() != right.size())
        throw std::length_error("the output does not have the size that it should have");
    const auto close = [&](std::size_t i) {
        return std::abs(y[i] - right[i]) <= allowed[i] + std::numeric_limits<float>::denorm_min();
    };
    for (std::size_t i = 0; i < right.size(); ++i) {
        const double ratio = std::abs(y[i] - right[i]) / allowed[i];
        if (std::isfinite(ratio)) check.error = std::max(check.error, ratio);
        if (close(i)) continue;
        if (!std::isfinite(ratio)) check.error = std::numeric_limits<double>::infinity();
        ++check.wrong;
        if (check.first.size() < 5) {
            check.first.push_back(
                {i, y[i], right[i],
                 rungs::ulp_distance(static_cast<float>(y[i]), static_cast<float>(right[i]))});
        }
    }
    check.passed = check.wrong == 0;
    if (check.passed) return check;
    const std::vector<WrongPart> known = method == Method::smooth      ? wrong_sweeps(grid, in, x, first)
                                         : method == Method::restrict_ ? wrong_restrictions(grid, in)
                                                                       : wrong_prolongations(grid, in, x);
    for (const WrongPart& wrong : known) {
        bool same = true;
        for (std::size_t i = 0; same && i < y.size(); ++i)
            same = std::abs(y[i] - wrong.y[i]) <= 1e-5 * (1 + std::abs(wrong.y[i]));
        if (same) {
            check.cause = wrong.cause;
            return check;
        }
    }
    const auto missing = static_cast<std::size_t>(
        std::find_if(y.rbegin(), y.rend(), [](double v) { return !std::isnan(v); }) - y.rbegin());
    std::size_t unset = 0, at_rim = 0, unset_of[2] = {};
    const Grid of = method == Method::restrict_ ? coarser(grid) : grid;
    for (std::size_t i = 0; i < y.size(); ++i) {
        bool rim = false;
        std::size_t rest = i, parity = 0;
        for (int axis = 0; axis < of.d; ++axis, rest /= static_cast<std::size_t>(of.L)) {
            const std::size_t c = rest % static_cast<std::size_t>(of.L);
            rim = rim || c == 0 || c + 1 == static_cast<std::size_t>(of.L);
            parity += c;
        }
        if (std::isnan(y[i])) ++unset, ++unset_of[parity % 2];
        if (rim && !close(i)) ++at_rim;
    }
    if (method == Method::smooth && unset == check.wrong && unset > 0 && unset_of[0] * unset_of[1] == 0) {
        check.cause = std::string("the ") + (unset_of[0] > 0 ? "red" : "black") +
                      " points were not written, the others are right: a sweep has two halves, one "
                      "for each colour";
    } else if (missing > 0 && missing < y.size()) {
        check.cause = "the last " + std::to_string(missing) + " points were not written, or are not numbers";
    } else if (unset > 0) {
        check.cause = std::to_string(unset) + " points were not written, or are not numbers";
    } else if (at_rim == check.wrong && at_rim < y.size()) {
        check.cause = "only points beside a wall are wrong: beyond the last coordinate there is 0";
    }
    return check;
}

}  // namespace pcg
