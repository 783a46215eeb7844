// The oracle: elimination, the march through time and their theory, in double.

#include "exam/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "rungs/norms.hpp"

namespace btcs {

Vector solve(const Matrix& a, const Vector& rhs) {
    const std::size_t n = a.rows();
    if (a.lower.size() != n || a.upper.size() != n || rhs.size() != n) {
        throw std::length_error("a tridiagonal system has three diagonals and a right-hand side of one size");
    }
    // Row i becomes x[i] + ratio[i] x[i+1] = x[i], from the first on; then the last is known.
    Vector ratio(n), x(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double left = i > 0 ? a.lower[i] : 0, pivot = a.diagonal[i] - (i > 0 ? left * ratio[i - 1] : 0);
        ratio[i] = i + 1 < n ? a.upper[i] / pivot : 0;
        x[i] = (rhs[i] - (i > 0 ? left * x[i - 1] : 0)) / pivot;
    }
    for (std::size_t i = n; i-- > 1;) x[i - 1] -= ratio[i - 1] * x[i];
    return x;
}

Vector product(const Matrix& a, const Vector& x) {
    const std::size_t n = a.rows();
    Vector y(n);
    for (std::size_t i = 0; i < n; ++i) {
        y[i] = a.diagonal[i] * x[i];
        if (i > 0) y[i] += a.lower[i] * x[i - 1];
        if (i + 1 < n) y[i] += a.upper[i] * x[i + 1];
    }
    return y;
}

namespace {

template <class Band>
std::size_t first_weak_row(const Band& lower, const Band& diagonal, const Band& upper) {
    const std::size_t n = diagonal.size();
    for (std::size_t i = 0; i < n; ++i) {
        const double left = i > 0 ? std::abs(static_cast<double>(lower[i])) : 0;
        const double right = i + 1 < n ? std::abs(static_cast<double>(upper[i])) : 0;
        const double own = std::abs(static_cast<double>(diagonal[i])), sum = left + right;
        // What the sum lost in rounding (O. Moller, D. Knuth: two-sum), for a tie between own and sum.
        const double back = sum - left, lost = (left - (sum - back)) + (right - back);
        if (!(own > sum || (own == sum && !(lost > 0))) || own == 0 || std::isnan(sum)) return i;
    }
    return n;
}

}  // namespace

std::size_t first_not_dominant(const Matrix& a) { return first_weak_row(a.lower, a.diagonal, a.upper); }

std::size_t first_not_dominant(std::span<const float> lower, std::span<const float> diagonal,
                               std::span<const float> upper) {
    return first_weak_row(lower, diagonal, upper);
}

Vector backward_errors(const Matrix& a, const Vector& rhs, const Vector& x, double size) {
    const std::size_t n = a.rows();
    const Vector ax = product(a, x);
    Vector errors(n);
    for (std::size_t i = 0; i < n; ++i) {
        double row = std::abs(a.diagonal[i]);
        if (i > 0) row += std::abs(a.lower[i]);
        if (i + 1 < n) row += std::abs(a.upper[i]);
        const double residual = std::abs(rhs[i] - ax[i]);
        errors[i] = residual == 0 ? 0 : residual / (row * size);
    }
    return errors;
}

double size_of_terms(const Matrix& a, const Vector& rhs) {
    const auto magnitudes = [](Vector all, double sign) {
        for (double& one : all) one = sign * std::abs(one);
        return all;
    };
    const Matrix positive{magnitudes(a.lower, -1), magnitudes(a.diagonal, 1), magnitudes(a.upper, -1)};
    return rungs::max_norm(std::span<const double>(solve(positive, magnitudes(rhs, 1))));
}

namespace {

/// The implicit half of every step of a rod, (-rho, 1 + 2 rho, -rho): eliminated once.
class Elimination {
  public:
    Elimination(std::size_t n, double rho) : rho_(rho) {
        double pivot = 1 + 2 * rho;
        for (std::size_t i = 0; i < n; ++i) {
            inverse_.push_back(1 / pivot);
            const double next = 1 + 2 * rho - rho * rho / pivot;
            if (next == pivot) break;  // they have settled, and all further rows are alike
            pivot = next;
        }
    }

    /// Replaces a right-hand side by the solution.
    void solve(Vector& x) const {
        double before = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double inverse = inverse_of(i);
            x[i] = before = x[i] * inverse + rho_ * inverse * before;
        }
        for (std::size_t i = x.size(); i-- > 1;) x[i - 1] += rho_ * inverse_of(i - 1) * x[i];
    }

  private:
    double inverse_of(std::size_t row) const { return inverse_[std::min(row, inverse_.size() - 1)]; }

    double rho_;
    Vector inverse_;  ///< pivots' inverses up to where they settle
};

/// One time step from `u` to `next`, which has its size.
void step(const Rod& rod, const Elimination& implicit, const Vector& u, Vector& next, const Ends& before,
          const Ends& after) {
    const std::size_t n = u.size();
    const double now = (1 - rod.theta) * rod.r, then = rod.theta * rod.r;
    const auto advance = [&](std::size_t i, double left, double right) {
        next[i] = u[i] + now * (left - 2 * u[i] + right);
    };
    if (n == 0) return;
    if (n > 1) advance(0, before.left, u[1]);
    for (std::size_t i = 1; i + 1 < n; ++i) advance(i, u[i - 1], u[i + 1]);
    advance(n - 1, n > 1 ? u[n - 2] : before.left, before.right);
    if (then == 0) return;
    next.front() += then * after.left;
    next.back() += then * after.right;
    implicit.solve(next);
}

}  // namespace

Vector step(const Rod& rod, const Vector& u, const Ends& before, const Ends& after) {
    Vector next(u.size());
    step(rod, Elimination(u.size(), rod.theta * rod.r), u, next, before, after);
    return next;
}

Arrival march(const Journey& journey) {
    const Rod& rod = journey.rod;
    if (journey.start.size() != rod.n || journey.left.size() != rod.steps + 1 ||
        journey.right.size() != rod.steps + 1) {
        throw std::length_error("a rod has n points, and steps + 1 values at each end");
    }
    const double grows = std::max(1.0, std::abs(amplification(rod.r, rod.theta, std::numbers::pi)));
    const Elimination implicit(rod.n, rod.theta * rod.r);
    Arrival now{journey.start, 0};
    Vector next(rod.n);
    for (std::size_t k = 0;; ++k) {
        for (const double value : now.u) now.largest = std::max(now.largest, std::abs(value));
        now.largest = std::max({now.largest, std::abs(journey.left[k]), std::abs(journey.right[k])});
        if (k == rod.steps) return now;
        step(rod, implicit, now.u, next, {journey.left[k], journey.right[k]},
             {journey.left[k + 1], journey.right[k + 1]});
        now.u.swap(next);
        now.largest *= grows;
    }
}

// Let M be the largest value, u the unit roundoff, rho = theta r and sigma = (1 - theta) r.
//
// - The explicit half adds up terms of up to (1 + 4 sigma) M: a few roundings of that size, and the implicit
//   half, whose inverse has the maximum norm 1, does not make them larger.
// - The implicit half is two recurrences, y_i = lambda y_{i-1} + (1 - lambda) d_i and the same backwards,
//   with 1 / (1 - lambda) = (1 + sqrt(1 + 4 rho)) / 2. Each sums up its roundings, and that of lambda, with
//   the powers of lambda: u M / (1 - lambda) each (N. Higham, Accuracy and Stability of Numerical Algorithms,
//   2nd ed. 2002, sections 3.3, 9.5 and 9.6, for the error of one step and of the elimination).
// - Elimination in float has its lambda = rho / m from pivots, m_i = (1 + 2 rho) - rho^2 / m_{i-1}. They sum
//   up three roundings with the powers of lambda^2 and settle there, so that m is off by up to
//   3 u m / (1 - lambda^2), in every row by the same. What either recurrence makes of a constant is then
//   wrong by 1 / (1 - lambda) times that: 3/2 u M / (1 - lambda)^2 each.
// - BTCS lets no error grow from step to step in the maximum norm, and a step of Crank-Nicolson none in the
//   2-norm; errors of the steps add up.
double rounding_bound(const Rod& rod, double largest) {
    const double root = std::sqrt(1 + 4 * rod.theta * rod.r), sums = (1 + root) / 2;  // 1 / (1 - lambda)
    const double once = 2 * (1 + 4 * (1 - rod.theta) * rod.r) + 4 * root + 3 * sums * sums;
    return static_cast<double>(rod.steps) * 0x1p-24 * largest * once;
}

double amplification(double r, double theta, double phase) {
    const double square = 4 * r * std::pow(std::sin(phase / 2), 2);
    return (1 - (1 - theta) * square) / (1 + theta * square);
}

Matrix heat_matrix(const Vector& faces, double r) {
    if (faces.empty()) throw std::length_error("n points have n + 1 faces");
    const std::size_t n = faces.size() - 1;
    Matrix a{Vector(n), Vector(n), Vector(n)};
    for (std::size_t i = 0; i < n; ++i) {
        a.lower[i] = -r * faces[i];
        a.upper[i] = -r * faces[i + 1];
        a.diagonal[i] = 1 + r * (faces[i] + faces[i + 1]);
    }
    return a;
}

// Far from the ends x_i = lambda^i solves -r x_{i-1} + (1 + 2r) x_i - r x_{i+1} = 0 for the roots
// of r lambda^2 - (1 + 2r) lambda + r = 0, whose product is 1: this is the one below 1, written so
// that nothing cancels.
double decay(double r) { return 2 * r / (1 + 2 * r + std::sqrt(1 + 4 * r)); }

}  // namespace btcs
