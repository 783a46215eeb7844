#pragma once
// Is a system solved, and if not, why not? Faulty solvers leave the solutions of other systems, not noise:
// of the one with its bands exchanged, of the one without its last row. This computes what the common faults
// would have left and looks whether the answer is one of those.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "btcs.cuh"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "rungs/norms.hpp"

namespace btcs {

/// What is to be said of one system.
struct Finding {
    double error = 0;  ///< largest backward error of a row; infinite where there is more to it
    std::string cause;
    std::vector<rungs::Mismatch> first;  ///< the first five rows that are wrong
    bool passed() const { return error <= tolerance && cause.empty(); }
};

/// Whether `got` is `expected` up to a thousandth of its largest element.
inline bool near(const Vector& got, const Vector& expected) {
    double largest = 0, off = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        const double one = std::abs(got[i] - expected[i]);
        if (!(one <= off)) off = one;
    }
    return off <= 1e-3 * largest;
}

namespace detail {

inline std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

inline std::string name_of(long long status) {
    if (status == solved) return "solved";
    if (status == not_converged) return "not_converged";
    if (status == indefinite) return "indefinite";
    return (status >= 0 ? "row " : "") + std::to_string(status);
}

/// Row i as it stands there.
inline std::string row_text(const Matrix& a, std::size_t i) {
    const std::string lower = i > 0 ? number(a.lower[i]) : "-",
                      upper = i + 1 < a.rows() ? number(a.upper[i]) : "-";
    return "row " + std::to_string(i) + " is (" + lower + ", " + number(a.diagonal[i]) + ", " + upper + ")";
}

/// Why the row of a refused system may have been taken for a good one.
inline std::string reason(const Matrix& a, std::size_t i) {
    if (a.diagonal[i] == 0) return "; its diagonal is 0";
    const double left = i > 0 ? a.lower[i] : 0, right = i + 1 < a.rows() ? a.upper[i] : 0;
    if (std::isnan(a.diagonal[i] + left + right))
        return "; no comparison with a NaN is true: test what has to hold";
    if (std::abs(left) + std::abs(right) == std::abs(a.diagonal[i])) {
        return "; the sum beside the diagonal is larger, but by less than floats, or doubles, can add up";
    }
    return "";
}

/// The solution that a faulty solver would have found, with what to say of it.
inline std::string likely_system(const Matrix& a, const Vector& rhs, const Vector& x, const Vector& right) {
    const std::size_t n = a.rows();
    const auto is = [&](const Matrix& other, const Vector& of) {
        const Vector candidate = solve(other, of);
        return near(x, candidate) && !near(right, candidate);
    };
    const auto shifted = [&](const Vector& band, int by) {
        Vector moved(n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const long long from = static_cast<long long>(i) + by;
            if (from >= 0 && from < static_cast<long long>(n))
                moved[i] = band[static_cast<std::size_t>(from)];
        }
        return moved;
    };
    Matrix b = a;
    if (n > 0) b.lower[0] = b.upper[n - 1] = 0;
    const Vector none(n, 0.0);
    if (near(x, none)) return "x is 0 everywhere";
    if (near(x, rhs) && !near(right, rhs)) return "x is the right-hand side";
    if (is({b.upper, b.diagonal, b.lower}, rhs)) return "this is the solution with lower and upper exchanged";
    if (is({b.lower, b.diagonal, b.lower}, rhs)) return "this is the solution with lower in place of upper";
    if (is({b.upper, b.diagonal, b.upper}, rhs)) return "this is the solution with upper in place of lower";
    if (is({shifted(b.upper, -1), b.diagonal, shifted(b.lower, 1)}, rhs)) {
        return "this is the solution of the transposed system: lower[i] and upper[i] belong to row i";
    }
    for (const int by : {-1, 1}) {
        const std::string from = by < 0 ? "row i - 1" : "row i + 1";
        if (is({shifted(b.lower, by), b.diagonal, b.upper}, rhs))
            return "this is the solution with lower of " + from + " in row i";
        if (is({b.lower, b.diagonal, shifted(b.upper, by)}, rhs))
            return "this is the solution with upper of " + from + " in row i";
        if (is(b, shifted(rhs, by))) return "this is the solution for the right-hand side of " + from;
    }
    if (is({none, b.diagonal, none}, rhs)) {
        return "this is rhs / diagonal: one sweep, or a solver that sees no neighbours";
    }
    if (is({none, b.diagonal, b.upper}, rhs)) return "this is the solution without lower";
    if (is({b.lower, b.diagonal, none}, rhs)) return "this is the solution without upper";
    Vector minus_lower = b.lower, minus_upper = b.upper;
    for (double& value : minus_lower) value = -value;
    for (double& value : minus_upper) value = -value;
    if (is({minus_lower, b.diagonal, minus_upper}, rhs)) return "the neighbours have the wrong sign";
    if (n > 1) {
        Matrix fewer = b;
        fewer.upper[n - 2] = 0, fewer.lower[n - 1] = 0;
        if (is(fewer, rhs))
            return "the last row is left alone: it and the one before do not know of each other";
        Vector cut = rhs;
        cut[n - 1] = 0;
        if (is(fewer, cut) || is(b, cut)) return "the last row is lost";
        cut = rhs, cut[0] = 0;
        if (is(b, cut)) return "the first row is lost";
    }
    return {};
}

/// Where the wrong rows lie.
inline std::string pattern(const Vector& errors, const Vector& x, const Vector& right) {
    const std::size_t n = errors.size();
    std::size_t wrong = 0, first = n, last = 0;
    double worst = 0;
    bool inner = false;
    for (std::size_t i = 0; i < n; ++i) {
        worst = std::max(worst, errors[i]);
        if (errors[i] <= tolerance) continue;
        first = std::min(first, i), last = i, ++wrong;
        inner |= i > 1 && i + 2 < n;
    }
    const std::string share = std::to_string(wrong) + " of " + std::to_string(n) + " rows do not hold";
    if (wrong == 1 && last == n - 1) return "only the last row does not hold";
    if (n > 16 && !inner) {
        return share + ", the first is row " + std::to_string(first) +
               ", and none is further than a row from an end: which neighbours have the first two rows, and "
               "the last two?";
    }
    if (n > 16 && wrong * 4 < n) {
        return share + ", the first is row " + std::to_string(first) +
               ": do they lie where pieces of the system meet? How far is a row felt there?";
    }
    if (worst < 64 * tolerance) {
        return share + ", by little: did the iteration stop too early, or was the sum not that of all rows?";
    }
    double off = 0, largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        off = std::max(off, std::abs(x[i] - right[i]));
        largest = std::max(largest, std::abs(right[i]));
    }
    if (off < 0.02 * largest) {
        return share + ", but x is close: was a shorter type used on the way, or stopped too early?";
    }
    return share;
}

}  // namespace detail

/// Judges one system.
/// @param iterates  a rung that may converge slowly: its errors have one sign, and no balance is drawn up
inline Finding examine(const System& system, const Vector& x, long long status, bool iterates) {
    const Matrix a = system.matrix();
    const Vector rhs = system.right();
    const std::size_t n = a.rows(), weak = first_not_dominant(a);
    Finding finding;
    const auto fail = [&](const std::string& cause) {
        finding.error = std::numeric_limits<double>::infinity();
        finding.cause = cause;
        return finding;
    };
    const std::string says = "status says " + detail::name_of(status);
    if (weak < n) {
        if (status != static_cast<long long>(weak)) {
            const std::string cause = says + ", but " + detail::row_text(a, weak) +
                                      " and is not dominated by its diagonal" + detail::reason(a, weak);
            return fail(status > static_cast<long long>(weak) ? cause + ". The first such row counts"
                                                              : cause);
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (!std::isnan(x[i])) {
                return fail("the system is refused, and x[" + std::to_string(i) + "] is " +
                            detail::number(x[i]) + " instead of NaN: no answer is better than a wrong one");
            }
        }
        return finding;
    }
    if (status >= 0) {
        const auto row = static_cast<std::size_t>(status);
        if (row >= n) return fail(says + ", and there are " + std::to_string(n) + " rows: was it written?");
        return fail(says + ", but " + detail::row_text(a, row) +
                    " and is dominated: the diagonal may be as large as its neighbours together, and what "
                    "stands outside of A does not count");
    }
    if (status != solved && status != not_converged && status != indefinite) {
        return fail("status is " + std::to_string(status) + ", which is no Status: was it written?");
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (!std::isnan(rhs[i])) continue;
        if (status == solved && std::isfinite(x[i]))
            return fail("rhs[" + std::to_string(i) + "] is NaN, and x there is a number");
        return finding;
    }
    const Vector right = solve(a, rhs);
    const double largest = rungs::max_norm(std::span<const double>(x)),
                 expected = rungs::max_norm(std::span<const double>(right));
    const Vector errors = backward_errors(a, rhs, x);
    for (const double error : errors) {
        if (!(error <= finding.error))
            finding.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
    const bool singular =
        !(expected < 0x1p40 * rungs::max_norm(std::span<const double>(rhs))) && expected > 0;
    if (singular) {  // not_converged, no number, or a huge one: all of these tell
        const bool huge = !(largest < 0x1p18 * rungs::max_norm(std::span<const double>(rhs)));
        if (status != solved || huge || finding.error <= tolerance) finding.error = 0;
        if (finding.error > 0) finding.cause = "the system has no solution, and x does not show it";
        return finding;
    }
    if (status != solved) {
        const double size = rungs::max_norm(std::span<const double>(rhs));
        const bool leaves_float = size > 0 && (size > 0x1p63 || size < 0x1p-63);
        return fail(
            says +
            (status == indefinite ? ", but A is positive definite: is r.Ar complete, and a sum in double?"
                                  : ", but this system takes fewer iterations than the limit") +
            (leaves_float
                 ? ". The square of an rhs leaves a float's range here: are products formed in double?"
                 : ""));
    }
    if (finding.error > tolerance) {
        for (std::size_t i = 0; i < n && finding.first.size() < 5; ++i) {
            if (errors[i] <= tolerance) continue;
            finding.first.push_back(
                {i, x[i], right[i],
                 rungs::ulp_distance(static_cast<float>(x[i]), static_cast<float>(right[i]))});
        }
        for (std::size_t i = 0; i < n && finding.cause.empty(); ++i) {
            if (std::isfinite(x[i])) continue;
            finding.cause = "x[" + std::to_string(i) + "] is " + detail::number(x[i]) +
                            ": was it written? Was lower[0] or upper[n-1] used? They may hold anything";
        }
        if (finding.cause.empty()) finding.cause = detail::likely_system(a, rhs, x, right);
        if (finding.cause.empty()) finding.cause = detail::pattern(errors, x, right);
        return finding;
    }
    // Conservation: where all columns sum up to 1, so that no heat is lost, sum x = sum rhs. Rounding errors
    // of rows have any sign, so they add up like a root.
    Matrix b = a;
    if (n > 0) b.lower[0] = b.upper[n - 1] = 0;
    double balance = 0, row = 0;
    bool conserves = n > 1 && !iterates;
    for (std::size_t i = 0; i < n; ++i) {
        const double column = b.diagonal[i] + (i > 0 ? b.upper[i - 1] : 0) + (i + 1 < n ? b.lower[i + 1] : 0);
        conserves = conserves && column == 1;
        balance += rhs[i] - x[i];
        row = std::max(row, std::abs(b.lower[i]) + std::abs(b.diagonal[i]) + std::abs(b.upper[i]));
    }
    const double allowed = tolerance / 4 * row * largest * (4 + std::sqrt(static_cast<double>(n)));
    if (conserves && !(std::abs(balance) <= allowed)) {
        return fail("the rod lets no heat out, and the sum of x is " + detail::number(-balance) +
                    " off that of the right-hand side: errors have one sign");
    }
    return finding;
}

/// Why a march has not arrived.
inline std::string explain_march(const Journey& journey, const Vector& got, const Vector& right,
                                 double allowed) {
    const Rod& rod = journey.rod;
    const std::size_t n = rod.n;
    for (std::size_t i = 0; i < n; ++i) {
        if (!std::isfinite(got[i]) && std::isfinite(right[i]))
            return "u[" + std::to_string(i) + "] is " + detail::number(got[i]) + ": was it written?";
    }
    if (rod.steps == 0) return "0 steps still have to copy start to u";
    const auto is = [&](const Vector& candidate) {
        double off = 0, away = 0;
        for (std::size_t i = 0; i < n; ++i) {
            off = std::max(off, std::abs(got[i] - candidate[i]));
            away = std::max(away, std::abs(right[i] - candidate[i]));
        }
        return off <= 4 * allowed && away > 8 * allowed;
    };
    /// Marches with the ends of level k + before in the explicit half of step k, k + after in the implicit.
    const auto with_ends = [&](std::size_t before, std::size_t after) {
        Vector u = journey.start;
        for (std::size_t k = 0; k < rod.steps; ++k) {
            u = step(rod, u, {journey.left[k + before], journey.right[k + before]},
                     {journey.left[k + after], journey.right[k + after]});
        }
        return u;
    };
    const auto change = [&](const std::function<void(Journey&)>& edit) {
        Journey other = journey;
        edit(other);
        return is(march(other).u);
    };
    if (is(journey.start)) return "u is still start";
    if (is(Vector(n, 0.0))) return "u is 0 everywhere";
    for (const auto& [theta, name] : {std::pair(1.0, "BTCS"), {0.5, "Crank-Nicolson"}, {0.0, "FTCS"}}) {
        if (change([&](Journey& other) { other.rod.theta = theta; })) {
            return std::string("this is ") + name + ": theta is " + detail::number(rod.theta);
        }
    }
    if (change([](Journey& other) { other.rod.theta = 1 - other.rod.theta; }))
        return "theta and 1 - theta are exchanged";
    if (is(with_ends(0, 0)))
        return "the implicit half takes the ends of the old time level, left[s] for left[s + 1]";
    if (is(with_ends(1, 1)))
        return "the explicit half takes the ends of the new time level, left[s + 1] for left[s]";
    if (is(with_ends(1, 0))) return "old and new time level of the ends are exchanged";
    if (change([](Journey& other) { --other.rod.steps, other.left.pop_back(), other.right.pop_back(); }))
        return "one step is missing";
    if (change([](Journey& other) { std::swap(other.left, other.right); }))
        return "left and right are exchanged";
    const auto cold = [](Vector& end) { std::fill(end.begin(), end.end(), 0.0); };
    if (change([&](Journey& other) { cold(other.left), cold(other.right); }))
        return "the ends were taken as 0";
    if (change([&](Journey& other) { cold(other.left); })) return "the left end was taken as 0";
    if (change([&](Journey& other) { cold(other.right); })) return "the right end was taken as 0";
    const auto constant = [](Vector& end) { std::fill(end.begin(), end.end(), end.front()); };
    if (change([&](Journey& other) { constant(other.left), constant(other.right); }))
        return "the ends stay what they are at first: they change in time";
    for (const double factor : {2.0, 0.5}) {
        if (change([&](Journey& other) { other.rod.r *= factor; }))
            return "this is the march for r = " + detail::number(factor * rod.r);
    }
    if (rod.steps > 1) {  // each step from the right-hand side of the first one
        if (is(step(rod, journey.start, {journey.left[0], journey.right[0]},
                    {journey.left[rod.steps], journey.right[rod.steps]}))) {
            return "the right-hand side is stale: each step has to start from the values of the step before";
        }
    }
    std::size_t wrong = 0, first = n, last = 0;
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double error = std::abs(got[i] - right[i]);
        worst = std::max(worst, error);
        if (error <= allowed) continue;
        first = std::min(first, i), last = i, ++wrong;
    }
    const std::string share = std::to_string(wrong) + " of " + std::to_string(n) +
                              " points are wrong, from " + std::to_string(first) + " to " +
                              std::to_string(last);
    if (last == n - 1 && 2 * first > n) return share + ": is the last row computed like all others?";
    if (n > 16 && 2 * wrong < n)
        return share + ": do they lie where pieces of the rod meet? Is their rim wide enough?";
    if (worst < 1024 * allowed) return share + ", by little: was a shorter type used on the way?";
    return share;
}

}  // namespace btcs
