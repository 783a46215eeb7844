#pragma once
// What a right solve looks like.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "exam/cases.hpp"
#include "exam/diagnosis.hpp"
#include "exam/preconditioner.hpp"
#include "exam/reference.hpp"
#include "pcg.cuh"
#include "rungs/iteration_exam.hpp"

namespace pcg {

/// Conjugate gradients preconditioned by it need at most so many iterations to 1e-10, on grids of any size.
/// With the oracle's V-cycle they are 10 or 11 for d = 1 and 2, 12 or 13 for d = 3, and up to 15 beyond: the
/// more dimensions, the less a sweep smooths.
constexpr int most_multigrid(int d) { return d <= 3 ? 14 : 16; }

/// A solve in float that gains a decimal each time would take ten outer iterations to 1e-10.
inline constexpr int most_mixed = 12;

/// Holds a solve against the oracle's.
class Comparison final : public rungs::IterationExam {
  public:
    /// @param setting  the case
    /// @param b        the right-hand side
    /// @param answer   what a rung left
    /// @param right    what expected() returned
    Comparison(const Setting& setting, const Field& b, const rungs::Solve& answer, const Trace& right)
        : Comparison(setting, b, answer, right,
                     rounding_floor(setting.grid, b, right.x, unit_of(setting.problem))) {}

    /// Conjugate gradients in double. Of the preconditioned ones only how they begin and have to end.
    /// @param setting  the case
    /// @param b        the right-hand side
    static Trace expected(const Setting& setting, const Field& b) {
        const bool breaks = setting.is("overflow") || setting.is("infinite_product");
        if (setting.problem.method == Method::cg && !breaks)
            return conjugate_gradients(setting.grid, b, setting.limit, setting.tolerance);
        Trace trace = conjugate_gradients(setting.grid, b, 0, setting.tolerance);
        if (trace.outcome == limit_reached && breaks) trace.outcome = breakdown;
        if (trace.outcome == limit_reached && setting.limit > 0 && setting.tolerance > 0)
            trace.outcome = converged, trace.iterations = -1;  // after a number not known
        if (trace.outcome == limit_reached) trace.iterations = setting.limit;
        return trace;
    }

  private:
    /// `rounding` is that of a residual at the solution that was found.
    Comparison(const Setting& setting, const Field& b, const rungs::Solve& answer, const Trace& right,
               double rounding)
        : IterationExam(answer, right,
                        {setting.limit, setting.tolerance, path_tolerance(setting.problem), floors * rounding,
                         20 * rounding, 1e-6, setting.is("huge") || setting.is("tiny"), false}),
          setting_(setting),
          b_(b) {}

    bool compare() override {
        return compare_outcome() && compare_numbers() && compare_history() &&
               compare_stop(". (Where x was not, the history holds what replaced r)") && compare_residual() &&
               compare_count() && compare_correction() && compare_solution();
    }

    bool plain() const { return setting_.problem.method == Method::cg; }
    /// Whether rounding does not allow the tolerance that is asked for.
    bool unattainable() const { return setting_.is("unattainable"); }

    bool outcome_is_open() const override {
        return unattainable() && (got_.outcome == limit_reached || got_.outcome == converged);
    }

    std::vector<rungs::Suspect> suspects() const override {
        if (setting_.problem.method == Method::mixed) return {};
        return suspects_of(setting_.grid, b_, !plain());
    }

    std::string explain_outcome() const override {
        if (terms_.beyond_float) {
            return setting_.problem.single ? ". The squares of b's elements leave the range of float: are "
                                             "all sums formed in double, from products in double?"
                                           : ". b's elements leave the range of float: is what becomes a "
                                             "float divided by its norm before? And are the units of what is "
                                             "kept from the correction before a number in the first one?";
        }
        if (right_.outcome == breakdown) return ". p.Ap is not a number that could be divided by here";
        if (right_.outcome == diverged)
            return ". b has an element that is not a finite number: that has to be reported";
        if (got_.outcome == breakdown && plain() && setting_.problem.single && claimed() < 1e-15 * scale())
            return ". r has become so small that products with it leave the range of float: are all sums "
                   "formed in double, from products in double?";
        if (got_.outcome == breakdown && plain() && got_.iterations > 0 &&
            right_steps() == static_cast<std::size_t>(got_.iterations)) {
            return ". All steps so far were right, so A p and alpha are: is the next p = r + beta p, with "
                   "the beta of the new r, found before p is?";
        }
        if (got_.outcome == limit_reached && setting_.problem.method == Method::mixed)
            return ": " + explain_corrections() + ". " + steps();
        if (got_.outcome == limit_reached && !plain())
            return ": with a good preconditioner a few iterations are enough. " + steps();
        return {};
    }

    /// Why corrections in double do not get on.
    std::string explain_corrections() const {
        const std::vector<double>& h = got_.history;
        if (h.size() > 2 && std::abs(h[0] - h[1] - 1) < 0.02 && std::abs(h[1] - h[2] - 1) < 0.02)
            return "each correction takes 1 off ||r||. What float finds for r / ||r|| has to be multiplied "
                   "by ||r|| again";
        std::size_t gained = 0;  // corrections that made ||r|| ten times smaller, from the first on
        while (gained + 1 < h.size() && h[gained + 1] < 0.1 * h[gained]) ++gained;
        if (h.size() > 3 && gained > 1)
            return "corrections gain until ||r|| is " + rungs::three_digits(h[gained]) +
                   ", and little from then on. Is b - A x computed in double, and divided by its norm before "
                   "it becomes a float? And does x take all that float has found, the last step too";
        if (h.size() > 2 && gained == 1)
            return "the first correction is right, and later ones gain nothing. Is b - A x computed in "
                   "double from the new x each time, divided by its norm before it becomes a float, and does "
                   "e begin with 0";
        return "a few corrections are enough, if each makes ||r|| a thousand times smaller";
    }

    /// The first norms of the history, for a reader.
    std::string steps() const {
        std::string text = "||r|| is";
        const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(got_.iterations) + 1, 5);
        for (std::size_t k = 0; k < count; ++k)
            text += (k ? ", " : " ") + rungs::three_digits(got_.history[k]);
        return text + (count == 5 ? ", ..." : "");
    }

    std::string explain_start() const override {
        const double right = right_.history[0];
        if (is_square(0)) return ": is that r.r, without the root?";
        if (std::abs(got_.history[0] - right) < 1e-4 * right)
            return ": off by a rounding of float. Are sums formed in double, from products in double?";
        return ": that is ||b||, a root of a sum of squares in double. Is the last point in it?";
    }

    std::string explain_step(std::size_t k) const override {
        const double h = got_.history[k], right = right_.history[k];
        if (!setting_.problem.single && std::abs(h - right) < 1e-3 * right)
            return ": is anything a float that ought to be a double?";
        if (k == 1) {
            return ": the first step is wrong, in p.Ap or in what r takes of A p";
        }
        if (plain() && right <= setting_.tolerance * right_.history[0] && h > 2 * right) {
            return ", and the steps before were right: r had become small, so b - A x was computed, and x is "
                   "not what r believes. Has x taken every step, alpha p with the p of that step?";
        }
        if (plain() && h == 0 && right > 0) {
            return ", and the steps before were right: nobody has added up that sum. Where r seems to be "
                   "small enough b - A x replaces it: is it computed (renew_kernel in rung 04), with its "
                   "r.r, before the norm is recorded?";
        }
        return ", and the steps before were right: are all sums cleared before each iteration, does p take "
               "beta times itself, and do blocks that keep points of each other compute the same there?";
    }

    /// Norms are numbers, also where the oracle has none.
    bool compare_numbers() {
        if (!std::isfinite(scale())) return true;
        for (int k = 0; k <= std::min(got_.iterations, static_cast<int>(got_.history.size()) - 1); ++k) {
            const double h = got_.history[static_cast<std::size_t>(k)];
            if (!(h >= 0))
                return fail("||r|| after " + rungs::iterations(k) + ", history[" + std::to_string(k) +
                            "], is " + (std::isnan(h) ? "NaN: was it recorded?" : rungs::three_digits(h)));
        }
        return true;
    }

    bool compare_residual() {
        if (!std::isfinite(scale())) {  // no step can be made
            return std::all_of(got_.x.begin(), got_.x.end(), [](double v) { return v == 0; }) ||
                   fail("no step can be made here, so x has to be 0");
        }
        const double found = residual_norm(setting_.grid, b_, got_.x);
        const double threshold = setting_.tolerance * scale();
        const double rounded = floors * rounding_floor(setting_.grid, b_, got_.x, unit_of(setting_.problem));
        const std::string residual = "||b - A x|| is " + rungs::three_digits(found);
        if (got_.outcome == converged) {
            if (within(std::max(found - threshold, 0.0), rounded + 1e-9 * threshold)) {
                if (!unattainable()) return true;
                // There the rounding of x itself decides, and honest claims are those that x can keep.
                if (found <= 4 * threshold) return true;
            }
            return fail("converged is claimed, and " + residual +
                        ", above tolerance ||b|| = " + rungs::three_digits(threshold) +
                        ": the residual that r carries along has drifted away from that of x" +
                        last_points());
        }
        if (unattainable()) return true;  // r has parted from b - A x, as it may
        if (within(std::abs(found - claimed()), rounded + 1e-3 * claimed())) return true;
        return fail(residual + ", and the history ends with " + rungs::three_digits(claimed()) +
                    last_points());
    }

    std::string last_points() const {
        // Of a preconditioned solve the oracle has no iterate.
        if (!plain() || right_.x.size() != got_.x.size() || got_.iterations != right_.iterations) return {};
        const std::string wrong = first_wrong_element(1e-2);
        return (wrong.empty() ? "" : ". ") + wrong;
    }

    bool compare_count() {
        const int k = got_.iterations, right = right_.iterations;
        if (got_.outcome != converged || unattainable()) {
            return k == right || unattainable() ||
                   fail("reported after " + rungs::iterations(k) + " instead of " + std::to_string(right));
        }
        if (plain()) {
            return within(std::abs(k - right), std::max(1, right / 50)) ||
                   fail("took " + rungs::iterations(k) + "; conjugate gradients in double take " +
                        std::to_string(right));
        }
        const int most =
            setting_.problem.method == Method::mixed ? most_mixed : most_multigrid(setting_.grid.d);
        if (k <= most) return true;
        const std::string known = suspected();
        return fail("took " + rungs::iterations(k) + "; " + std::to_string(most) +
                    " are enough with a preconditioner as it should be" +
                    (known.empty() ? ". " + steps() : ": " + known));
    }

    /// What the first correction has found is a float at each point, times ||b||; double vectors inside would
    /// find as many iterations, and move twice the bytes.
    bool compare_correction() {
        const double norm = scale();
        if (setting_.problem.method != Method::mixed || got_.iterations != 1 || !(norm > 0) ||
            !std::isfinite(norm))
            return true;
        constexpr double rounded = 0x1p-40;  // of ||b||, and of a product with it; between floats lie 2^-24
        for (std::size_t i = 0; i < got_.x.size(); ++i) {
            const double found = got_.x[i] / norm;
            if (std::abs(found - static_cast<double>(static_cast<float>(found))) <= rounded * std::abs(found))
                continue;
            return fail(
                "after one correction x[" + std::to_string(i) +
                "] / ||b|| is not a float: r, p, A p and what they find are floats here, for half the "
                "bytes; only b, x and b - A x are double");
        }
        return true;
    }

    /// The error in the norm in which conjugate gradients work, against the oracle's iterate and against what
    /// theory promises of k iterations (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. 2003,
    /// theorem 6.29, and 9.1 for preconditioned ones).
    bool compare_solution() {
        if (!std::isfinite(scale()) || unattainable() || got_.outcome == breakdown) return true;
        const Grid& grid = setting_.grid;
        if (grid.points() > most_solved) return true;  // the residual was right
        const auto distance = [&](const Field& from) {
            Field error = got_.x;
            for (std::size_t i = 0; i < error.size(); ++i) error[i] -= from[i];
            return norm_in(grid, error);
        };
        // ||e||_A = sqrt(r.A^-1 r): a rounding of the residual may count for so much.
        const double rounded = terms_.rounding / std::sqrt(grid.points() > 0 ? eigenvalue(grid, 1) : 1);
        const Field exact = solution(grid, b_);
        const double whole = norm_in(grid, exact);
        if (plain() && got_.iterations == right_.iterations) {
            const double path = path_tolerance(setting_.problem) * whole;
            if (!within(distance(right_.x), path + rounded))
                return fail("x is not the iterate after " + std::to_string(got_.iterations) +
                            " steps, though r and the outcome are right: has x taken every step, and none "
                            "after the solve was finished?");
        }
        if (setting_.problem.method == Method::mixed) return true;
        const double kappa = plain() ? condition(grid) : largest_eigenvalue / least_eigenvalue;
        const double bound = chebyshev_bound(kappa, got_.iterations) * whole, error = distance(exact);
        if (error <= 1.001 * bound + path_tolerance(setting_.problem) * whole + rounded) return true;
        return fail("the error in the A-norm is " + rungs::three_digits(error) + ", and theory allows " +
                    rungs::three_digits(bound) + " after " + rungs::iterations(got_.iterations) +
                    " with a condition number of " + rungs::three_digits(kappa));
    }

    const Setting& setting_;
    const Field& b_;
};

/// Compares a solve with the oracle's.
/// @param setting  the case
/// @param b        the right-hand side
/// @param answer   what a rung left
inline rungs::Check check_solve(const Setting& setting, const Field& b, const rungs::Solve& answer) {
    const Trace right = Comparison::expected(setting, b);
    return Comparison(setting, b, answer, right).check();
}

}  // namespace pcg
