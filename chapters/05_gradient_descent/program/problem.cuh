#pragma once
// The command line, the data and the pictures of the chapter's program.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "gradient_descent.cuh"
#include "rungs/device_buffer.cuh"
#include "rungs/program.hpp"
#include "rungs/random.hpp"
#include "rungs/svg.hpp"

namespace gradient_descent {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    int n = 200;
    double kappa = 30;
    std::uint64_t seed = 1;
    int limit = 2000;
    double tolerance = 1e-5;
    std::string picture;  ///< the SVG file for ||r|| against iterations; empty: none
    std::string study;    ///< the SVG file for iterations against the condition number; empty: none

    void add_to(rungs::CommandLine& line) {
        line.add("--n", n, 1, 50000, "unknowns");
        line.add("--kappa", kappa, 1.0, 1e6, "condition number");
        line.add("--seed", seed, 0, ~std::uint64_t{0}, "which random system");
        line.add("--limit", limit, 0, 1000000, "the most iterations");
        line.add("--tolerance", tolerance, 0.0, 1.0, "relative residual at which to stop");
        line.add("--picture", picture, "draw ||r|| against the iterations, as SVG");
        line.add("--study", study,
                 "solve for many condition numbers, print and draw how the iterations grow");
    }
};

inline const char* name_of(int outcome) {
    constexpr const char* names[] = {"converged", "limit reached", "breakdown", "diverged"};
    return outcome >= 0 && outcome < 4 ? names[outcome] : "no outcome";
}

/// What a rung reached.
struct Solved {
    int outcome = -1, iterations = 0;
    double residual = 0;          ///< ||b - A x|| / ||b||, in double, of the x that it left
    std::vector<double> history;  ///< ||r_k|| / ||b||, as it was claimed
};

/// One random symmetric positive definite system with a known condition number, on the host and on the
/// device. The right-hand side is the hardest one for descent: the sum of the first and the last eigenvector.
class Problem {
  public:
    explicit Problem(const Options& options)
        : n_(options.n),
          limit_(options.limit),
          tolerance_(options.tolerance),
          b_(static_cast<std::size_t>(n_)) {
        const Spectrum spectrum(b_.size(), options.kappa, options.seed);
        a_ = spectrum.matrix();
        spectrum.add_eigenvector(0, 1, b_);
        if (n_ > 1) spectrum.add_eigenvector(b_.size() - 1, 1, b_);
        d_a_ = rungs::DeviceBuffer<float>(a_);
        d_b_ = rungs::DeviceBuffer<float>(b_);
        d_x_ = rungs::DeviceBuffer<float>(b_.size());
        d_history_ = rungs::DeviceBuffer<double>(static_cast<std::size_t>(limit_) + 1);
        d_outcome_ = rungs::DeviceBuffer<int>(2);
    }

    Trace oracle(bool descends) const {
        return descends ? reference_descent(system(), limit_, tolerance_)
                        : reference_jacobi(system(), limit_, tolerance_);
    }
    void queue(const Rung& rung, cudaStream_t stream) {
        rung.solve(d_a_.data(), d_b_.data(), d_x_.data(), d_history_.data(), d_outcome_.data(), n_, limit_,
                   tolerance_, stream);
    }
    Solved solve(const Rung& rung) {
        d_x_.fill_bytes(0xff);
        d_outcome_.fill_bytes(0xff);
        queue(rung, nullptr);
        Solved solved;
        const std::vector<int> outcome = d_outcome_.to_host();
        solved.outcome = outcome[0];
        solved.iterations = std::clamp(outcome[1], 0, limit_);
        solved.history = d_history_.to_host();
        solved.history.resize(static_cast<std::size_t>(solved.iterations) + 1);
        const std::vector<float> x = d_x_.to_host();
        const double norm = std::max(residual_norm(system(), std::vector<double>(x.size(), 0.0)), 1e-300);
        solved.residual = residual_norm(system(), std::vector<double>(x.begin(), x.end())) / norm;
        for (double& value : solved.history) value /= norm;
        return solved;
    }

  private:
    System system() const { return {n_, a_, b_}; }

    int n_, limit_;
    double tolerance_;
    std::vector<float> a_, b_;
    rungs::DeviceBuffer<float> d_a_, d_b_, d_x_;
    rungs::DeviceBuffer<double> d_history_;
    rungs::DeviceBuffer<int> d_outcome_;
};

/// Whether a rung ended as the oracle did, with a residual that it may claim. Iterations may differ by a few
/// where the last digits decide.
inline bool agrees(const Solved& solved, const Trace& oracle, double tolerance) {
    if (solved.outcome != oracle.outcome) return false;
    if (std::abs(solved.iterations - oracle.iterations) > 2 + oracle.iterations / 100) return false;
    return solved.outcome != converged || solved.residual <= 1.1 * tolerance + 1e-5;
}

/// (kappa - 1) / (kappa + 1): what descent gains in an iteration at least.
inline double factor_of(double kappa) { return (kappa - 1) / (kappa + 1); }

/// ||r|| against the iterations, a line for each rung that differs, with the bound of theory.
inline rungs::LinePlot convergence_plot(const Options& options, const std::vector<rungs::Series>& lines) {
    rungs::LinePlot plot{
        "Convergence at condition number " + std::to_string(static_cast<int>(options.kappa)),
        "How the residual falls from iteration to iteration, for Gauss-Jacobi and for descent",
        "iterations",
        "||r|| / ||b||",
        rungs::Scale::linear,
        rungs::Scale::log10,
        lines};
    rungs::Series bound{"((k-1)/(k+1))^i", {}, {}};
    std::size_t longest = 1;
    for (const rungs::Series& line : lines) longest = std::max(longest, line.x.size());
    for (std::size_t k = 0; k < longest; ++k) {
        bound.x.push_back(static_cast<double>(k));
        bound.y.push_back(std::pow(factor_of(options.kappa), static_cast<double>(k)));
    }
    plot.series.push_back(bound);
    return plot;
}

/// Iterations of `rung` for condition numbers from 2 to the one asked for, beside those that theory allows.
inline rungs::LinePlot condition_study(const Options& options, const Rung& rung) {
    rungs::LinePlot plot{"Iterations against the condition number",
                         "How many iterations descent needs as the condition number grows",
                         "condition number",
                         "iterations",
                         rungs::Scale::log2,
                         rungs::Scale::log10,
                         {{rung.name, {}, {}}, {"bound", {}, {}}}};
    for (double kappa = 2; kappa <= options.kappa; kappa *= 2) {
        Options one = options;
        one.kappa = kappa;
        one.limit = static_cast<int>(std::log(1 / options.tolerance) * kappa) + 10;
        const Solved solved = Problem(one).solve(rung);
        if (solved.outcome == converged) {
            plot.series[0].x.push_back(kappa);
            plot.series[0].y.push_back(std::max(solved.iterations, 1));
        }
        plot.series[1].x.push_back(kappa);
        plot.series[1].y.push_back(std::ceil(std::log(options.tolerance) / std::log(factor_of(kappa))));
    }
    return plot;
}

}  // namespace gradient_descent
