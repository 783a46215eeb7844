// The oracle: both methods in double, written down as the textbook has them.

#include "exam/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "gradient_descent.cuh"

namespace gradient_descent {
namespace {

double dot(std::span<const double> v, std::span<const double> w) {
    double sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * w[i];
    return sum;
}

/// Notes a residual and says whether it ends the solve.
bool ends(Trace& trace, double rr, int limit, double tolerance) {
    trace.history.push_back(std::sqrt(rr));
    const double bb = trace.history.front() * trace.history.front();
    if (!(rr <= too_far * too_far * bb) || std::isinf(rr)) {
        trace.outcome = diverged;
    } else if (trace.history.back() <= tolerance * trace.history.front()) {
        trace.outcome = converged;
    } else if (trace.iterations == limit) {
        trace.outcome = limit_reached;
    } else {
        return false;
    }
    return true;
}

std::vector<double> residual(const System& system, std::span<const double> x) {
    std::vector<double> r = product(system, x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(system.b[i]) - r[i];
    return r;
}

}  // namespace

std::vector<double> product(const System& system, std::span<const double> v) {
    const auto n = static_cast<std::size_t>(system.n);
    if (v.size() != n || system.a.size() != n * n) {
        throw std::length_error("product of a matrix of " + std::to_string(system.a.size()) +
                                " elements and a vector of " + std::to_string(v.size()) +
                                ", for n = " + std::to_string(n));
    }
    std::vector<double> result(n);
    for (std::size_t i = 0; i < n; ++i) {
        const float* const row = system.a.data() + i * n;
        double sum[4] = {};  // four chains: the compiler may not reorder one
        std::size_t j = 0;
        for (; j + 4 <= n; j += 4) {
            for (std::size_t c = 0; c < 4; ++c) sum[c] += static_cast<double>(row[j + c]) * v[j + c];
        }
        for (; j < n; ++j) sum[0] += static_cast<double>(row[j]) * v[j];
        result[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    return result;
}

double residual_norm(const System& system, std::span<const double> x) {
    const std::vector<double> r = residual(system, x);
    return std::sqrt(dot(r, r));
}

double norm_in(const System& system, std::span<const double> v) {
    const std::vector<double> q = product(system, v);
    return std::sqrt(dot(v, q));
}

Trace reference_jacobi(const System& system, int limit, double tolerance) {
    const auto n = static_cast<std::size_t>(system.n);
    Trace trace;
    trace.x.assign(n, 0.0);
    for (;; ++trace.iterations) {
        const std::vector<double> r = residual(system, trace.x);
        const bool over = ends(trace, dot(r, r), limit, tolerance);
        for (std::size_t i = 0; i < n; ++i) {
            if (system.a[i * n + i] != 0) continue;
            trace.outcome = breakdown;
            return trace;
        }
        if (over) return trace;
        for (std::size_t i = 0; i < n; ++i) trace.x[i] += r[i] / static_cast<double>(system.a[i * n + i]);
    }
}

Trace reference_descent(const System& system, int limit, double tolerance) {
    const auto n = static_cast<std::size_t>(system.n);
    Trace trace;
    trace.x.assign(n, 0.0);
    std::vector<double> r(system.b.begin(), system.b.end());
    while (!ends(trace, dot(r, r), limit, tolerance)) {
        const std::vector<double> q = product(system, r);
        const double curvature = dot(r, q);
        if (!(curvature > 0)) {
            trace.outcome = breakdown;
            return trace;
        }
        const double alpha = dot(r, r) / curvature;
        trace.step.push_back(alpha);
        for (std::size_t i = 0; i < n; ++i) {
            trace.x[i] += alpha * r[i];
            r[i] -= alpha * q[i];
        }
        if (++trace.iterations % renew_every == 0) r = residual(system, trace.x);
    }
    return trace;
}

std::vector<double> solution(const System& system) {
    const auto n = static_cast<std::size_t>(system.n);
    std::vector<double> x(n, 0.0), r(system.b.begin(), system.b.end()), p = r;
    double rr = dot(r, r);
    const double enough = 1e-26 * rr;
    for (std::size_t k = 0; k < 20 * n + 20 && rr > enough; ++k) {
        const std::vector<double> q = product(system, p);
        const double alpha = rr / dot(p, q);
        for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
        const double next = dot(r, r);
        for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / rr * p[i];
        rr = next;
    }
    return x;
}

double rounding_floor(const System& system, std::span<const double> x) {
    const auto n = static_cast<std::size_t>(system.n);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double row = std::abs(static_cast<double>(system.b[i]));
        for (std::size_t j = 0; j < n; ++j) {
            row += std::abs(static_cast<double>(system.a[i * n + j]) * x[j]);
        }
        squares += row * row;
    }
    return unit_roundoff * std::sqrt(squares);
}

}  // namespace gradient_descent
