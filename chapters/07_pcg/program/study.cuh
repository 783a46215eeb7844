#pragma once
// The chapter's program at work: one random right-hand side, what a rung makes of it, and its place under
// the roofs of the device.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "program/options.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/random.hpp"
#include "rungs/roof.cuh"
#include "rungs/svg.hpp"
#include "rungs/timing.cuh"

namespace pcg {

inline const char* name_of(int outcome) {
    constexpr const char* names[] = {"converged", "limit reached", "breakdown", "diverged"};
    return outcome >= 0 && outcome < 4 ? names[outcome] : "no outcome";
}

/// What a rung reached.
struct Result {
    int outcome = -1, iterations = 0;
    double error = 0;  ///< of a solve ||b - A x|| / ||b||, in double; of an operator ||y - A u|| / ||A u||
    double milliseconds = 0;      ///< of the whole call
    std::vector<double> history;  ///< ||r_k|| / ||b||, as it was claimed
};

/// A random field on the device, and what the rungs do with it, in T.
template <class T>
class Study {
  public:
    Study(const Options& options, const rungs::TimingOptions& timing)
        : options_(options),
          timing_(timing),
          grid_{options.d, options.side},
          tolerance_(sizeof(T) == 4 ? options.float_tolerance() : options.tolerance),
          b_(rungs::random_field<T>(grid_.points(), options.seed, rungs::signed_uniform)),
          d_b_(b_),
          d_x_(b_.size()),
          d_history_(static_cast<std::size_t>(options.limit) + 1),
          d_outcome_(2) {}

    Result apply(Apply<T>* rung) {
        d_x_.fill_bytes(0xff);
        Result result;
        result.milliseconds = rungs::median_milliseconds(
            [&](cudaStream_t stream) { rung(d_b_.data(), d_x_.data(), grid_.d, grid_.L, stream); }, timing_);
        const std::vector<T> y = d_x_.to_host();
        const Field right = laplace(grid_, in_double(b_));
        double off = 0;
        for (std::size_t i = 0; i < y.size(); ++i) off += (y[i] - right[i]) * (y[i] - right[i]);
        result.error = std::sqrt(off / dot(right, right));
        return result;
    }

    Result solve(Solve<T>* rung) {
        d_x_.fill_bytes(0xff);
        d_outcome_.fill_bytes(0xff);
        Result result;
        result.milliseconds = rungs::median_milliseconds(
            [&](cudaStream_t stream) {
                rung(d_b_.data(), d_x_.data(), d_history_.data(), d_outcome_.data(), grid_.d, grid_.L,
                     options_.limit, tolerance_, stream);
            },
            timing_);
        const std::vector<int> outcome = d_outcome_.to_host();
        result.outcome = outcome[0];
        result.iterations = std::clamp(outcome[1], 0, options_.limit);
        const Field b = in_double(b_);
        const double size = std::sqrt(dot(b, b));
        result.error = residual_norm(grid_, b, in_double(d_x_.to_host())) / size;
        result.history = d_history_.to_host();
        result.history.resize(static_cast<std::size_t>(result.iterations) + 1);
        for (double& value : result.history) value /= size;
        return result;
    }

    double tolerance() const { return tolerance_; }

  private:
    static Field in_double(const std::vector<T>& values) { return Field(values.begin(), values.end()); }

    Options options_;
    rungs::TimingOptions timing_;
    Grid grid_;
    double tolerance_;
    std::vector<T> b_;
    rungs::DeviceBuffer<T> d_b_, d_x_;
    rungs::DeviceBuffer<double> d_history_;
    rungs::DeviceBuffer<int> d_outcome_;
};

/// A rung's place under the roofs: how often it computes, for how many bytes.
struct Place {
    std::string name;
    double flops = 0, bytes = 0, milliseconds = 0;
};

/// The program's table, a line for each rung and type, and what the pictures show.
class Report {
  public:
    explicit Report(const Options& options)
        : options_(options), n_(static_cast<double>(points(options.d, options.side))) {}

    /// Tries a rung in T, where it has anything in T.
    template <class T>
    void row(const Rung& rung, Study<T>& study) {
        const double terms = 2 * options_.d + 1;
        const bool single = sizeof(T) == 4;
        if (Apply<T>* const apply = rung.apply_of(T())) {
            const Result got = study.apply(apply);
            const bool passed = got.error <= 10 * (single ? 0x1p-24 : 0x1p-53);
            print(rung, single, "applied", got, passed);
            if (single) places_.push_back({rung.name, terms * n_, 2 * sizeof(T) * n_, got.milliseconds});
        }
        if (Solve<T>* const solve = rung.solve_of(T())) {
            const Result got = study.solve(solve);
            const bool passed = got.outcome == converged && got.error <= 1.01 * study.tolerance() + 1e-14;
            print(rung, single, name_of(got.outcome), got, passed);
            const double each = got.milliseconds / std::max(got.iterations, 1);
            if (single) places_.push_back({rung.name, (terms + 12) * n_, 5 * sizeof(T) * n_, each});
            rungs::Series line{std::string(rung.name) + (single ? ", float" : ""), {}, got.history};
            for (std::size_t k = 0; k < line.y.size(); ++k) line.x.push_back(static_cast<double>(k));
            if (passed) lines_.push_back(line);
        }
    }

    bool right() const { return right_; }
    const std::vector<Place>& places() const { return places_; }

    /// ||r|| against iterations, of all solves that were right.
    rungs::LinePlot convergence() const {
        return {"d = " + std::to_string(options_.d) + ", side " + std::to_string(options_.side),
                "How the residual falls with each method",
                "iterations (of mixed precision: outer ones)",
                "||r|| / ||b||",
                rungs::Scale::linear,
                rungs::Scale::log10,
                lines_};
    }

  private:
    void print(const Rung& rung, bool single, const char* how, const Result& got, bool passed) {
        right_ = right_ && passed;
        std::printf("%-20s %-7s %-14s %10d %12.2e %12.2f %12.2f%s\n", rung.name, single ? "float" : "double",
                    how, got.iterations, got.error, 1e3 * got.milliseconds,
                    1e3 * got.milliseconds / std::max(got.iterations, 1), passed ? "" : "  WRONG");
    }

    Options options_;
    double n_;
    bool right_ = true;
    std::vector<Place> places_;
    std::vector<rungs::Series> lines_;
};

/// The roofline of this device in float, by measurement: a copy of 1 GiB, fused multiply-adds, and the
/// rungs under it.
inline rungs::LinePlot roofline(const std::string& device, const std::vector<Place>& places) {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    rungs::DeviceBuffer<float> from(bytes / sizeof(float)), to(bytes / sizeof(float));
    from.fill_bytes(0);
    const double copy = rungs::median_milliseconds([&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
    });
    const double bandwidth = 2.0 * bytes / copy / 1e6, peak = 1e-9 * rungs::fma_roof();
    const double ridge = peak / bandwidth;
    std::printf(
        "roofs, measured: copy %.0f GB/s, fused multiply-adds %.0f Gflop/s: they meet at %.1f flop/B\n",
        bandwidth, peak, ridge);
    rungs::LinePlot plot{"Roofline, float, " + device,
                         "Measured roofs of memory and arithmetic, and the rungs under them",
                         "flop for each byte that has to be moved",
                         "Gflop/s",
                         rungs::Scale::log2,
                         rungs::Scale::log10,
                         {{"roof", {0.25, ridge, 4 * ridge}, {0.25 * bandwidth, peak, peak}}}};
    for (const Place& place : places) {
        const double rate = place.flops / place.milliseconds / 1e6;
        std::printf("  %-20s %6.2f flop/B %9.0f Gflop/s: %3.0f %% of the roof\n", place.name.c_str(),
                    place.flops / place.bytes, rate,
                    100 * rate / std::min(peak, place.flops / place.bytes * bandwidth));
        plot.series.push_back({place.name, {place.flops / place.bytes}, {rate}});
    }
    return plot;
}

}  // namespace pcg
