#pragma once
// Why iterates are wrong. Faulty half-sweeps leave other iterates, not noise: those of Jacobi, those with the
// colours exchanged, those of a tile whose rim was taken as zero. This computes what the common faults would
// have left and looks whether the answer is one of those.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "exam/reference.hpp"

namespace red_black {

/// The likely cause of wrong iterates or norms.
class Diagnosis {
  public:
    Diagnosis(Grid start, Grid b, const Run& run, const History& right, const Tolerance& allowed)
        : start_(std::move(start)), b_(std::move(b)), run_(run), right_(right), allowed_(allowed) {}

    /// What the points `got` look like; empty when they look like nothing known. From certain to likely.
    std::string of_points(const Grid& got) const {
        for (const double value : got) {
            if (!std::isfinite(value)) return of_not_finite(got);
        }
        if (run_.iterations == 0) return "0 iterations still have to copy start to u";
        for (const auto& search : {&Diagnosis::whole, &Diagnosis::one_neighbour, &Diagnosis::precision}) {
            if (std::string cause = (this->*search)(got); !cause.empty()) return cause;
        }
        return {};
    }

    /// What norms look like, where the points are right.
    std::string of_norms(const std::vector<double>& got) const {
        const double n = run_.n;
        const std::vector<double>& right = right_.norms;
        const double first = residual_norm(start_, b_, run_.n);
        const auto is = [&](const auto& candidate) {
            for (std::size_t t = 0; t < got.size(); ++t) {
                if (!(std::abs(got[t] - candidate(t)) <= 2 * allowed_.norms[t] + 1e-3 * candidate(t)))
                    return false;
            }
            return true;
        };
        if (is([&](std::size_t t) { return right[t] * right[t]; }))
            return "these are the squares of the norms";
        if (is([&](std::size_t t) { return t > 0 ? right[t - 1] : first; })) {
            return "each norm is that of the iterate before: what an update finds is the residual before it. "
                   "Which element of norms does it belong to?";
        }
        if (got.size() > 1 && is([&](std::size_t t) { return t > 0 ? right[t - 1] : 0; })) {
            return "each norm is that of the iterate before, and the first is 0";
        }
        // As above, with the pass that finds the last norm adding to what stands there already.
        if (got.size() > 1 && is([&](std::size_t t) {
                const double before = t > 0 ? right[t - 1] : 0;
                return t + 1 < got.size() ? before : std::hypot(before, right[t]);
            })) {
            return "each norm is that of the iterate before, and the last element got two of them: which "
                   "element of norms belongs to the first iteration?";
        }
        if (is([&](std::size_t t) { return t + 1 < got.size() ? right[t] : 0; })) {
            return "the last norm is missing: no further iteration finds it, it takes a pass of its own";
        }
        if (is([&](std::size_t t) { return right[t] / 6; }) ||
            (got.size() > 1 &&
             is([&](std::size_t t) { return t + 1 < got.size() ? right[t] / 6 : right[t]; }))) {
            return "these are the norms of the change: the residual is six times that";
        }
        if (is([&](std::size_t t) { return right[t] / std::pow(n, 1.5); })) {
            return "these are root mean squares: the norm is the root of the sum";
        }
        if (is([&](std::size_t) { return 0; })) return "every norm is 0: nothing was added";
        for (const double times : {2.0, 4.0, 8.0, 32.0, 256.0}) {
            if (is([&](std::size_t t) { return right[t] * std::sqrt(times); })) {
                return "the sum of squares is " + std::to_string(static_cast<int>(times)) +
                       " times too large: are points counted by several threads or blocks?";
            }
        }
        if (run_.method == Method::sor) {
            return "after an over-relaxed update (1 - omega) of a point's residual is left, on black points "
                   "until the next iteration: is that part in the norm?";
        }
        for (std::size_t t = 0; t < got.size(); ++t) {
            if (got[t] == 0 && right[t] > allowed_.norms[t])
                return "norms[" + std::to_string(t) + "] is 0: nothing was added to it";
            if (!(got[t] >= right[t] - allowed_.norms[t])) {
                return "norms[" + std::to_string(t) + "] is too small: points are missing from the sum";
            }
        }
        return "a norm is too large: is it set to 0 before it is added to, is every point counted once, and "
               "nothing outside the cube?";
    }

  private:
    static constexpr double near = 4;  ///< tolerances within which two iterates count as the same

    std::string point_name(std::size_t c) const {
        const auto n = static_cast<std::size_t>(run_.n);
        const std::size_t i = c / n / n, j = c / n % n, k = c % n;
        return "point (" + std::to_string(i) + ", " + std::to_string(j) + ", " + std::to_string(k) + "), " +
               ((i + j + k) % 2 ? "black" : "red");
    }

    std::string of_not_finite(const Grid& got) const {
        const auto at =
            std::find_if(got.begin(), got.end(), [](double value) { return !std::isfinite(value); });
        return point_name(static_cast<std::size_t>(at - got.begin())) +
               ", is NaN or infinite: it was not written, or something outside the cube was read";
    }

    bool is(const Grid& got, const Grid& candidate) const {
        for (std::size_t c = 0; c < got.size(); ++c) {
            if (!(std::abs(got[c] - candidate[c]) <= near * allowed_.point)) return false;
        }
        return true;
    }

    /// The iterate of another run from the same start.
    Grid after(Run run, const Grid& b) const {
        Grid u = start_;
        for (int t = 0; t < run.iterations; ++t) iterate(u, b, run);
        return u;
    }
    Grid after(const Run& run) const { return after(run, b_); }

    double omega() const {
        if (run_.method != Method::sor) return 1;
        return run_.omega == 0 ? best_omega(run_.n) : run_.omega;
    }

    /// Is it another iterate as a whole?
    std::string whole(const Grid& got) const {
        const auto colours = [&](int first, int halves, double omega) {
            Grid u = start_;
            for (int half = 0; half < halves; ++half) half_sweep(u, b_, run_.n, (first + half) % 2, omega);
            return u;
        };
        Run fewer = run_, more = run_, jacobi = run_, plain = run_, once = run_;
        --fewer.iterations, ++more.iterations;
        jacobi.method = Method::jacobi, plain.method = Method::red_black, once.sweeps = 1;
        if (is(got, start_)) return "u is still start: nothing was updated";
        if (is(got, Grid(got.size(), 0.0))) return "u is 0 everywhere: was start used?";
        if (is(got, after(fewer))) return "this is the iterate before: one iteration is missing";
        if (is(got, after(more))) return "this is one iteration too many";
        if (run_.method != Method::jacobi && is(got, after(jacobi))) {
            return "this is Jacobi's iterate: black points must see the new red values, not the old ones";
        }
        if (run_.method == Method::red_black || run_.method == Method::sor) {
            const int halves = 2 * run_.iterations;
            if (is(got, colours(1, halves, omega())))
                return "black was updated before red: red points come first";
            if (is(got, colours(0, halves - 1, omega()))) return "the last black half-sweep is missing";
            if (only(got, 0)) return "only the red points were ever updated";
            if (only(got, 1)) return "only the black points were ever updated";
        }
        if (run_.method == Method::sor && is(got, after(plain))) {
            return "this is Gauss-Seidel's iterate: omega was not used";
        }
        if (run_.method == Method::sor) {
            for (const double wrong : {2 - omega(), best_omega(run_.n), 2 / (1 + jacobi_factor(run_.n))}) {
                Run other = run_;
                other.omega = wrong;
                if (wrong > 0 && is(got, after(other)))
                    return "this is the iterate for omega = " + std::to_string(wrong);
            }
        }
        if (run_.method == Method::block) {
            if (is(got, after(plain)))
                return "this is red-black over the whole cube: other tiles must stay as before";
            if (run_.sweeps > 1 && is(got, after(once))) return "each tile did one sweep instead of `sweeps`";
        }
        Grid none(b_.size(), 0.0), minus = b_, six = b_;
        for (double& value : minus) value = -value;
        for (double& value : six) value *= 6;
        if (is(got, after(run_, none))) return "b was not used";
        if (is(got, after(run_, minus))) return "b has the wrong sign";
        if (is(got, after(run_, six))) return "b was not divided by 6, the neighbours were";
        return {};
    }

    bool only(const Grid& got, int colour) const {
        Grid u = start_;
        for (int t = 0; t < run_.iterations; ++t) half_sweep(u, b_, run_.n, colour, omega());
        return is(got, u);
    }

    /// Which neighbour was read too early, too late or not at all? The first wrong point of the last
    /// iteration is computed again with every choice of values for its six neighbours; the choice with the
    /// fewest faults counts.
    std::string one_neighbour(const Grid& got) const {
        if (run_.method == Method::block || run_.iterations == 0) return {};
        Run fewer = run_;
        --fewer.iterations;
        const Grid before = after(fewer);
        const int n = run_.n;
        const auto size = static_cast<std::size_t>(n);
        std::size_t c = 0;
        while (c < got.size() && std::abs(got[c] - right_.u[c]) <= allowed_.point) ++c;
        if (c == got.size()) return {};
        const int at[3] = {static_cast<int>(c / size / size), static_cast<int>(c / size % size),
                           static_cast<int>(c % size)};
        const bool black = (at[0] + at[1] + at[2]) % 2 && run_.method != Method::jacobi;
        const std::array<std::size_t, 3> stride{size * size, size, 1};
        const char* const names[] = {"i - 1", "i + 1", "j - 1", "j + 1", "k - 1", "k + 1"};
        std::array<std::array<double, 3>, 6> choice{};  // right, from the wrong time, 0
        for (std::size_t side = 0; side < 6; ++side) {
            const int to = at[side / 2] + (side % 2 ? 1 : -1);
            if (to < 0 || to >= n) continue;
            const std::size_t d = side % 2 ? c + stride[side / 2] : c - stride[side / 2];
            choice[side] = {black ? right_.u[d] : before[d], black ? before[d] : right_.u[d], 0};
        }
        int fewest = 7;
        std::string found;
        for (int code = 0; code < 729; ++code) {
            double sum = b_[c];
            int faults = 0, rest = code;
            std::string what;
            for (std::size_t side = 0; side < 6; ++side, rest /= 3) {
                const auto kind = static_cast<std::size_t>(rest % 3);
                sum += choice[side][kind];
                if (kind == 0) continue;
                faults += choice[side][kind] == choice[side][0] ? 7 : 1;  // the same value explains nothing
                what += std::string(what.empty() ? "" : ", ") + names[side] +
                        (kind == 2 ? " as 0"
                         : black   ? " as it was before"
                                   : " already updated");
            }
            const double value = before[c] + omega() * (sum / 6 - before[c]);
            if (faults > 0 && faults < fewest && std::abs(value - got[c]) <= 2 * allowed_.point &&
                std::abs(value - right_.u[c]) > 4 * allowed_.point) {
                fewest = faults;
                found = what;
            }
        }
        return found.empty() ? found : point_name(c) + ", took its neighbour at " + found;
    }

    std::string precision(const Grid& got) const {
        double worst = 0;
        std::size_t wrong = 0, first = got.size();
        for (std::size_t c = got.size(); c-- > 0;) {
            const double error = std::abs(got[c] - right_.u[c]);
            worst = std::max(worst, error);
            if (error > allowed_.point) ++wrong, first = c;
        }
        if (2 * wrong < got.size()) {
            return "most points are right, the first that is wrong is " + point_name(first) +
                   ": do the wrong ones lie along the rim of a tile, or of a chunk of planes?";
        }
        if (worst > 64.0 * run_.iterations * right_.scale / 2048) return {};
        return "close, but less exact than rounding explains: was a shorter type used on the way?";
    }

    Grid start_, b_;
    Run run_;
    const History& right_;
    const Tolerance& allowed_;
};

}  // namespace red_black
