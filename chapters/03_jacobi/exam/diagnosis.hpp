#pragma once
// Why a field is wrong. A faulty solver rarely returns noise: it returns the field after another number of
// sweeps, of another charge, or one whose faults lie where its tiles meet. This tries which of them fits.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "rungs/compare.hpp"

namespace jacobi {

/// What a solver left, fields without pitch.
struct Outcome {
    std::vector<float> phi;
    float norm = 0;
    int sweeps = 0;
};

/// The likely cause of a wrong outcome.
class Diagnosis {
  public:
    /// All arguments must outlive the diagnosis.
    Diagnosis(const Lattice& lattice, std::span<const float> start, const Reference& expected, double eps)
        : lattice_(lattice),
          start_(start),
          expected_(expected),
          eps_(eps),
          tolerance_(rounding_bound(lattice, expected.largest, done())) {}

    double tolerance() const { return tolerance_; }  ///< of a site

    /// Whether `norm` is that of the last sweep but for rounding.
    bool is_norm(float norm) const { return is_norm(norm, done()); }

    /// What `got` looks like; empty when it looks like nothing known. The order is from certain to likely.
    std::string of(const Outcome& got) const {
        if (std::string cause = of_boundary(got); !cause.empty()) return cause;
        if (is(got.phi, expected_.phi)) return of_numbers(got);
        if (std::string cause = of_not_finite(got); !cause.empty()) return cause;
        if (std::string cause = of_other_sweep(got); !cause.empty()) return cause;
        if (std::string cause = of_other_charge(got); !cause.empty()) return cause;
        if (std::string cause = of_other_stencil(got); !cause.empty()) return cause;
        if (std::string cause = of_place(got); !cause.empty()) return cause;
        return of_precision(got);
    }

  private:
    int done() const { return static_cast<int>(expected_.norms.size()); }
    static std::string text(long long number) { return std::to_string(number); }
    static std::string sweeps(long long count) { return text(count) + (count == 1 ? " sweep" : " sweeps"); }

    bool is_norm(double norm, int sweep) const {
        const double right = sweep > 0 ? expected_.norms[static_cast<std::size_t>(sweep - 1)] : 0;
        if (std::isnan(right)) return std::isnan(norm);
        return std::abs(norm - right) <= norm_bound(lattice_, expected_.largest, right);
    }

    bool near(double got, double right) const {
        return std::isnan(right) ? std::isnan(got) : std::abs(got - right) <= tolerance_;
    }
    bool is(std::span<const float> got, std::span<const double> field) const {
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (!near(got[i], field[i])) return false;
        }
        return true;
    }
    /// As is(), where the field explains something: it differs from the right one by more than rounding.
    bool is_instead(std::span<const float> got, std::span<const double> field) const {
        bool differs = false;
        for (std::size_t i = 0; i < field.size() && !differs; ++i) {
            differs = std::abs(field[i] - expected_.phi[i]) > 3 * tolerance_;
        }
        return differs && is(got, field);
    }

    bool fixed(std::size_t i) const {
        const auto width = static_cast<std::size_t>(lattice_.nx);
        return lattice_.fixed(static_cast<int>(i % width), static_cast<int>(i / width));
    }

    std::string of_boundary(const Outcome& got) const {
        std::size_t wrong = 0, fixed_sites = 0, unset = 0;
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            if (!fixed(i)) continue;
            ++fixed_sites;
            wrong += !near(got.phi[i], start_[i]);
            unset += std::isnan(got.phi[i]) && !std::isnan(start_[i]);
        }
        if (wrong == 0) return {};
        if (unset == wrong) {
            return text(static_cast<long long>(wrong)) + " of " + text(static_cast<long long>(fixed_sites)) +
                   " boundary sites are NaN, as the grader left them: the first sweep into a buffer has to "
                   "bring the boundary there, too, also when no sweep is asked for";
        }
        return text(static_cast<long long>(wrong)) + " of " + text(static_cast<long long>(fixed_sites)) +
               " boundary sites have changed: a sweep leaves x = 0, x = nx - 1, y = 0 and y = ny - 1 as they "
               "are";
    }

    /// The field is right: the norm or the number of sweeps is not.
    std::string of_numbers(const Outcome& got) const {
        if (got.sweeps != done()) {
            return "phi is right, but sweeps says " + text(got.sweeps) + " where " + text(done()) +
                   " were done";
        }
        const double right = done() > 0 ? expected_.norms.back() : 0;
        const auto is_value = [&](double value) {
            return std::abs(got.norm - value) <= norm_bound(lattice_, expected_.largest, right) * (1 + value);
        };
        if (std::isnan(got.norm)) {
            return "phi is right and norm is NaN: was it never written, or does the sum take in what stands "
                   "behind the last site of a row?";
        }
        if (is_value(right * right)) return "phi is right; norm is the sum of squares: its root is missing";
        if (done() > 1 && is_norm(got.norm, done() - 1))
            return "phi is right; norm is that of the sweep before";
        if (got.norm == 0) return "phi is right and norm is 0: is anything added to the sum?";
        if (is_value(2 * right))
            return "phi is right; norm is 4 times the residual over 2: which is asked for?";
        if (is_value(4 * right)) return "phi is right; norm is that of the residual, 4 times the update's";
        if (got.norm > right) {
            return "phi is right and norm is too large: are sites counted twice where tiles overlap, or is "
                   "the sum of the sweep before not cleared?";
        }
        return "phi is right and norm is too small: does every warp and every block add its part?";
    }

    std::string of_not_finite(const Outcome& got) const {
        std::size_t bad = 0, inner = 0, first = 0;
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            inner += !fixed(i);
            if (std::isfinite(got.phi[i]) || !std::isfinite(expected_.phi[i])) continue;
            if (bad++ == 0) first = i;
        }
        if (bad == 0) return {};
        if (bad == inner)
            return "no inner site was written: did the kernel run, and does its result end in phi?";
        const auto width = static_cast<std::size_t>(lattice_.nx);
        return text(static_cast<long long>(bad)) + " inner sites are not finite, the first at x = " +
               text(static_cast<long long>(first % width)) +
               ", y = " + text(static_cast<long long>(first / width)) +
               ": either they were never written, or something was read that is no site (behind the end of a "
               "row stands NaN), or memory that was never set";
    }

    std::string of_other_sweep(const Outcome& got) const {
        std::vector<double> field(start_.begin(), start_.end());
        if (done() > 0 && is_instead(got.phi, field)) {
            return "phi is still the start: no sweep arrived there. After an odd and an even number of "
                   "sweeps the result stands in different buffers";
        }
        // One sweep after the other, up to some beyond the last.
        std::vector<float> none;
        Reference at = reference_solve(start_, lattice_, 0, -1);
        for (int sweep = 1; sweep <= done() + 40; ++sweep) {
            step(at.phi);
            if (sweep == done() || !is_instead(got.phi, at.phi)) continue;
            if (sweep < done()) {
                return "phi is the field after " + sweeps(sweep) + ", not after " + text(done()) +
                       (eps_ >= 0 ? ": the iteration stopped too early"
                                  : ": were the last ones left out, or is the result in the other buffer?");
            }
            return "phi is the field after " + sweeps(sweep) + ", not after " + text(done()) +
                   (eps_ >= 0 ? ": the iteration went on when the norm was small already. Look at every "
                                "sweep's norm, or go back and repeat the last ones one by one"
                              : ": one buffer or one loop too many");
        }
        return {};
    }

    /// One sweep in double, where the boundary stays.
    void step(std::vector<double>& field, const Lattice& lattice, double weight = 0.25) const {
        const std::vector<double> old = field;
        const auto width = static_cast<std::size_t>(lattice.nx);
        for (std::size_t i = 0; i < field.size(); ++i) {
            if (fixed(i)) continue;
            const int x = static_cast<int>(i % width), y = static_cast<int>(i / width);
            field[i] =
                weight * (old[i - width] + old[i - 1] + old[i + 1] + old[i + width] - lattice.charge(x, y));
        }
    }
    void step(std::vector<double>& field) const { step(field, lattice_); }

    std::string of_other_charge(const Outcome& got) const {
        if (lattice_.q == 0) return {};
        const std::pair<float, const char*> charges[] = {
            {0, "this is the field without the charge: is it added where x = x0 and y = y0?"},
            {-1, "the charge has the wrong sign: the sum of the neighbours minus q, divided by 4"},
            {4, "the charge counts 4 times: it is divided by 4 with the neighbours"},
            {0.25f, "the charge counts a quarter: it is divided by 4 once, with the neighbours"}};
        for (const auto& [factor, cause] : charges) {
            Lattice other = lattice_;
            other.q *= factor;
            if (is_instead(got.phi, after(other))) return cause;
        }
        Lattice other = lattice_;
        std::swap(other.x0, other.y0);
        if (is_instead(got.phi, after(other))) return "the charge sits at (y0, x0) instead of (x0, y0)";
        return {};
    }

    std::vector<double> after(const Lattice& other) const {
        std::vector<double> field(start_.begin(), start_.end());
        for (int sweep = 0; sweep < done(); ++sweep) step(field, other);
        return field;
    }

    /// Sweeps in place, in the order of the index: every sum takes in values that are new already.
    std::string of_other_stencil(const Outcome& got) const {
        const auto width = static_cast<std::size_t>(lattice_.nx);
        std::vector<double> field(start_.begin(), start_.end());
        for (int sweep = 0; sweep < done(); ++sweep) {
            for (std::size_t i = 0; i < field.size(); ++i) {
                if (fixed(i)) continue;
                const int x = static_cast<int>(i % width), y = static_cast<int>(i / width);
                field[i] = 0.25 * (field[i - width] + field[i - 1] + field[i + 1] + field[i + width] -
                                   lattice_.charge(x, y));
            }
        }
        if (is_instead(got.phi, field)) {
            return "this is Gauss-Seidel: a sweep reads values that it has written itself. Read from one "
                   "buffer, write to the other";
        }
        return {};
    }

    /// Where the wrong sites lie.
    std::string of_place(const Outcome& got) const {
        const auto width = static_cast<std::size_t>(lattice_.nx);
        std::vector<std::size_t> wrong;
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            if (!near(got.phi[i], expected_.phi[i])) wrong.push_back(i);
        }
        if (wrong.empty()) return {};
        const auto all = [&](auto&& holds) { return std::all_of(wrong.begin(), wrong.end(), holds); };
        // After k sweeps a fault has spread k sites: the seams of tiles are as wide.
        const auto reach = static_cast<std::size_t>(done());
        for (const std::size_t tile : {std::size_t{128}, std::size_t{96}, std::size_t{64}, std::size_t{32},
                                       std::size_t{16}, std::size_t{8}}) {
            if (2 * reach >= tile / 2) continue;
            const auto seam = [&](std::size_t i) {
                return i >= tile / 2 && (i % tile < reach || i % tile + reach >= tile);
            };
            const bool by_column = tile < width && all([&](std::size_t i) { return seam(i % width); });
            const bool by_row =
                tile < got.phi.size() / width && all([&](std::size_t i) { return seam(i / width); });
            const bool both = all([&](std::size_t i) { return seam(i % width) || seam(i / width); });
            if (!by_column && !by_row && !(both && wrong.size() >= 16)) continue;
            return std::string("only ") +
                   (by_column ? "columns"
                    : by_row  ? "rows"
                              : "sites") +
                   " beside multiples of " + text(static_cast<long long>(tile)) +
                   " are wrong: that is where warps or tiles meet. Is the halo loaded, and is there a "
                   "barrier before it is read?";
        }
        // The last column or row of tiles, from where on everything is wrong.
        const std::size_t x =
            *std::min_element(wrong.begin(), wrong.end(),
                              [&](std::size_t a, std::size_t b) { return a % width < b % width; }) %
            width;
        const std::size_t y = wrong.front() / width;
        if (x > reach + 1 && 2 * wrong.size() > (width - x - 1) * (got.phi.size() / width - 2)) {
            return "all columns from x = " + text(static_cast<long long>(x)) +
                   " on are wrong: is the number of blocks rounded up, and is the last tile swept?";
        }
        if (y > reach + 1 && 2 * wrong.size() > (got.phi.size() / width - y - 1) * (width - 2)) {
            return "all rows from y = " + text(static_cast<long long>(y)) +
                   " on are wrong: is the number of blocks rounded up, and is the last tile swept?";
        }
        return {};
    }

    /// Right, but with too few digits; or a principle that no right answer breaks.
    std::string of_precision(const Outcome& got) const {
        double worst = 0, low = 0, high = 0;
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            worst = std::max(worst, std::abs(got.phi[i] - expected_.phi[i]));
            low = std::min(low, static_cast<double>(start_[i])),
            high = std::max(high, static_cast<double>(start_[i]));
        }
        if (worst <= expected_.largest / 100) {
            return "every site is nearly right, but less exact than float explains: a shorter type on the "
                   "way?";
        }
        if (lattice_.q == 0) {
            for (const float value : got.phi) {
                if (value < low || value > high) {
                    return "a site has left the range of the start: a mean of four values cannot. Are the "
                           "weights 1/4 each, and are all four of them sites?";
                }
            }
        }
        return {};
    }

    const Lattice& lattice_;
    std::span<const float> start_;
    const Reference& expected_;
    double eps_;
    double tolerance_;
};

}  // namespace jacobi
