#pragma once
// How a solve in double may use one in float, with every product counted: defect correction, and conjugate
// gradients that are preconditioned by it, with the beta of the textbook or the flexible one.

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "exam/reference.hpp"

namespace pcg {

/// What becomes of e, where A e is about r.
enum class Inside {
    correction,  ///< x takes it
    textbook,    ///< a direction is made of it, with beta = new r.z / old r.z, as for a fixed matrix M
    flexible,    ///< the same with beta = z.(r - old r) / old r.z (Polak and Ribiere), as M changes with r
};

/// Solves A e = r in float, roughly, for ||r|| = 1; `norm` is what r was before. @returns its products with A
using InnerSolve = std::function<int(const std::vector<float>& r, double norm, std::vector<float>& e)>;

/// What a solve went through: ||b - A x|| / ||b|| against products with A, all inner ones counted.
struct Course {
    std::vector<double> products{0}, residuals{1};
    Field x;
};

/// Conjugate gradients in float on the host: an InnerSolve that keeps its direction, or does not.
class HostInside {
  public:
    HostInside(const Grid& grid, double gain, bool keeps, int most)
        : grid_(grid), gain_(gain), keeps_(keeps), most_(most), r_(grid.points()), p_(grid.points(), 0.0f) {}

    int operator()(const std::vector<float>& right, double norm, std::vector<float>& e) {
        // p - r is beta times the direction before: it stays, in units of the new norm.
        const float units = keeps_ && norm_ > 0 ? static_cast<float>(norm_ / norm) : 0.0f;
        norm_ = norm;
        double rr = 0;
        for (std::size_t i = 0; i < right.size(); ++i) {
            p_[i] = right[i] + units * (p_[i] - r_[i]);
            r_[i] = right[i], e[i] = 0;
            rr += static_cast<double>(right[i]) * right[i];
        }
        int products = 0;
        for (const double enough = gain_ * gain_ * rr; rr > enough && products < most_; ++products) {
            const Field w = laplace(grid_, Field(p_.begin(), p_.end()));
            double pw = 0, next = 0;
            for (std::size_t i = 0; i < w.size(); ++i)
                pw += p_[i] * static_cast<double>(static_cast<float>(w[i]));
            const auto alpha = static_cast<float>(rr / pw);
            for (std::size_t i = 0; i < w.size(); ++i) {
                e[i] += alpha * p_[i], r_[i] -= alpha * static_cast<float>(w[i]);
                next += static_cast<double>(r_[i]) * r_[i];
            }
            for (std::size_t i = 0; i < w.size(); ++i) p_[i] = r_[i] + static_cast<float>(next / rr) * p_[i];
            rr = next;
        }
        return products;
    }

  private:
    Grid grid_;
    double gain_;
    bool keeps_;
    int most_;
    double norm_ = 0;
    std::vector<float> r_, p_;
};

/// Solves A x = b in double, from x = 0.
/// @param most  products with A
inline Course solve_around(const Grid& grid, const Field& b, Inside way, const InnerSolve& inner,
                           double tolerance, int most) {
    const std::size_t n = b.size();
    const double whole = std::sqrt(dot(b, b));
    Course course;
    course.x.assign(n, 0.0);
    Field r = b, old(n, 0.0), p(n, 0.0), z(n);
    std::vector<float> scaled(n), e(n);
    double before = 0, products = 0;
    for (int k = 0; course.residuals.back() > tolerance && products < most; ++k) {
        const double norm = std::sqrt(dot(r, r));
        for (std::size_t i = 0; i < n; ++i) scaled[i] = static_cast<float>(r[i] / norm);
        products += inner(scaled, norm, e);
        for (std::size_t i = 0; i < n; ++i) z[i] = norm * e[i];
        if (way == Inside::correction) {
            for (std::size_t i = 0; i < n; ++i) course.x[i] += z[i];
            const Field ax = laplace(grid, course.x);
            for (std::size_t i = 0; i < n; ++i) r[i] = b[i] - ax[i];
        } else {
            const double rz = dot(r, z), change = rz - dot(old, z);
            const double beta = k == 0 ? 0 : (way == Inside::flexible ? change : rz) / before;
            for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
            const Field w = laplace(grid, p);
            const double alpha = dot(r, p) / dot(p, w);
            old = r, before = rz;
            for (std::size_t i = 0; i < n; ++i) course.x[i] += alpha * p[i], r[i] -= alpha * w[i];
        }
        course.products.push_back(++products);
        course.residuals.push_back(std::sqrt(dot(r, r)) / whole);
    }
    return course;
}

}  // namespace pcg
