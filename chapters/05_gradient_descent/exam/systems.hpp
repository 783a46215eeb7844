#pragma once
// Systems whose behaviour is known beforehand: the exam's, the program's and the pictures'.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rungs/random.hpp"

namespace gradient_descent {

/// A symmetric matrix with known eigenvalues and eigenvectors, Q diag(lambda) Q for the reflection
/// Q = I - 2 v v^T, |v| = 1: eigenvector i is row i of Q.
class Spectrum {
  public:
    Spectrum(std::size_t n, double kappa, std::uint64_t seed) : lambda_(n), v_(n) {
        for (std::size_t i = 0; i < n; ++i) {
            lambda_[i] = n > 1 ? std::pow(kappa, static_cast<double>(i) / static_cast<double>(n - 1)) : kappa;
        }
        double square = 0;
        const std::vector<float> random = rungs::random_field(n, seed, rungs::signed_uniform);
        for (const float value : random) square += static_cast<double>(value) * value;
        for (std::size_t i = 0; i < n; ++i) v_[i] = square > 0 ? random[i] / std::sqrt(square) : 1;
    }

    void set_smallest(double lambda) { lambda_.front() = lambda; }

    std::vector<float> matrix() const {
        const std::size_t n = v_.size();
        double mean = 0;
        for (std::size_t i = 0; i < n; ++i) mean += lambda_[i] * v_[i] * v_[i];
        std::vector<float> a(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                const double off = v_[i] * v_[j] * (4 * mean - 2 * (lambda_[i] + lambda_[j]));
                a[i * n + j] = a[j * n + i] = static_cast<float>(off + (i == j ? lambda_[i] : 0));
            }
        }
        return a;
    }

    /// scale times eigenvector `which`, added to `to`.
    void add_eigenvector(std::size_t which, double scale, std::vector<float>& to) const {
        for (std::size_t i = 0; i < v_.size(); ++i) {
            const double own = (i == which ? 1 : 0) - 2 * v_[which] * v_[i];
            to[i] = static_cast<float>(to[i] + scale * own);
        }
    }

  private:
    std::vector<double> lambda_, v_;
};

/// Rows whose off-diagonal sum of magnitudes is `radius` times the diagonal. With positive elements that is
/// the spectral radius of Gauss-Jacobi: D^-1 (A - D) has the eigenvector (1, ... 1), and by Perron's theorem
/// no larger eigenvalue. In a row of one or two elements these may nearly vanish; the diagonal does not, or
/// the row's element of x would be so large that its rounding in other rows hides their residuals.
inline std::vector<float> dominated(std::size_t n, std::uint64_t seed, double lowest, double radius,
                                    bool symmetric) {
    std::vector<float> a = rungs::random_field(n * n, seed, rungs::Uniform{lowest, 1.0});
    // By tiles: a column's elements lie in as many cache lines, and each line serves a tile's columns.
    constexpr std::size_t tile = 32;
    for (std::size_t row = 0; symmetric && row < n; row += tile) {
        for (std::size_t column = 0; column <= row; column += tile) {
            for (std::size_t i = row; i < std::min(row + tile, n); ++i) {
                for (std::size_t j = column; j < std::min(column + tile, i); ++j) a[j * n + i] = a[i * n + j];
            }
        }
    }
    constexpr double least = 0.25;
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            if (j != i) sum += std::abs(static_cast<double>(a[i * n + j]));
        }
        a[i * n + i] = sum > 0 ? static_cast<float>(std::max(sum, least) / radius) : 1.0f;
    }
    return a;
}

}  // namespace gradient_descent
