#pragma once
/// @file
/// How long it takes until the error is a millionth of what it was.

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "norm.cuh"
#include "red_black.cuh"
#include "rungs/device_buffer.cuh"
#include "rungs/timing.cuh"

namespace red_black {

inline constexpr double small_error = 1e-6;  ///< of the first one

/// Iterations after which the smoothest wave of the error is `small_error` times what it was; tiles, of which
/// theory says nothing, count as red-black. A wave has a red and a black part, and a half-sweep makes one of
/// them of both.
inline int iterations_by_theory(const std::string& problem, int n) {
    const double rho = jacobi_factor(n), omega = problem == "sor" ? best_omega(n) : 1;
    double red = 1, black = 1;
    int iterations = 0;
    for (; std::hypot(red, black) > small_error * std::hypot(1, 1); ++iterations) {
        const double before = red;
        red = (1 - omega) * red + omega * rho * black;
        black = (1 - omega) * black + omega * rho * (problem == "jacobi" ? before : red);
    }
    return iterations;
}

/// b, and the start 0, for the solution wave(i) wave(j) wave(k): A multiplies it by `eigenvalue`.
static __global__ void wave_kernel(const double* wave, double eigenvalue, double* b, double* start, int n) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y, i = blockIdx.z;
    if (k >= n) return;
    const std::size_t c = (static_cast<std::size_t>(i) * n + j) * n + k;
    b[c] = eigenvalue * wave[i] * wave[j] * wave[k];
    start[c] = 0;
}

/// Adds ||u - solution||^2 to *total.
static __global__ void error_kernel(const double* wave, const double* u, double* total, int n) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y, i = blockIdx.z;
    double error = 0;
    if (k < n) {
        const std::size_t c = (static_cast<std::size_t>(i) * n + j) * n + k;
        error = u[c] - wave[i] * wave[j] * wave[k];
    }
    add_over_block(error * error, total);
}

/// The system whose solution is the smoothest wave, in double.
class Wave {
  public:
    explicit Wave(int n)
        : n_(n),
          wave_(sine(n)),
          b_(static_cast<std::size_t>(n) * n * n),
          from_(b_.size()),
          u_(b_.size()),
          work_(work_size(n)),
          total_(1) {}

    /// Iterations of a rung from 0 until the error is small: found by running them.
    /// @throws std::runtime_error when they are thrice as many as expected
    int iterations(const Rung& rung, int expected) {
        begin();
        int done = 0;
        for (int step = expected / 100 + 1; step > 0;) {
            call(rung, from_, step, nullptr);
            if (error() <= small_error) {
                if (step == 1) return done + 1;
                step = (step + 9) / 10;
                continue;
            }
            done += step;
            if (done > 3 * expected) break;
            std::swap(from_, u_);
        }
        throw std::runtime_error(std::string(rung.name) + ": the error is not small after " +
                                 std::to_string(done) + " iterations");
    }

    /// Seconds of one call of so many iterations.
    double seconds(const Rung& rung, int iterations) {
        begin();
        const auto run = [&](cudaStream_t stream) { call(rung, from_, iterations, stream); };
        return rungs::median_milliseconds(run, {.rounds = 1, .warm_up = 0, .calls = 1}) / 1e3;
    }

  private:
    static std::vector<double> sine(int n) {
        std::vector<double> values;
        for (int i = 1; i <= n; ++i) values.push_back(std::sin(std::acos(-1.0) * i / (n + 1)));
        return values;
    }
    dim3 grid() const { return dim3((n_ + 127) / 128, n_, n_); }

    void begin() {
        wave_kernel<<<grid(), 128>>>(wave_.data(), 6 * (1 - jacobi_factor(n_)), b_.data(), from_.data(), n_);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    void call(const Rung& rung, const rungs::DeviceBuffer<double>& from, int iterations,
              cudaStream_t stream) {
        if (norms_.size() < static_cast<std::size_t>(iterations))
            norms_ = rungs::DeviceBuffer<double>(static_cast<std::size_t>(iterations));
        const Tuning tuning{0, 2};  // the best omega; two sweeps in a tile
        rung.twice(from.data(), b_.data(), u_.data(), norms_.data(), work_.data(), n_, iterations, tuning,
                   stream);
    }
    /// ||u - solution|| / ||solution||; the squares of a sine at n points have the sum (n + 1) / 2.
    double error() {
        total_.zero();
        error_kernel<<<grid(), 128>>>(wave_.data(), u_.data(), total_.data(), n_);
        CUDA_CHECK(cudaGetLastError());
        return std::sqrt(total_.to_host()[0] / std::pow((n_ + 1) / 2.0, 3));
    }

    int n_;
    rungs::DeviceBuffer<double> wave_, b_, from_, u_, work_, total_, norms_;
};

}  // namespace red_black
