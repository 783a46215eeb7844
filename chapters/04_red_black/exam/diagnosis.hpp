#pragma once
// Why iterates are wrong. Faulty half-sweeps leave other iterates, not noise: those of Jacobi, those with the
// colours exchanged, those of a tile whose halo was taken as zero. This computes what the common faults would
// have left and looks whether the answer is one of those.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "exam/reference.hpp"
#include "red_black.cuh"
#include "rungs/diagnosis.hpp"

namespace red_black {

/// The likely cause of wrong iterates or norms.
class Diagnosis {
  public:
    Diagnosis(Grid start, Grid b, const Run& run, const History& right, const Tolerance& allowed)
        : start_(std::move(start)), b_(std::move(b)), run_(run), right_(right), allowed_(allowed) {}

    /// What the points `got` look like; empty when they look like nothing known. From certain to likely.
    std::string of_points(const Grid& got) const {
        if (std::string cause = of_not_finite(got); !cause.empty()) return cause;
        if (run_.iterations == 0) return "0 iterations still have to copy start to u";
        for (const auto& search :
             {&Diagnosis::whole, &Diagnosis::part, &Diagnosis::one_neighbour, &Diagnosis::precision}) {
            if (std::string cause = (this->*search)(got); !cause.empty()) return cause;
        }
        if (run_.method == Method::sor && run_.omega == 0) {
            return "omega is 0 here, so the best one for this n has to be computed: if cases with an omega "
                   "of their own pass, look at that";
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
        for (std::size_t t = 0; t < got.size(); ++t) {
            if (std::isinf(got[t]) && right_.scale > 0x1p40)
                return "a norm is infinite, where values reach 2^46: something is squared that is beyond "
                       "2^64, where a float cannot hold the square. Is it scaled before it is squared?";
            if (got[t] == 0 && right[t] > allowed_.norms[t] && right_.scale < 0x1p-40)
                return "a norm is 0, where all values are below 2^-40: is a small residual taken for zero? "
                       "The contract says below which size a value may be ignored";
        }
        if (is([&](std::size_t t) { return right[t] * right[t]; }))
            return "these are the squares of the norms";
        if (is([&](std::size_t t) { return t > 0 ? right[t - 1] : first; })) {
            return "each norm is that of the iterate before: what an update finds is the residual before it. "
                   "Which element of norms does it belong to?";
        }
        if (got.size() > 1 && is([&](std::size_t t) { return t > 0 ? right[t - 1] : 0; })) {
            return "each norm is that of the iterate before, and the first is 0";
        }
        // As above, but the pass that finds the last norm adds to the value that is there already.
        if (got.size() > 1 && is([&](std::size_t t) {
                const double before = t > 0 ? right[t - 1] : 0;
                return t + 1 < got.size() ? before : std::hypot(before, right[t]);
            })) {
            return "each norm is that of the iterate before, and the last element got two of them: which "
                   "element of norms belongs to the first iteration?";
        }
        // As above, and the first red half-sweep reports the red part of the start.
        const double red = red_part_of_start();
        if (is([&](std::size_t t) {
                const double before = t > 0 ? right[t - 1] : red;
                return t + 1 < got.size() ? before : std::hypot(before, right[t]);
            })) {
            return "each norm is that of the iterate before: what the red half-sweep finds is the residual "
                   "before it. Which element of norms does it belong to?";
        }
        if (run_.method == Method::red_black) {
            const std::vector<double> black = black_parts();
            const auto next = [&](std::size_t t) { return t + 1 < black.size() ? black[t + 1] : 0; };
            if ((got.size() > 1 && is([&](std::size_t t) { return std::hypot(right[t], next(t)); })) ||
                is([&](std::size_t t) { return std::hypot(right[t], black[t]); })) {
                return "the change of the black points is in the norm too: when black is updated, red has "
                       "moved, so what black finds is not an iterate's residual";
            }
            if (got.size() > 1 &&
                is([&](std::size_t t) { return t + 1 < got.size() ? next(t) : right[t]; })) {
                return "these are the changes of the black points: what an iterate has left is found by the "
                       "red half-sweep after it";
            }
            // Zero exactly is something else: see below.
            const bool some = std::any_of(got.begin(), got.end() - 1, [](double norm) { return norm > 0; });
            if (some && right[0] > 16 * allowed_.norms[0] &&
                is([&](std::size_t t) { return t + 1 < got.size() ? 0 : right[t]; })) {
                return "the norms are nothing but rounding: is the residual computed from the updated "
                       "values? An update leaves none at its own points; the iterate's own is that "
                       "before the update";
            }
            const SplitFault padding{half_row(run_.n), true, false, run_.n};
            if (static_cast<double>(start_.size()) * run_.iterations <= 2e6) {
                const std::vector<double> padded = after_split(padding).second;
                if (is([&](std::size_t t) { return padded[t]; })) {
                    return "elements beyond a row's end were updated: those with k >= n have to stay 0, "
                           "since the pass that finds the norm reads them";
                }
            }
        }
        if (run_.method == Method::block) {
            const std::vector<double> stale = stale_norms();
            if (is([&](std::size_t t) { return stale[t]; })) {
                return "these are the norms where a tile sees its halo as it was before the iteration: the "
                       "residual of an iterate needs the new values of all tiles";
            }
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
            if (std::string cause = other_share(got); !cause.empty()) return cause;
            return "after an over-relaxed update (1 - omega) of a point's residual is left, on black points "
                   "until the next iteration: is that part in the norm?";
        }
        for (std::size_t t = 0; t < got.size(); ++t) {
            if (got[t] == 0 && right[t] > allowed_.norms[t])
                return "norms[" + std::to_string(t) + "] is 0: nothing was added to it" +
                       (run_.method == Method::red_black
                            ? ", or only what is left at points after their update"
                            : "");
            if (!(got[t] >= right[t] - allowed_.norms[t])) {
                return "norms[" + std::to_string(t) + "] is too small: points are missing from the sum";
            }
        }
        return "a norm is too large: is it set to 0 before it is added to, is every point counted once, and "
               "nothing outside the cube?";
    }

  private:
    static constexpr double near = 4;  ///< tolerances within which two iterates count as the same

    /// The norm of what u has left at the points of one colour.
    double part_of(const Grid& u, int colour) const {
        double squares = 0;
        std::size_t c = 0;
        for (int i = 0; i < run_.n; ++i) {
            for (int j = 0; j < run_.n; ++j) {
                for (int k = 0; k < run_.n; ++k, ++c) {
                    const double r = b_[c] - 6 * u[c] + neighbours(u, run_.n, i, j, k);
                    if ((i + j + k) % 2 == colour) squares += r * r;
                }
            }
        }
        return std::sqrt(squares);
    }
    double red_part_of_start() const { return part_of(start_, 0); }

    /// What the black half-sweep of each iteration finds, red having moved.
    std::vector<double> black_parts() const {
        std::vector<double> parts;
        Grid u = start_;
        for (int t = 0; t < run_.iterations; ++t) {
            half_sweep(u, b_, run_.n, 0, omega());
            parts.push_back(part_of(u, 1));
            half_sweep(u, b_, run_.n, 1, omega());
        }
        return parts;
    }

    /// The norms of over-relaxation with another share of what its half-sweeps find.
    std::string other_share(const std::vector<double>& got) const {
        const std::vector<double> black = black_parts();
        const double left = 1 - omega();
        const auto is = [&](double of_red, const auto& of_black) {
            for (std::size_t t = 0; t < got.size(); ++t) {
                const double red = std::pow(right_.norms[t], 2) - std::pow(left * black[t], 2);
                const double times = t + 1 < got.size() ? of_red * of_red : 1;  // the last pass is given
                const double candidate = std::sqrt(std::max(0.0, times * red + of_black(t)));
                if (!(std::abs(got[t] - candidate) <= 2 * allowed_.norms[t] + 1e-3 * candidate)) return false;
            }
            return true;
        };
        const auto share = [&](double times) {
            return [&black, times](std::size_t t) { return std::pow(times * black[t], 2); };
        };
        if (is(1, share(0))) {
            return "the norm after an iteration lacks what its black half-sweep leaves: (1 - omega) of the "
                   "residual found there";
        }
        if (is(1, share(1)) || is(1, share(omega()))) {
            return "too much of the black points is in the norm: of the residual that their update finds, "
                   "(1 - omega) is left";
        }
        if (is(1, [&](std::size_t t) { return left * black[t] * black[t]; })) {
            return "(1 - omega) was not squared with the residual of which it is the share";
        }
        if (is(1, [&](std::size_t t) { return t + 1 < got.size() ? std::pow(left * black[t + 1], 2) : 0; })) {
            return "what a black half-sweep leaves is filed one element early: it belongs to the norm after "
                   "its own iteration";
        }
        if (is(left, share(left))) {
            return "red points are in the norm with a share: what their update finds is all there";
        }
        return {};
    }

    /// The norms of tiles that take their halo as it was before the iteration.
    std::vector<double> stale_norms() const {
        std::vector<double> norms;
        Grid old = start_;
        for (int t = 0; t < run_.iterations; ++t) {
            Run once = run_;
            once.iterations = 1;
            const Grid u = after(once, b_, old);
            double squares = 0;
            std::size_t c = 0;
            for (int i = 0; i < run_.n; ++i) {
                for (int j = 0; j < run_.n; ++j) {
                    for (int k = 0; k < run_.n; ++k, ++c) {
                        double r = b_[c] - 6 * u[c];
                        for (int side = 0; side < 6; ++side)
                            r += beside(within(i, j, k, side) ? u : old, i, j, k, side);
                        squares += r * r;
                    }
                }
            }
            norms.push_back(std::sqrt(squares));
            old = u;
        }
        return norms;
    }

    std::string point_name(std::size_t c) const {
        const auto n = static_cast<std::size_t>(run_.n);
        const std::size_t i = c / n / n, j = c / n % n, k = c % n;
        return "point (" + std::to_string(i) + ", " + std::to_string(j) + ", " + std::to_string(k) + "), " +
               ((i + j + k) % 2 ? "black" : "red");
    }

    std::string of_not_finite(const Grid& got) const {
        bool planted = false;
        for (const double value : right_.u) planted = planted || std::isnan(value);
        for (std::size_t c = 0; c < got.size(); ++c) {
            if (std::isfinite(got[c]) || !std::isfinite(right_.u[c])) continue;
            return point_name(c) +
                   (planted
                        ? ", is NaN, and no update has carried the NaN of b there: is what does not count "
                          "multiplied by 0? A NaN times 0 is NaN: choose 0 instead, or read a 0"
                        : ", is NaN or infinite: it was not written, or something outside the cube was read");
        }
        return {};
    }

    bool is(const Grid& got, const Grid& candidate) const {
        double off = 0, wrong = 0;
        for (std::size_t c = 0; c < got.size(); ++c) {
            off = std::max(off, std::abs(got[c] - candidate[c]));
            wrong = std::max(wrong, std::abs(got[c] - right_.u[c]));
        }
        return rungs::explains(off, wrong, near * allowed_.point);
    }

    /// The iterate of another run from the same start.
    Grid after(Run run, const Grid& b) const { return after(run, b, start_); }
    static Grid after(Run run, const Grid& b, Grid u) {
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
        const Grid zero(got.size(), 0.0);
        if (is(got, zero)) {
            return "u is 0 everywhere: was the update multiplied by 0? In integers 1 / 6 is 0, so write "
                   "T(1.0 / 6.0)";
        }
        if (is(got, after(run_, b_, zero))) return "this is the iterate from 0: was start copied to u?";
        if (is(got, after(fewer))) return "this is the iterate before: one iteration is missing";
        if (is(got, after(more))) return "this is one iteration too many";
        if (run_.method != Method::jacobi && is(got, after(jacobi))) {
            return "this is Jacobi's iterate: black points must see the new red values, not the old ones";
        }
        if (run_.method == Method::red_black || run_.method == Method::sor) {
            const int halves = 2 * run_.iterations;
            if (is(got, colours(1, halves, omega())))
                return "black was updated before red: red points come first";
            if (is(got, colours(0, halves - 1, omega())))
                return "the last black half-sweep is missing, or updated the red points again";
            if (only(got, 0)) return "only the red points were ever updated";
            if (only(got, 1)) return "only the black points were ever updated";
        }
        if (run_.method == Method::sor && is(got, after(plain))) {
            return run_.omega == 0
                       ? "this is Gauss-Seidel's iterate, omega = 1: where omega is 0, the one that "
                         "is best for this n has to be computed"
                       : "this is Gauss-Seidel's iterate: omega was not used";
        }
        if (run_.method == Method::sor) {
            if (std::string cause = other_omega(got); !cause.empty()) return cause;
        }
        if (run_.method == Method::block) {
            if (run_.sweeps > 1 && is(got, after(once))) return "each tile did one sweep instead of `sweeps`";
            if (std::string cause = other_tiles(got); !cause.empty()) return cause;
            if (run_.n > tile_i && is(got, after(plain)))
                return "this is red-black over the whole cube: other tiles must stay as before";
        }
        if (std::string cause = other_arrays(got); !cause.empty()) return cause;
        const auto times = [&](double factor) {
            Grid b = b_;
            for (double& value : b) value *= factor;
            return b;
        };
        const double per_h2 = std::pow(run_.n + 1.0, 2);
        if (is(got, after(run_, zero))) return "b was not used";
        if (is(got, after(run_, times(-1)))) return "b has the wrong sign";
        if (is(got, after(run_, times(6)))) return "b was not divided by 6, the neighbours were";
        if (is(got, after(run_, times(1 / per_h2)))) return "b was multiplied by h^2: it is h^2 f already";
        if (is(got, after(run_, times(per_h2)))) return "b was divided by h^2: it is h^2 f, and A has no h";
        // All neighbours have the other colour: to subtract them turns the signs of the black points alone.
        if (is(got, black_turned(after(run_, black_turned(b_), black_turned(start_)))))
            return "the neighbours have the wrong sign: the new value is (b + sum) / 6";
        return {};
    }

    Grid black_turned(Grid u) const {
        std::size_t c = 0;
        for (int i = 0; i < run_.n; ++i) {
            for (int j = 0; j < run_.n; ++j) {
                for (int k = 0; k < run_.n; ++k, ++c) u[c] = (i + j + k) % 2 ? -u[c] : u[c];
            }
        }
        return u;
    }

    std::string other_omega(const Grid& got) const {
        const double pi = std::acos(-1.0), n = run_.n, rho = jacobi_factor(run_.n);
        const std::pair<double, const char*> omegas[] = {
            {2 - omega(), ""},
            {best_omega(run_.n), ""},
            {2 / (1 + std::sin(pi / n)), ", that of h = 1 / n: with both walls there are n + 1 distances"},
            {2 / (1 + std::sin(pi / (n - 1))),
             ", that of h = 1 / (n - 1): with both walls there are n + 1 distances"},
            {2 / (1 + rho), ", 2 / (1 + rho): the root of 1 - rho^2 is a sine"},
            {2 / (1 + std::sqrt(1 - rho)), ", 2 / (1 + sqrt(1 - rho)): rho is squared in Young's formula"},
            {2 / (1 + std::pow(std::sin(pi / (n + 1)), 2)), ", 2 / (1 + 1 - rho^2): the root is missing"},
            {1 / (1 + std::sin(pi / (n + 1))), ", half of the right one"},
            {6 * omega(), ", six times the right one: a step is omega times a sixth of the residual"}};
        for (const auto& [wrong, why] : omegas) {
            Run other = run_;
            other.omega = wrong;
            if (wrong > 0 && is(got, after(other)))
                return "this is the iterate for omega = " + std::to_string(wrong) + why;
        }
        Grid u = start_;
        for (int half = 0; half < 2 * run_.iterations; ++half) {
            Grid before = u;
            half_sweep(u, b_, run_.n, half % 2, omega());
            for (std::size_t c = 0; c < u.size(); ++c) {
                if (u[c] != before[c]) u[c] -= (1 - omega()) * before[c];
            }
        }
        if (is(got, u)) {
            return "the points are omega times (b + sum) / 6: the step is omega times the change, so (1 - "
                   "omega) times the old value stays";
        }
        return {};
    }

    /// Is it what tiles leave that do another number of half-sweeps, begin with black, take 0 for a part of
    /// their halo, or go on beyond the cube?
    std::string other_tiles(const Grid& got) const {
        if (static_cast<double>(got.size()) * run_.iterations > 2e6) return {};
        if (is(got, after_tiles(run_.sweeps, -1)))
            return "each tile did `sweeps` half-sweeps: a sweep has two";
        if (is(got, after_tiles(2 * run_.sweeps, -1, 1))) {
            return "black was updated before red: red is where i + j + k of the cube is even, and the tile's "
                   "indices are one higher for its halo";
        }
        if (is(got, after_tiles(2 * run_.sweeps, -1, 0, true))) {
            return "points of a tile that lie outside the cube were updated: they have to stay 0, since "
                   "those inside read them";
        }
        if (run_.n <= tile_i) return {};
        for (int side = 0; side < 7; ++side) {
            if (!is(got, after_tiles(2 * run_.sweeps, side))) continue;
            return std::string("the tiles took 0 for the halo ") +
                   (side < 6 ? std::string("at ") + sides[side] : "on all sides") +
                   ": the points there belong to the next tile";
        }
        return {};
    }

    /// Does the neighbour on a side lie in the same tile?
    static bool within(int i, int j, int k, int side) {
        const int at[3] = {i, j, k}, size[3] = {tile_i, tile_j, tile_k};
        const int here = at[side / 2], there = here + (side % 2 ? 1 : -1);
        return there >= 0 && there / size[side / 2] == here / size[side / 2];
    }

    /// The iterate of tiles that do so many half-sweeps, take 0 beyond the side `without` (6: all sides),
    /// update the colour `first` first, or also the points that a tile has beyond the cube.
    Grid after_tiles(int halves, int without, int first = 0, bool beyond = false) const {
        const int n = run_.n, size[3] = {tile_i, tile_j, tile_k};
        int ends[3] = {n, n, n};
        for (int axis = 0; axis < 3 && beyond; ++axis)
            ends[axis] = (n + size[axis] - 1) / size[axis] * size[axis];
        const auto at = [&](int i, int j, int k) {
            return static_cast<std::size_t>((i * ends[1] + j) * ends[2] + k);
        };
        const auto each = [&](const int(&last)[3], const auto& point) {
            for (int i = 0; i < last[0]; ++i) {
                for (int j = 0; j < last[1]; ++j) {
                    for (int k = 0; k < last[2]; ++k) point(i, j, k);
                }
            }
        };
        const int cube[3] = {n, n, n};
        const auto cell = [&](int i, int j, int k) { return static_cast<std::size_t>((i * n + j) * n + k); };
        Grid inside = start_, none(at(ends[0], 0, 0), 0.0), b = none;
        each(cube, [&](int i, int j, int k) { b[at(i, j, k)] = b_[cell(i, j, k)]; });
        for (int t = 0; t < run_.iterations; ++t) {
            Grid u = none;  // what lies beyond the cube is 0 again
            each(cube, [&](int i, int j, int k) { u[at(i, j, k)] = inside[cell(i, j, k)]; });
            const Grid old = u;
            for (int half = 0; half < halves; ++half) {
                each(ends, [&](int i, int j, int k) {
                    if ((i + j + k + first) % 2 != half % 2) return;
                    double sum = b[at(i, j, k)];
                    for (int side = 0; side < 6; ++side) {
                        int to[3] = {i, j, k};
                        to[side / 2] += side % 2 ? 1 : -1;
                        const bool mine = within(i, j, k, side);
                        if (to[side / 2] < 0 || to[side / 2] >= ends[side / 2]) continue;
                        if (!mine && (without == side || without == 6)) continue;
                        sum += (mine ? u : old)[at(to[0], to[1], to[2])];
                    }
                    u[at(i, j, k)] = sum / 6;
                });
            }
            each(cube, [&](int i, int j, int k) { inside[cell(i, j, k)] = u[at(i, j, k)]; });
        }
        return inside;
    }

    /// A fault in how a kernel goes about the arrays of split.cuh.
    struct SplitFault {
        std::size_t row;       ///< elements from one row to the next
        bool beyond = false;   ///< elements with k >= n are updated too
        bool before = false;   ///< k = 0 reads the element before its row
        int end = 0;           ///< from which k on neighbours are taken as 0
        bool other_b = false;  ///< b of the other colour
        bool own = false;      ///< neighbours of the point's own colour
        int twice = 0;  ///< along k, 1 takes the later of the two elements for both, -1 the earlier one
    };

    /// Is it what one of these faults leaves?
    std::string other_arrays(const Grid& got) const {
        const double points = static_cast<double>(got.size());
        const bool coloured = run_.method == Method::red_black || run_.method == Method::sor;
        if (!coloured || points * run_.iterations > 2e6) return {};
        const int n = run_.n, columns = static_cast<int>(2 * half_row(n)), never = columns + 2;
        const std::size_t row = half_row(n), size = static_cast<std::size_t>(n), half = size / 2;
        const auto once = [](const std::string& missed, const std::string& taken,
                             const std::string& element) {
            return "the neighbour at " + missed + " is not read: in its place the one at " + taken +
                   " counts twice. In arrays of one colour, one element for both neighbours along k: they "
                   "are m - 1 + parity and m + parity, not twice " +
                   element;
        };
        const char* const rows = "rows of one colour lie half_row(n) elements apart, here ";
        const std::pair<SplitFault, std::string> faults[] = {
            {{row, true, false, columns},
             "elements beyond a row's end were updated: those with k >= n have to stay 0, since the last "
             "points of the row read them"},
            {{row, false, false, never},
             "k = n - 1 read its neighbour at k + 1 from the next row: outside is 0"},
            {{row, false, true, n}, "k = 0 read its neighbour at k - 1 from the row before: outside is 0"},
            {{row, false, true, never},
             "the ends of a row read their neighbours along k from other rows: "
             "outside is 0"},
            {{row, false, false, n, true}, "b was read from the other colour's array"},
            {{row, false, false, n, false, true},
             "neighbours were read from a point's own colour: all six of them have the other one"},
            {{row, false, false, n, false, false, 1}, once("k - 1", "k + 1", "m + parity")},
            {{row, false, false, n, false, false, -1}, once("k + 1", "k - 1", "m - 1 + parity")},
            {{half, false, false, n}, rows + std::to_string(row) + ", not " + std::to_string(half)},
            {{size - half, false, false, n},
             rows + std::to_string(row) + ", not " + std::to_string(size - half)}};
        for (const auto& [fault, cause] : faults) {
            for (const bool in_order : {false, true}) {
                if (is(got, after_split(fault, in_order).first)) return cause;
            }
        }
        return {};
    }

    /// What a kernel with a fault leaves in u and as norms. Where threads read what others write, they come
    /// in the order of i, j, k, or all read first.
    std::pair<Grid, std::vector<double>> after_split(const SplitFault& fault, bool in_order = false) const {
        const int n = run_.n, row = static_cast<int>(half_row(n));
        const std::size_t size = work_size(n) / 4;
        Grid seen, all(4 * size, 0.0);  // as class Split has them: u red, u black, b red, b black
        const auto each = [&](int colour, std::size_t apart, const auto& element) {
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    for (int m = 0; m < row; ++m) {
                        const std::size_t c =
                            static_cast<std::size_t>(i * n + j) * apart + static_cast<std::size_t>(m);
                        element(i, j, 2 * m + (i + j + colour) % 2, c);
                    }
                }
            }
        };
        const auto cell = [&](int i, int j, int k) { return static_cast<std::size_t>((i * n + j) * n + k); };
        const auto at = [&](std::size_t element) {
            const Grid& from = in_order ? all : seen;
            return element < from.size() ? from[element] : 0.0;
        };
        const auto sum = [&](int colour, int i, int j, int k, std::size_t c, const SplitFault& how) {
            const std::size_t other = static_cast<std::size_t>(how.own ? colour : 1 - colour) * size + c;
            const std::size_t plane = how.row * n;
            const std::size_t after = other + static_cast<std::size_t>((i + j + colour) % 2);
            return (i > 0 ? at(other - plane) : 0) + (i + 1 < n ? at(other + plane) : 0) +
                   (j > 0 ? at(other - how.row) : 0) + (j + 1 < n ? at(other + how.row) : 0) +
                   (k > 0 || how.before ? at(how.twice > 0 ? after : after - 1) : 0) +
                   (k + 1 < how.end ? at(how.twice < 0 ? after - 1 : after) : 0);
        };
        for (int colour = 0; colour < 2; ++colour) {
            const std::size_t own = static_cast<std::size_t>(colour) * size;
            each(colour, half_row(n), [&](int i, int j, int k, std::size_t c) {
                if (k < n) all[own + c] = start_[cell(i, j, k)], all[2 * size + own + c] = b_[cell(i, j, k)];
            });
        }
        std::vector<double> norms;
        for (int t = 0; t < run_.iterations; ++t) {
            for (int colour = 0; colour < 2; ++colour) {
                const auto own = static_cast<std::size_t>(colour) * size;
                const std::size_t rhs = 2 * size + (fault.other_b ? size - own : own);
                seen = all;
                each(colour, fault.row, [&](int i, int j, int k, std::size_t c) {
                    if (k >= n && !fault.beyond) return;
                    double& point = all[own + c];
                    point += omega() * ((all[rhs + c] + sum(colour, i, j, k, c, fault)) / 6 - point);
                });
            }
            // The given pass for the norm adds up what red has left, and reads all elements of a row.
            double squares = 0;
            seen = all;
            each(0, half_row(n), [&](int i, int j, int k, std::size_t c) {
                const double r =
                    all[2 * size + c] - 6 * all[c] + sum(0, i, j, k, c, {half_row(n), false, false, 2 * row});
                if (k < n) squares += r * r;
            });
            norms.push_back(std::sqrt(squares));
        }
        Grid u(start_.size());
        for (int colour = 0; colour < 2; ++colour) {
            each(colour, half_row(n), [&](int i, int j, int k, std::size_t c) {
                if (k < n) u[cell(i, j, k)] = all[static_cast<std::size_t>(colour) * size + c];
            });
        }
        return {u, norms};
    }

    /// The iterate where only points with updates(i, j, k) are updated, and taken(u, i, j, k, side) says what
    /// is read for the neighbour on a side: i - 1, i + 1, j - 1, j + 1, k - 1, k + 1.
    template <class Updates, class Taken>
    Grid after_taking(const Updates& updates, const Taken& taken) const {
        const int n = run_.n;
        Grid u = start_;
        for (int t = 0; t < run_.iterations; ++t) {
            const Grid before = u;
            for (int half = 0; half < 2; ++half) {
                const Grid& seen = run_.method == Method::jacobi ? before : u;
                std::size_t c = 0;
                for (int i = 0; i < n; ++i) {
                    for (int j = 0; j < n; ++j) {
                        for (int k = 0; k < n; ++k, ++c) {
                            if ((i + j + k) % 2 != half || !updates(i, j, k)) continue;
                            double sum = b_[c];
                            for (int side = 0; side < 6; ++side) sum += taken(seen, i, j, k, side);
                            u[c] += omega() * (sum / 6 - u[c]);
                        }
                    }
                }
            }
        }
        return u;
    }
    /// The neighbour on a side; 0 outside of the cube.
    double beside(const Grid& u, int i, int j, int k, int side) const {
        int at[3] = {i, j, k};
        at[side / 2] += side % 2 ? 1 : -1;
        const int moved = at[side / 2];
        const auto n = static_cast<std::size_t>(run_.n);
        if (moved < 0 || moved >= run_.n) return 0;
        return u[(static_cast<std::size_t>(at[0]) * n + static_cast<std::size_t>(at[1])) * n +
                 static_cast<std::size_t>(at[2])];
    }
    static constexpr const char* sides[] = {"i - 1", "i + 1", "j - 1", "j + 1", "k - 1", "k + 1"};

    /// Were points left out, or neighbours?
    std::string part(const Grid& got) const {
        const double points = static_cast<double>(got.size());
        if (run_.method == Method::block || points * run_.iterations > 2e6) return {};
        const auto right = [&](const Grid& u, int i, int j, int k, int side) {
            return beside(u, i, j, k, side);
        };
        for (int side = 0; side < 6; ++side) {
            const int last = side % 2 ? run_.n - 1 : 0;
            const auto updates = [&](int i, int j, int k) {
                return (side < 2 ? i : side < 4 ? j : k) != last;
            };
            if (is(got, after_taking(updates, right))) {
                return std::string("points with ") + sides[side][0] + (side % 2 ? " = n - 1" : " = 0") +
                       " are never updated: does the grid cover them, and does the guard let them through?";
            }
        }
        const auto all = [](int, int, int) { return true; };
        for (int missed = 0; missed < 6; ++missed) {
            for (int taken = 0; taken < 7; ++taken) {
                if (taken == missed) continue;
                const auto other = [&](const Grid& u, int i, int j, int k, int side) {
                    if (side != missed) return beside(u, i, j, k, side);
                    const int place = missed < 2 ? i : missed < 4 ? j : k;
                    const bool none = place == (missed % 2 ? run_.n - 1 : 0) || taken == 6;
                    return none ? 0.0 : beside(u, i, j, k, taken);
                };
                if (!is(got, after_taking(all, other))) continue;
                const std::string cause = std::string("the neighbour at ") + sides[missed];
                return taken == 6 ? cause + " is missing from the sum"
                                  : cause + " is not read: in its place the one at " + sides[taken] +
                                        " counts twice";
            }
        }
        return {};
    }

    bool only(const Grid& got, int colour) const {
        Grid u = start_;
        for (int t = 0; t < run_.iterations; ++t) half_sweep(u, b_, run_.n, colour, omega());
        return is(got, u);
    }

    /// Which neighbour was read too early, too late or not at all? The first wrong point of the last
    /// iteration is computed again with every choice of values for its six neighbours; the choice with the
    /// fewest faults counts. A red point goes first: a black one may be wrong only because
    /// its red neighbours are.
    std::string one_neighbour(const Grid& got) const {
        if (run_.method == Method::block || run_.iterations == 0) return {};
        Run fewer = run_;
        --fewer.iterations;
        const Grid before = after(fewer);
        const int n = run_.n;
        const auto size = static_cast<std::size_t>(n);
        const auto is_black = [&](std::size_t at) {
            return run_.method != Method::jacobi && (at / size / size + at / size % size + at % size) % 2;
        };
        std::size_t c = got.size();
        for (std::size_t at = 0; at < got.size(); ++at) {
            if (std::abs(got[at] - right_.u[at]) <= allowed_.point) continue;
            if (c == got.size() || !is_black(at)) c = at;
            if (!is_black(at)) break;
        }
        if (c == got.size()) return {};
        if (std::abs(got[c] - before[c]) <= allowed_.point) {
            return point_name(c) +
                   ", was not updated: does the grid cover it, and does the guard let it through?";
        }
        const int at[3] = {static_cast<int>(c / size / size), static_cast<int>(c / size % size),
                           static_cast<int>(c % size)};
        const bool black = is_black(c);
        const std::array<std::size_t, 3> stride{size * size, size, 1};
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
                what += std::string(what.empty() ? "" : ", ") + sides[side] +
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
                   ": do the wrong ones lie along the edge of a tile, or of a chunk of planes?";
        }
        if (worst > 4.0 * run_.iterations * right_.scale / 2048) return {};
        return "close, but less exact than rounding explains: was a shorter type used on the way?";
    }

    Grid start_, b_;
    Run run_;
    const History& right_;
    const Tolerance& allowed_;
};

}  // namespace red_black
