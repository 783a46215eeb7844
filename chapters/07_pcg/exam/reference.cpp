// The oracle: operator, solution and conjugate gradients in double.

#include "exam/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "pcg.cuh"
#include "rungs/random.hpp"

namespace pcg {
namespace {

/// Calls action(i, c, stride) for every point i and its coordinate c along one axis.
template <class Action>
void along(const Grid& grid, int axis, const Action& action) {
    const auto length = static_cast<std::size_t>(grid.L);
    std::size_t stride = 1;
    for (int other = 0; other < axis; ++other) stride *= length;
    const std::size_t n = grid.points();
    for (std::size_t base = 0; base < n; base += stride * length) {
        for (std::size_t c = 0; c < length; ++c) {
            for (std::size_t i = base + c * stride; i < base + (c + 1) * stride; ++i) action(i, c, stride);
        }
    }
}

void require_size(const Grid& grid, std::size_t size) {
    if (size == grid.points()) return;
    throw std::length_error("a field of " + std::to_string(size) + " values on a grid of " +
                            std::to_string(grid.points()) + " points");
}

/// Sine transform along all axes but the first: its own inverse, up to a factor (2 / (L + 1))^(d - 1).
Field transformed(const Grid& grid, Field v) {
    if (grid.d == 1) return v;
    const auto length = static_cast<std::size_t>(grid.L);
    std::vector<double> sines(length * length), line(length);
    for (std::size_t k = 0; k < length; ++k) {
        for (std::size_t c = 0; c < length; ++c) {
            const double turns = static_cast<double>((k + 1) * (c + 1) % (2 * length + 2));
            sines[k * length + c] = std::sin(std::numbers::pi * turns / static_cast<double>(length + 1));
        }
    }
    for (int axis = 1; axis < grid.d; ++axis) {
        along(grid, axis, [&](std::size_t i, std::size_t c, std::size_t stride) {
            if (c > 0) return;  // once for each line
            for (std::size_t j = 0; j < length; ++j) line[j] = v[i + j * stride];
            for (std::size_t k = 0; k < length; ++k)
                v[i + k * stride] = dot({&sines[k * length], length}, line);
        });
    }
    return v;
}

/// Gauss-Seidel for the points of one colour: those whose coordinates add up to an even number,
/// or an odd one.
void half_sweep(const Grid& grid, Field& x, std::span<const double> r, int colour) {
    const auto length = static_cast<std::size_t>(grid.L);
    for (std::size_t i = 0; i < x.size(); ++i) {
        double sum = r[i];
        std::size_t stride = 1, rest = i, parity = 0;
        for (int axis = 0; axis < grid.d; ++axis, rest /= length, stride *= length) {
            const std::size_t c = rest % length;
            parity += c;
            if (c > 0) sum += x[i - stride];
            if (c + 1 < length) sum += x[i + stride];
        }
        if (static_cast<int>(parity % 2) == colour) x[i] = sum / (2 * grid.d);
    }
}

void sweep(const Grid& grid, Field& x, std::span<const double> r, int first) {
    half_sweep(grid, x, r, first);
    half_sweep(grid, x, r, 1 - first);
}

/// Calls action(i, j, weight) for every point i and each point j of the coarse grid that it is interpolated
/// from, linearly along each axis. Coarse points are `ratio` fine ones apart; fine point c lies between
/// coarse points c / 2 - 1 and c / 2, or on the latter.
/// @param weighted  else every weight is 1, also that of a coarse point that a fine one does not take
template <class Action>
void interpolate(const Grid& fine, const Grid& coarse, double ratio, bool weighted, const Action& action) {
    const std::size_t n = fine.points();
    for (std::size_t i = 0; i < n; ++i) {
        for (int corner = 0; corner < 1 << fine.d; ++corner) {
            double weight = 1;
            std::size_t j = 0, stride = 1, rest = i;
            for (int axis = 0; axis < fine.d; ++axis, rest /= static_cast<std::size_t>(fine.L)) {
                const int c = static_cast<int>(rest % static_cast<std::size_t>(fine.L));
                const int before = corner >> axis & 1, from = c / 2 - before;
                const double place = (c + 1) / ratio - c / 2;  // from c / 2 - 1 on
                if (weighted) weight *= before ? 1 - place : place;
                if (from < 0 || from >= coarse.L) weight = 0;  // a wall
                j += stride * static_cast<std::size_t>(std::max(from, 0));
                stride *= static_cast<std::size_t>(coarse.L);
            }
            if (weight > 0) action(i, j, weight);
        }
    }
}

/// Conjugate gradients with the contract's rules for stopping.
/// @param rounded  rounded(v, size) is how v is kept, found from terms of that size
template <class Rounded>
Trace iterate(const Grid& grid, std::span<const double> b, int limit, double tolerance,
              const Rounded& rounded) {
    require_size(grid, b.size());
    Trace trace;
    trace.x.assign(b.size(), 0.0);
    Field r(b.begin(), b.end()), p = r;
    double rr = dot(r, r);
    const double bb = rr;
    for (;; ++trace.iterations) {
        const int k = trace.iterations;
        if (rr <= tolerance * tolerance * bb && k > 0) {  // r says so: does x, too?
            const Field ax = laplace(grid, trace.x);
            Field fresh(b.begin(), b.end());
            for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] -= ax[i];
            const double truth = dot(fresh, fresh);
            if (!(truth <= tolerance * tolerance * bb)) r = fresh, rr = truth;
        }
        trace.history.push_back(std::sqrt(rr));
        if (!(rr <= too_far * too_far * bb) || std::isinf(rr)) {
            trace.outcome = diverged;
        } else if (rr <= tolerance * tolerance * bb) {
            trace.outcome = converged;
        } else if (k == limit) {
            trace.outcome = limit_reached;
        } else {
            Field q = laplace(grid, p);
            for (std::size_t i = 0; i < q.size(); ++i) q[i] = rounded(q[i], 2 * grid.d * p[i]);
            const double curvature = dot(p, q);
            if (curvature > 0 && !std::isinf(curvature)) {
                const double alpha = rr / curvature;
                for (std::size_t i = 0; i < r.size(); ++i) {
                    trace.x[i] = rounded(trace.x[i] + alpha * p[i], trace.x[i]);
                    r[i] = rounded(r[i] - alpha * q[i], r[i]);
                }
                const double next = dot(r, r);
                for (std::size_t i = 0; i < r.size(); ++i) p[i] = rounded(r[i] + next / rr * p[i], r[i]);
                rr = next;
                continue;
            }
            trace.outcome = breakdown;
        }
        return trace;
    }
}

}  // namespace

Field laplace(const Grid& grid, std::span<const double> u) {
    require_size(grid, u.size());
    Field v(u.begin(), u.end());
    // Line by line along the first axis: lines beside it along the other axes are taken off it as a whole.
    const auto length = static_cast<std::size_t>(grid.L);
    for (std::size_t first = 0; first < u.size(); first += length) {
        double* const line = v.data() + first;
        const double* const from = u.data() + first;
        for (std::size_t k = 0; k < length; ++k) line[k] *= 2 * grid.d;
        for (std::size_t k = 1; k < length; ++k) line[k] -= from[k - 1];
        for (std::size_t k = 0; k + 1 < length; ++k) line[k] -= from[k + 1];
        std::size_t place = first / length, stride = length;
        for (int axis = 1; axis < grid.d; ++axis, place /= length, stride *= length) {
            if (place % length > 0) {
                for (std::size_t k = 0; k < length; ++k) line[k] -= *(from + k - stride);
            }
            if (place % length + 1 < length) {
                for (std::size_t k = 0; k < length; ++k) line[k] -= from[k + stride];
            }
        }
    }
    return v;
}

double dot(std::span<const double> v, std::span<const double> w) {
    double sum[4] = {};  // four chains: the compiler may not reorder one
    std::size_t i = 0;
    for (; i + 4 <= v.size(); i += 4) {
        for (std::size_t c = 0; c < 4; ++c) sum[c] += v[i + c] * w[i + c];
    }
    for (; i < v.size(); ++i) sum[0] += v[i] * w[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double residual_norm(const Grid& grid, std::span<const double> b, std::span<const double> x) {
    Field r = laplace(grid, x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    return std::sqrt(dot(r, r));
}

double norm_in(const Grid& grid, std::span<const double> v) {
    require_size(grid, v.size());
    double sum = 0;
    for (int axis = 0; axis < grid.d; ++axis) {
        along(grid, axis, [&](std::size_t i, std::size_t c, std::size_t stride) {
            const double before = c > 0 ? v[i] - v[i - stride] : v[i];
            sum += before * before;
            if (c + 1 == static_cast<std::size_t>(grid.L)) sum += v[i] * v[i];
        });
    }
    return std::sqrt(sum);
}

Field solution(const Grid& grid, std::span<const double> b) {
    require_size(grid, b.size());
    // Waves along all axes but the first leave a tridiagonal system for each line along that one: 2 + the
    // waves' eigenvalues on the diagonal, -1 beside it.
    Field waves = transformed(grid, Field(b.begin(), b.end()));
    Field diagonal(waves.size(), 2.0);
    for (int axis = 1; axis < grid.d; ++axis) {
        along(grid, axis, [&](std::size_t i, std::size_t c, std::size_t) {
            diagonal[i] += eigenvalue({1, grid.L}, static_cast<int>(c) + 1);
        });
    }
    const double scale = std::pow(2.0 / (grid.L + 1), grid.d - 1);
    const auto length = static_cast<std::size_t>(grid.L);
    for (std::size_t i = 0; i < waves.size(); ++i) {
        waves[i] *= scale;
        if (i % length == 0) continue;
        diagonal[i] -= 1 / diagonal[i - 1];
        waves[i] += waves[i - 1] / diagonal[i - 1];
    }
    for (std::size_t i = waves.size(); i-- > 0;) {
        if ((i + 1) % length != 0) waves[i] += waves[i + 1];
        waves[i] /= diagonal[i];
    }
    return transformed(grid, std::move(waves));
}

Field sine(const Grid& grid, int waves) {
    Field v(grid.points(), 1.0);
    for (int axis = 0; axis < grid.d; ++axis) {
        along(grid, axis, [&](std::size_t i, std::size_t c, std::size_t) {
            v[i] *= std::sin(std::numbers::pi * waves * static_cast<double>(c + 1) / (grid.L + 1));
        });
    }
    return v;
}

double eigenvalue(const Grid& grid, int waves) {
    const double s = std::sin(std::numbers::pi * waves / (2.0 * (grid.L + 1)));
    return 4 * grid.d * s * s;
}

double condition(const Grid& grid) { return grid.L > 0 ? eigenvalue(grid, grid.L) / eigenvalue(grid, 1) : 1; }

double chebyshev_bound(double kappa, int k) {
    const double root = std::sqrt(kappa);
    if (root == 1) return k > 0 ? 0 : 1;
    return 2 / (std::pow((root + 1) / (root - 1), k) + std::pow((root - 1) / (root + 1), k));
}

Trace conjugate_gradients(const Grid& grid, std::span<const double> b, int limit, double tolerance) {
    return iterate(grid, b, limit, tolerance, [](double value, double) { return value; });
}

Trace rounded_conjugate_gradients(const Grid& grid, std::span<const double> b, int limit, double tolerance,
                                  double unit, std::uint64_t seed) {
    std::uint64_t next = 0;
    return iterate(grid, b, limit, tolerance, [&](double value, double size) {
        const double error = unit * std::max(std::abs(value), std::abs(size));
        return rungs::random_word(seed, next++) % 2 ? value + error : value - error;
    });
}

Field v_cycle(const Grid& grid, std::span<const double> r, const Cycle& cycle) {
    require_size(grid, r.size());
    Field x(r.size(), 0.0);
    if (grid.L <= 2) {  // so few unknowns that sweeps solve it
        for (int i = 0; i < 20; ++i) sweep(grid, x, r, 0), sweep(grid, x, r, 1);
        return x;
    }
    constexpr int most_smallest = 7, pass_block = 384;  // as in cycle.cuh
    if (cycle.sooner && grid.L <= most_smallest && grid.points() <= pass_block) {
        for (int turn = 0; turn < 2; ++turn) {
            for (int i = 0; i <= grid.L; ++i) sweep(grid, x, r, turn);
        }
        return x;
    }
    sweep(grid, x, r, 0);
    const Field ax = laplace(grid, x);
    // Same walls: points are 2 of the finer grid's distances apart if L is odd, 2 + 2 / L if L is even.
    const Grid coarse{grid.d, cycle.same_walls ? (grid.L - 1) / 2 : grid.L / 2};
    Field rest(coarse.points(), 0.0);
    const double ratio = cycle.same_walls ? (grid.L + 1.0) / (coarse.L + 1.0) : 2;
    const double scale = cycle.scale * ratio * ratio / std::pow(ratio, grid.d);
    interpolate(grid, coarse, ratio, cycle.weighted, [&](std::size_t i, std::size_t j, double weight) {
        rest[j] += scale * weight * (r[i] - ax[i]);
    });
    const Field correction = v_cycle(coarse, rest, cycle);
    interpolate(grid, coarse, ratio, true,
                [&](std::size_t i, std::size_t j, double weight) { x[i] += weight * correction[j]; });
    sweep(grid, x, r, cycle.symmetric ? 1 : 0);
    return x;
}

Field smoothed(const Grid& grid, std::span<const double> r, Field x, int first) {
    sweep(grid, x, r, first);
    return x;
}

Grid coarser(const Grid& fine) { return {fine.d, (fine.L - 1) / 2}; }

Field restricted(const Grid& fine, std::span<const double> v, bool weighted) {
    require_size(fine, v.size());
    const Grid coarse = coarser(fine);
    const double ratio = (fine.L + 1.0) / (coarse.L + 1.0), scale = ratio * ratio / std::pow(ratio, fine.d);
    Field result(coarse.points(), 0.0);
    interpolate(fine, coarse, ratio, weighted,
                [&](std::size_t i, std::size_t j, double weight) { result[j] += scale * weight * v[i]; });
    return result;
}

Field prolonged(const Grid& fine, std::span<const double> coarse, bool weighted) {
    const Grid below = coarser(fine);
    require_size(below, coarse.size());
    Field result(fine.points(), 0.0);
    interpolate(fine, below, (fine.L + 1.0) / (below.L + 1.0), weighted,
                [&](std::size_t i, std::size_t j, double weight) { result[i] += weight * coarse[j]; });
    return result;
}

double rounding_floor(const Grid& grid, std::span<const double> b, std::span<const double> x, double unit) {
    require_size(grid, x.size());
    Field size(b.size());
    for (std::size_t i = 0; i < size.size(); ++i) size[i] = std::abs(b[i]) + 2 * grid.d * std::abs(x[i]);
    for (int axis = 0; axis < grid.d; ++axis) {
        along(grid, axis, [&](std::size_t i, std::size_t c, std::size_t stride) {
            if (c > 0) size[i] += std::abs(x[i - stride]);
            if (c + 1 < static_cast<std::size_t>(grid.L)) size[i] += std::abs(x[i + stride]);
        });
    }
    return unit * std::sqrt(dot(size, size));
}

}  // namespace pcg
