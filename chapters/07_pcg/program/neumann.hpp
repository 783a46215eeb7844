#pragma once
// Poisson's equation with u' = 0 at the walls (Neumann), by conjugate gradients in float. At a wall the
// neighbour that is missing is missing on the diagonal too, so A times a constant is 0: A u of a rung, less u
// for each missing neighbour.

#include <cmath>
#include <cstddef>
#include <vector>

#include "exam/reference.hpp"
#include "pcg.cuh"
#include "rungs/device_buffer.cuh"

namespace pcg {

/// Where a solve has got to.
struct NeumannState {
    double residual = 0;  ///< ||b - A x|| / ||b||
    double mean_r = 0;  ///< the mean of the r that is carried along, over the root of the mean of b_i squared
    double mean_x = 0;  ///< the mean of x, over the root of the mean of x_i squared
};

class Neumann {
  public:
    /// @param grid   the cube
    /// @param apply  y = A u with u = 0 beyond the walls, on the device
    Neumann(const Grid& grid, FloatApply* apply)
        : grid_(grid), apply_(apply), missing_(grid.points(), 0.0f), u_(grid.points()), y_(grid.points()) {
        for (std::size_t i = 0; i < missing_.size(); ++i) {
            std::size_t rest = i;
            for (int axis = 0; axis < grid.d; ++axis, rest /= static_cast<std::size_t>(grid.L)) {
                const std::size_t c = rest % static_cast<std::size_t>(grid.L);
                missing_[i] += static_cast<float>(c == 0) +
                               static_cast<float>(c + 1 == static_cast<std::size_t>(grid.L));
            }
        }
    }

    /// Conjugate gradients from x = 0.
    /// @param b           right-hand side, whose mean is subtracted first
    /// @param iterations  to make
    /// @param projected   the mean of r is subtracted in every iteration
    NeumannState solve(std::vector<float> b, int iterations, bool projected) {
        subtract_mean(b);  // or there is no solution
        std::vector<float> x(b.size(), 0.0f), r = b, p = b;
        double rr = dot(r, r);
        for (int k = 0; k < iterations && rr > 0; ++k) {
            const std::vector<float> w = product(p);
            const auto alpha = static_cast<float>(rr / dot(p, w));
            for (std::size_t i = 0; i < r.size(); ++i) x[i] += alpha * p[i], r[i] -= alpha * w[i];
            if (projected) subtract_mean(r);
            const double next = dot(r, r);
            for (std::size_t i = 0; i < r.size(); ++i) p[i] = r[i] + static_cast<float>(next / rr) * p[i];
            rr = next;
        }
        std::vector<float> rest = product(x);
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = b[i] - rest[i];
        const double n = static_cast<double>(b.size()), size = std::sqrt(dot(b, b));
        return {std::sqrt(dot(rest, rest)) / size, std::abs(mean(r)) * std::sqrt(n) / size,
                std::abs(mean(x)) * std::sqrt(n / dot(x, x))};
    }

  private:
    static double dot(const std::vector<float>& v, const std::vector<float>& w) {
        double sum = 0;
        for (std::size_t i = 0; i < v.size(); ++i) sum += static_cast<double>(v[i]) * w[i];
        return sum;
    }
    static double mean(const std::vector<float>& v) {
        double sum = 0;
        for (const float value : v) sum += value;
        return sum / static_cast<double>(v.size());
    }
    static void subtract_mean(std::vector<float>& v) {
        const double off = mean(v);
        for (float& value : v) value = static_cast<float>(value - off);
    }
    std::vector<float> product(const std::vector<float>& u) {
        u_.copy_from(u);
        apply_(u_.data(), y_.data(), grid_.d, grid_.L, nullptr);
        std::vector<float> y = y_.to_host();
        for (std::size_t i = 0; i < y.size(); ++i) y[i] -= missing_[i] * u[i];
        return y;
    }

    Grid grid_;
    FloatApply* apply_;
    std::vector<float> missing_;  ///< neighbours that a point lacks
    rungs::DeviceBuffer<float> u_, y_;
};

}  // namespace pcg
