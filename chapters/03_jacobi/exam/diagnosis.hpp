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
#include "rungs/diagnosis.hpp"

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

    double tolerance() const { return tolerance_; }  ///< of a point

    /// Whether `norm` is that of the last sweep, except for rounding.
    bool is_norm(float norm) const { return is_norm(norm, done()); }

    /// What `got` looks like; empty when it looks like nothing known. The order is from certain to likely.
    std::string of(const Outcome& got) const {
        if (std::string cause = of_boundary(got); !cause.empty()) return cause;
        if (std::string cause = of_range(got); !cause.empty()) return cause;
        if (is(got.phi, expected_.phi)) return of_numbers(got);
        if (std::string cause = of_quads(got); !cause.empty()) return cause;
        if (std::string cause = of_not_finite(got); !cause.empty()) return cause;
        if (std::string cause = of_other_sweep(got); !cause.empty()) return cause;
        if (std::string cause = of_zeros(got); !cause.empty()) return cause;
        if (std::string cause = of_other_charge(got); !cause.empty()) return cause;
        if (std::string cause = of_order(got); !cause.empty()) return cause;
        if (std::string cause = of_other_neighbour(got); !cause.empty()) return cause;
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
    /// As is(), where the field explains something.
    bool is_instead(std::span<const float> got, std::span<const double> field) const {
        double off = 0, wrong = 0;
        for (std::size_t i = 0; i < field.size(); ++i) {
            if (!near(got[i], field[i])) return false;
            if (std::isnan(got[i])) continue;
            off = std::max(off, std::abs(got[i] - field[i]));
            wrong = std::max(wrong, std::abs(got[i] - expected_.phi[i]));
        }
        return rungs::explains(off, wrong, tolerance_);
    }

    bool fixed(std::size_t i) const {
        const auto width = static_cast<std::size_t>(lattice_.nx);
        return lattice_.fixed(static_cast<int>(i % width), static_cast<int>(i / width));
    }

    std::string of_boundary(const Outcome& got) const {
        std::size_t wrong = 0, fixed_sites = 0, unset = 0, first = 0, right_behind = 0;
        bool zero = true;
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            if (!fixed(i)) continue;
            ++fixed_sites;
            if (!near(got.phi[i], start_[i])) {
                if (wrong++ == 0) first = i;
                zero = zero && got.phi[i] == 0;
            } else if (wrong > 0 && start_[i] != 0) {
                ++right_behind;
            }
            unset += std::isnan(got.phi[i]) && !std::isnan(start_[i]);
        }
        if (wrong == 0) return {};
        if (unset == wrong) {
            return text(static_cast<long long>(wrong)) + " of " + text(static_cast<long long>(fixed_sites)) +
                   " boundary points are NaN, as the grader left them: the first sweep into a buffer has to "
                   "bring the boundary there, too, also when no sweep is asked for";
        }
        if (zero && first > 0 && right_behind == 0) {
            return "from y = " + text(static_cast<long long>(first) / lattice_.nx) +
                   " on the boundary is 0, and before it is right: the field ends too early for what reads "
                   "it. A texture gives 0 behind its end, and its size is in bytes";
        }
        if (is_small() && is_instead(got.phi, after_exchanging())) {
            return "this is the field where a texture of ny columns and nx rows was read, clamped at x = ny "
                   "- 1 or y = nx - 1: its width and height are exchanged";
        }
        const std::string changed = text(static_cast<long long>(wrong)) + " of " +
                                    text(static_cast<long long>(fixed_sites)) +
                                    " boundary points have changed: a sweep leaves x = 0, x = nx - 1, y = 0 "
                                    "and y = ny - 1 as they are";
        if (2 * wrong <= fixed_sites) return changed;
        if (is_right_inside(got))
            return changed + ". What is farther inside is right: are they swept like the others?";
        if (is_small() && is_instead(got.phi, after_filtering())) {
            return "this is the field where each value read is the mean of four: a linear filter at the "
                   "corners of texels, whose centres are at x + 0.5f and y + 0.5f";
        }
        return changed +
               ". So many are wrong that points seem to be read from another place: are x and y "
               "exchanged, or is a tile shifted?";
    }

    /// The field where sweeps read through a texture whose width and height are exchanged.
    std::vector<double> after_exchanging() const {
        std::vector<double> field(start_.begin(), start_.end());
        for (int sweep = 0; sweep < done(); ++sweep) {
            const std::vector<double> old = field;
            const auto read = [&](int x, int y) {
                return at(old, std::clamp(x, 0, lattice_.ny - 1), std::clamp(y, 0, lattice_.nx - 1));
            };
            for (std::size_t i = 0; i < field.size(); ++i) {
                const int x = static_cast<int>(i) % lattice_.nx, y = static_cast<int>(i) / lattice_.nx;
                field[i] = fixed(i) ? read(x, y)
                                    : (read(x, y - 1) + read(x - 1, y) + read(x + 1, y) + read(x, y + 1) -
                                       lattice_.charge(x, y)) /
                                          4;
            }
        }
        return field;
    }

    /// The field where a texture with a linear filter is read at (x, y), the corner of four texels.
    std::vector<double> after_filtering() const {
        std::vector<double> field(start_.begin(), start_.end());
        for (int sweep = 0; sweep < done(); ++sweep) {
            const std::vector<double> old = field;
            const auto read = [&](int x, int y) {
                double sum = 0;
                for (const int column : {x - 1, x}) {
                    for (const int row : {y - 1, y})
                        sum += at(old, std::clamp(column, 0, lattice_.nx - 1),
                                  std::clamp(row, 0, lattice_.ny - 1));
                }
                return sum / 4;
            };
            for (std::size_t i = 0; i < field.size(); ++i) {
                const int x = static_cast<int>(i) % lattice_.nx, y = static_cast<int>(i) / lattice_.nx;
                field[i] = fixed(i) ? read(x, y)
                                    : (read(x, y - 1) + read(x - 1, y) + read(x + 1, y) + read(x, y + 1) -
                                       lattice_.charge(x, y)) /
                                          4;
            }
        }
        return field;
    }

    /// Whether there are points so far from the boundary that a fault there has not reached them, and
    /// they are all right.
    bool is_right_inside(const Outcome& got) const {
        const auto width = static_cast<std::size_t>(lattice_.nx), far = static_cast<std::size_t>(done()) + 1;
        const std::size_t height = got.phi.size() / width;
        bool any = false;
        for (std::size_t y = far; y + far < height; ++y) {
            for (std::size_t x = far; x + far < width; ++x) {
                const std::size_t i = x + width * y;
                if (!near(got.phi[i], expected_.phi[i])) return false;
                any = true;
            }
        }
        return any;
    }

    /// The field is right: the norm or the number of sweeps is not.
    /// A norm that is lost at an end of the range that the contract promises. Where an iteration is to stop,
    /// it then stops at the wrong sweep.
    std::string of_range(const Outcome& got) const {
        if (got.norm == 0 && done() > 0 && expected_.norms.back() > 0 && expected_.largest < 0x1p-40)
            return "norm is 0, where all values are below 2^-40: is a small update taken for zero? The "
                   "contract says below which size a value may be ignored";
        if (std::isinf(got.norm) && expected_.largest > 0x1p40)
            return "norm is infinite, where values reach 2^49: something is squared that is beyond 2^64, "
                   "where a float cannot hold the square. Is it scaled before it is squared?";
        return {};
    }

    std::string of_numbers(const Outcome& got) const {
        const double right = done() > 0 ? expected_.norms.back() : 0;
        if (std::isnan(got.norm) && !std::isnan(right) && boundary_is_nan()) {
            return "phi is right and norm is NaN, as a boundary point is: NaN - NaN is NaN. Leave points "
                   "that keep their value out of the sum";
        }
        if (got.sweeps != done()) {
            return "phi is right, but sweeps says " + text(got.sweeps) + " where " + text(done()) +
                   " were done";
        }
        // A candidate is known as well as `right`, of which it is a multiple or the square.
        const auto is_value = [&](double value) {
            const double doubt = norm_bound(lattice_, expected_.largest, right);
            return std::abs(got.norm - value) <= doubt * (1 + (right > 0 ? 2 * value / right : 0));
        };
        if (std::isnan(got.norm)) {
            return "phi is right and norm is NaN: was it never written, or does the sum take in what lies "
                   "after the last point of a row?";
        }
        if (got.norm == 0)
            return "phi is right and norm is 0: is anything added to the sum, and by each sweep or "
                   "pass to its own?";
        if (is_value(right * right)) return "phi is right; norm is the sum of squares: its root is missing";
        if (done() > 1 && is_norm(got.norm, done() - 1))
            return "phi is right; norm is that of the sweep before";
        if (is_value(2 * right))
            return "phi is right; norm is 4 times the residual over 2: which is asked for?";
        if (is_value(4 * right)) return "phi is right; norm is that of the residual, 4 times the update's";
        for (const int threads : {32, 64, 128, 256, 512, 1024}) {
            if (is_value(std::sqrt(threads) * right)) {
                return "phi is right; the sum of squares is " + text(threads) +
                       " times too large: does one thread of a block add its sum, or every thread?";
            }
        }
        if (std::string cause = of_lanes(got, right); !cause.empty()) return cause;
        double values = 0;
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            if (!fixed(i)) values += expected_.phi[i] * expected_.phi[i];
        }
        if (is_value(std::sqrt(values)))
            return "phi is right; norm is that of the values, not of their updates, new - old";
        if (std::string cause = of_several_sweeps(got); !cause.empty()) return cause;
        if (got.norm > right) {
            return "phi is right and norm is too large: are points counted twice where tiles overlap, or is "
                   "the sum of the sweep before not cleared?";
        }
        return "phi is right and norm is too small: does every warp and every block add its part?";
    }

    bool boundary_is_nan() const {
        for (std::size_t i = 0; i < start_.size(); ++i) {
            if (fixed(i) && std::isnan(start_[i])) return true;
        }
        return false;
    }

    /// The norm of a pass in place of its last sweep's.
    std::string of_several_sweeps(const Outcome& got) const {
        if (done() < 2 || !is_small()) return {};
        const double allowed = norm_bound(lattice_, expected_.largest, expected_.norms.front());
        double squares = std::pow(expected_.norms.back(), 2);
        for (int pass = 2; pass <= std::min(done(), 16); ++pass) {
            squares += std::pow(expected_.norms[static_cast<std::size_t>(done() - pass)], 2);
            const std::string last = "the last " + sweeps(pass);
            if (std::abs(got.norm - std::sqrt(squares)) <= allowed) {
                return "phi is right; norm has the squares of " + last + ": only the very last one's count";
            }
            const std::vector<double> before = reference_solve(start_, lattice_, done() - pass, -1).phi;
            double difference = 0;
            for (std::size_t i = 0; i < before.size(); ++i) {
                if (!fixed(i)) difference += std::pow(expected_.phi[i] - before[i], 2);
            }
            if (std::abs(got.norm - std::sqrt(difference)) <= allowed) {
                return "phi is right; norm is that of " + last +
                       " together: the old value has to be from before the very last one";
            }
        }
        return {};
    }

    /// The norm of a warp that has lost some of its lanes, where a lane owns four points in a row.
    std::string of_lanes(const Outcome& got, double right) const {
        if (done() == 0) return {};
        const std::vector<double> before =
            reference_solve(start_, lattice_, done() - 1, -1).phi;  // no norm was small until the last
        std::vector<double> squares(32, 0.0);
        for (std::size_t i = 0; i < before.size(); ++i) {
            const double update = fixed(i) ? 0 : expected_.phi[i] - before[i];
            squares[i % static_cast<std::size_t>(lattice_.nx) / 4 % 32] += update * update;
        }
        const auto is_of = [&](std::size_t missing) {  // of the lanes that have none of these bits
            double sum = 0;
            for (std::size_t lane = 0; lane < 32; ++lane) sum += lane & missing ? 0 : squares[lane];
            const double norm = std::sqrt(sum), allowed = norm_bound(lattice_, expected_.largest, right);
            return right - norm > 3 * allowed && std::abs(got.norm - norm) <= allowed;
        };
        if (is_of(31))
            return "phi is right; norm has the squares of each warp's lane 0 alone: are they added up?";
        for (const std::size_t step : {1, 2, 4, 8, 16}) {
            if (!is_of(step)) continue;
            return "phi is right; norm lacks half of each warp's lanes: the shuffle by " +
                   text(static_cast<long long>(step)) + " is missing";
        }
        return {};
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
            return "no inner point was written: did the kernel run, and does its result end in phi?";
        const auto width = static_cast<std::size_t>(lattice_.nx);
        return text(static_cast<long long>(bad)) + " inner points are not finite, the first at x = " +
               text(static_cast<long long>(first % width)) +
               ", y = " + text(static_cast<long long>(first / width)) +
               ": either they were never written, or something was read that is not a point (after the end "
               "of a row is NaN), or memory that was never set";
    }

    std::string of_zeros(const Outcome& got) const {
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            if (!fixed(i) && got.phi[i] != 0) return {};
        }
        return "every inner point is 0: was the sum multiplied by 0? In integers 1 / 4 is 0, so write 0.25f";
    }

    std::string of_other_sweep(const Outcome& got) const {
        std::vector<double> field(start_.begin(), start_.end());
        if (done() > 0 && is_instead(got.phi, field)) {
            return "phi is still the start: no sweep arrived there. After an odd and an even number of "
                   "sweeps the result is in different buffers";
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
        other.q = 0;
        std::vector<double> field(start_.begin(), start_.end());
        for (int sweep = 0; sweep < done(); ++sweep) {
            step(field, sweep % 2 == 0 && sweep + 1 < done() ? other : lattice_);
        }
        if (is_instead(got.phi, field)) {
            return "the charge is missing in the first of every two sweeps: it belongs to each of them";
        }
        other = lattice_;
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
    std::string of_order(const Outcome& got) const {
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

    /// The field where a sweep takes what `taken(old, x, y, side)` says for its four neighbours:
    /// above, left, right, below.
    template <class Taken>
    std::vector<double> after_taking(const Taken& taken) const {
        std::vector<double> field(start_.begin(), start_.end());
        for (int sweep = 0; sweep < done(); ++sweep) {
            const std::vector<double> old = field;
            for (std::size_t i = 0; i < field.size(); ++i) {
                if (fixed(i)) continue;
                const int x = static_cast<int>(i) % lattice_.nx, y = static_cast<int>(i) / lattice_.nx;
                double sum = -lattice_.charge(x, y);
                for (int side = 0; side < 4; ++side) sum += taken(old, x, y, side);
                field[i] = 0.25 * sum;
            }
        }
        return field;
    }
    static constexpr int offset[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
    static constexpr const char* neighbour[4] = {"above, at (x, y - 1)", "on the left, at (x - 1, y)",
                                                 "on the right, at (x + 1, y)", "below, at (x, y + 1)"};
    double at(const std::vector<double>& field, int x, int y) const {
        return field[static_cast<std::size_t>(x) +
                     static_cast<std::size_t>(lattice_.nx) * static_cast<std::size_t>(y)];
    }
    /// Fields that take long say nothing of this.
    bool is_small() const { return static_cast<double>(start_.size()) * done() < 2e6; }

    /// One neighbour stands in for another.
    std::string of_other_neighbour(const Outcome& got) const {
        if (!is_small()) return {};
        constexpr int taken[][2] = {{0, -1},  {-1, 0}, {1, 0},  {0, 1}, {0, 0},
                                    {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
        for (int wrong = 0; wrong < 4; ++wrong) {
            const auto with = [&](const auto& value) {
                return is_instead(got.phi, after_taking([&](const auto& old, int x, int y, int side) {
                                      return side == wrong
                                                 ? value(old, x, y)
                                                 : at(old, x + offset[side][0], y + offset[side][1]);
                                  }));
            };
            const std::string missed = std::string("the neighbour ") + neighbour[wrong] + ", ";
            if (with([](const auto&, int, int) { return 0.0; })) return missed + "is missing from the sum";
            for (int t = 0; t < 9; ++t) {
                if (t == wrong || !with([&](const auto& old, int x, int y) {
                        return at(old, x + taken[t][0], y + taken[t][1]);
                    }))
                    continue;
                return missed + "is not read: in its place " +
                       (t < 4    ? std::string("the one ") + neighbour[t] + ", counts twice"
                        : t == 4 ? std::string("the point itself is")
                                 : "the point at (x " + std::string(taken[t][0] < 0 ? "-" : "+") + " 1, y " +
                                       (taken[t][1] < 0 ? "-" : "+") + " 1) is");
            }
        }
        return {};
    }

    /// Of the four points that are read beside one's own four, the wrong one.
    std::string of_quads(const Outcome& got) const {
        if (!is_small()) return {};
        const int end = (lattice_.nx + 3) / 4 * 4;
        for (const int wrong : {1, 2}) {
            const auto field = after_taking([&](const auto& old, int x, int y, int side) {
                int from = x + offset[side][0];
                if (side == wrong && x % 4 == (side == 1 ? 0 : 3)) from = x + (side == 1 ? -4 : 4);
                if (from >= lattice_.nx || from < 0)  // NaN is between rows; a tile has 0 beyond
                    return from < end && from > 0 ? std::nan("") : 0.0;
                return at(old, from, y + offset[side][1]);
            });
            if (is_instead(got.phi, field)) {
                return std::string(wrong == 1 ? "left of a lane's first point the first of the four before"
                                              : "right of a lane's last point the last of the four behind") +
                       (wrong == 1 ? " is read instead of their last, .w"
                                   : " is read instead of their first, .x");
            }
        }
        return {};
    }

    /// Where the wrong points lie.
    std::string of_place(const Outcome& got) const {
        const auto width = static_cast<std::size_t>(lattice_.nx);
        std::vector<std::size_t> wrong;
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            if (!near(got.phi[i], expected_.phi[i])) wrong.push_back(i);
        }
        if (wrong.empty()) return {};
        const auto all = [&](auto&& holds) { return std::all_of(wrong.begin(), wrong.end(), holds); };
        // After k sweeps a fault has spread k points: the seams of tiles are as wide.
        const auto reach = static_cast<std::size_t>(done());
        for (const std::size_t tile : {std::size_t{128}, std::size_t{96}, std::size_t{64}, std::size_t{32},
                                       std::size_t{16}, std::size_t{12}, std::size_t{8}}) {
            if (2 * reach > tile / 2) continue;
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
                              : "points") +
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
            return "every point is nearly right, but less exact than float explains: a shorter "
                   "type on the way?";
        }
        if (lattice_.q == 0) {
            for (const float value : got.phi) {
                if (value < low || value > high) {
                    return "a point has left the range of the start: a mean of four values cannot. Are the "
                           "weights 1/4 each, and are all four of them points?";
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
