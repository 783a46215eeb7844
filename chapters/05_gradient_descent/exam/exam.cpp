// Chapter 5's exam: which systems a solver is tried on, and what a right solve of them looks like.

#include "rungs/exam.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "gradient_descent.cuh"
#include "rungs/iteration_exam.hpp"
#include "rungs/random.hpp"

namespace {

using gradient_descent::dominated;
using gradient_descent::Spectrum;
using gradient_descent::System;
using gradient_descent::Trace;

/// How far ||r_k|| of a float solve may be from the double oracle's, relative to it, where rounding of the
/// residual itself does not count: each step multiplies r by I - alpha A with relative errors of some u, and
/// descent forgets them, because its direction is drawn into the same plane whatever it was before (H.
/// Akaike, Ann. Inst. Statist. Math. 11, 1959). Honest float solves of this exam's systems stay below a tenth
/// of this (exam_test.cpp measures it).
constexpr double path_tolerance = 1e-3;

/// How many rounding floors the exam allows for n unknowns. Honest residuals of short rows stay below
/// four. A long row that is summed up one term after the other rounds n times, at up to the size of the
/// whole sum each, in a random walk: sqrt(n / 3) of them (N. Higham, T. Mary, SIAM J. Sci. Comput. 41,
/// 2019, theorem 3.1). With few unknowns a step may go along one eigenvector of A, and multiply what rounding
/// left along another by up to kappa - 1, which is 9 here.
double allowed_floors(int n) { return n < 16 ? 80 : std::max(8.0, std::sqrt(n / 3.0)); }

/// What a kind of system is about.
struct Kind {
    const char* name;
    double kappa;      ///< condition number of A, where it is known; 0: not
    int limit;         ///< iterations
    double tolerance;  ///< relative residual

    bool is(std::string_view which) const { return which == name; }
    /// Whether it is solved so near to float's limit that rounding decides how that ends.
    bool drifts() const { return is("drift") || is("stagnant") || is("unreachable"); }
};

constexpr Kind jacobi_kinds[] = {
    {"symmetric", 0, 200, 1e-5},     // random signs
    {"dominant", 0, 200, 1e-5},      // the same, rows not symmetric
    {"positive", 0, 300, 1e-5},      // spectral radius 0.9, exactly
    {"divergent", 0, 200, 1e-5},     // spectral radius 1.5
    {"zero_diagonal", 0, 50, 1e-5},  //
    {"huge", 0, 200, 1e-5},          // squares of b overflow in float
    {"tiny", 0, 200, 1e-5},          // squares of b vanish in float
    {"unaligned", 0, 200, 1e-5},     //
    {"unit", 1, 50, 1e-5},           // 2 I: one iteration
    {"limit", 0, 7, 0},              //
    {"none", 0, 0, 1e-5},            // not one iteration
    {"zero", 0, 50, 1e-5},           // b = 0
    {"nan_matrix", 0, 50, 1e-5},     //
    {"nan_vector", 0, 50, 1e-5},     //
};

constexpr Kind descent_kinds[] = {
    {"spd", 10, 300, 1e-5},         //
    {"worst", 10, 300, 1e-5},       // b = first + last eigenvector: every step gains (kappa-1)/(kappa+1)
    {"drift", 200, 1500, 2e-6},     // so near to float's own limit that a carried residual tells stories
    {"stagnant", 50, 400, 0},       // far below that limit, which only a renewal every so often still shows
    {"unreachable", 2, 100, 1e-9},  // no x in float is so near; a carried residual soon says that one is
    {"indefinite", 10, 300, 1e-5},  // r.Ar < 0 at once
    {"turning", 3, 300, 1e-5},      // r.Ar < 0 after the first step
    {"huge", 10, 300, 1e-5},        // squares of b overflow in float
    {"tiny", 10, 300, 1e-5},        // squares of b vanish in float
    {"unaligned", 10, 300, 1e-5},   //
    {"unit", 1, 50, 1e-5},          // 2 I: one iteration
    {"limit", 100, 53, 0},          // not a multiple of anything, past one renewal
    {"none", 10, 0, 1e-5},          // not one iteration
    {"zero", 10, 50, 1e-5},         // b = 0
    {"nan_matrix", 0, 50, 1e-5},    //
    {"nan_vector", 0, 50, 1e-5},    //
};

/// Both symmetric positive definite and diagonally dominant: a fixed number of iterations of either method.
constexpr Kind iteration_kinds[] = {{"both", 0, 20, 0}};

std::span<const Kind> kinds_of(const std::string& problem) {
    if (problem == "jacobi") return jacobi_kinds;
    if (problem == "descent") return descent_kinds;
    if (problem == "iterations") return iteration_kinds;
    throw std::invalid_argument("chapter 5 has the problems jacobi, descent and iterations, not '" + problem +
                                "'");
}

Kind kind_of(const rungs::Case& which) {
    std::string known;
    for (Kind kind : kinds_of(which.problem)) {
        if (which.kind == kind.name) {
            if (which.sizes.size() == 2) kind.limit = static_cast<int>(which.sizes[1]);
            return kind;
        }
        known += std::string(known.empty() ? "" : ", ") + kind.name;
    }
    throw std::invalid_argument("problem " + which.problem + " has no systems of kind '" + which.kind +
                                "'; it has " + known);
}

std::size_t size_of(const rungs::Case& which) {
    const bool right = which.sizes.size() == 1 || which.sizes.size() == 2;
    if (!right || which.sizes[0] < 0 || which.sizes[0] > 100'000 || which.sizes.back() < 0) {
        throw std::invalid_argument("a solve has one size, n, and may have a second one, the iterations");
    }
    return static_cast<std::size_t>(which.sizes[0]);
}

struct Made {
    std::vector<float> a, b;
};

Made make_system(const rungs::Case& which) {
    const std::size_t n = size_of(which);
    const Kind kind = kind_of(which);
    const std::string_view name = kind.name;
    const std::uint64_t seed = which.seed_of(1);
    Made made;
    made.b = rungs::random_field(n, which.seed_of(2), rungs::signed_uniform);
    if (name == "unit") {
        made.a.assign(n * n, 0.0f);
        for (std::size_t i = 0; i < n; ++i) made.a[i * n + i] = 2;
        return made;
    }
    if (which.problem == "descent") {
        Spectrum spectrum(n, kind.kappa > 0 ? kind.kappa : 10, seed);
        if (name == "worst" && n > 1) {
            std::fill(made.b.begin(), made.b.end(), 0.0f);
            spectrum.add_eigenvector(0, 1, made.b);
            spectrum.add_eigenvector(n - 1, 1, made.b);
        }
        if (name == "indefinite" && n > 0) {
            spectrum.set_smallest(-6);
            spectrum.add_eigenvector(0, 4 * std::sqrt(static_cast<double>(n)), made.b);
        }
        if (name == "turning" && n > 1) {  // eigenvalues -1 and 3, in parts 1 and 2: r.Ar is 11, then -0.53
            std::fill(made.b.begin(), made.b.end(), 0.0f);
            spectrum.set_smallest(-1);
            spectrum.add_eigenvector(0, 1, made.b);
            spectrum.add_eigenvector(n - 1, 2, made.b);
        }
        made.a = spectrum.matrix();
    } else if (which.problem == "iterations") {
        made.a = dominated(n, seed, -1, 0.8, true);
    } else {
        const bool positive = name == "positive" || name == "divergent";
        made.a =
            dominated(n, seed, positive ? 0.25 : -1, name == "divergent" ? 1.5 : 0.9, name == "symmetric");
        if (name == "zero_diagonal" && n > 0) {
            const std::size_t i = rungs::random_word(which.seed_of(3), 0) % n;
            made.a[i * n + i] = 0;
        }
    }
    if (name == "huge" || name == "tiny") {
        for (float& value : made.b) value = std::ldexp(value, name == "huge" ? 80 : -80);
    }
    if (name == "zero") std::fill(made.b.begin(), made.b.end(), 0.0f);
    const std::size_t i = n > 0 ? rungs::random_word(which.seed_of(3), 0) % n : 0;
    const std::size_t j = n > 0 ? rungs::random_word(which.seed_of(3), 1) % n : 0;
    if (name == "nan_matrix" && n > 0) {
        made.a[i * n + j] = made.a[j * n + i] = std::numeric_limits<float>::quiet_NaN();
    }
    if (name == "nan_vector" && n > 0) made.b[i] = std::numeric_limits<float>::quiet_NaN();
    return made;
}

/// Holds a solve against one method's trace. Findings come in the order in which they explain each other.
class Comparison final : public rungs::IterationExam {
  public:
    Comparison(const Kind& kind, const System& system, const Trace& trace, bool descends,
               const rungs::Solve& answer)
        : Comparison(kind, system, trace, descends, answer,
                     gradient_descent::rounding_floor(system, trace.x)) {}

  private:
    /// `floor` is the rounding of a residual at the oracle's x.
    Comparison(const Kind& kind, const System& system, const Trace& trace, bool descends,
               const rungs::Solve& answer, double floor)
        // The worst b has two eigenvectors alone, and descent does not forget how much of each: what a
        // renewal rounds off stays. Honest residuals come near eight floors there.
        : IterationExam(answer, trace,
                        {kind.limit, kind.tolerance, path_tolerance,
                         (kind.is("worst") ? 2 : 1) * allowed_floors(system.n) * floor,
                         kind.drifts() ? 20 * floor : 0, 1e-4, kind.is("huge") || kind.is("tiny"), true}),
          kind_(kind),
          system_(system),
          descends_(descends),
          floor_(floor) {}

    bool compare() override {
        return compare_belief() && compare_buffers() && compare_outcome() && compare_history() &&
               compare_stop() && compare_count() && compare_solution() && compare_theory();
    }

    /// Except for tiny systems, no x in float has a residual as small as an unreachable tolerance asks for;
    /// and if the oracle goes on to the limit, the rung's own norm does not prove that it has converged.
    bool compare_belief() {
        if (got_.outcome != gradient_descent::converged) return true;
        if (!kind_.is("unreachable") && !(right_.outcome == gradient_descent::limit_reached && says_so()))
            return true;
        const double found = gradient_descent::residual_norm(system_, got_.x);
        if (!std::isfinite(found)) return true;
        if (within(found, kind_.tolerance * scale() + floor_ / 100)) return true;
        return fail("says converged after " + rungs::iterations(got_.iterations) + ", and ||b - A x|| is " +
                    rungs::three_digits(found) + " where " + rungs::three_digits(kind_.tolerance * scale()) +
                    " was asked for: a carried residual was believed. Is it computed from x once more before "
                    "the end is believed?");
    }

    /// Sweeps of Gauss-Jacobi that all read x_0 leave ||b|| each time, and x is x_0 or x_1.
    bool compare_buffers() {
        const std::vector<double>&x = got_.x, &h = got_.history;
        if (descends_ || scale() == 0 || got_.iterations < 2 ||
            static_cast<std::size_t>(got_.iterations) >= h.size())
            return true;
        const bool stays = std::all_of(h.begin(), h.begin() + got_.iterations + 1, [&](double norm) {
            return std::abs(norm - scale()) <= 1e-4 * scale();
        });
        if (!stays) return true;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double step = static_cast<double>(system_.b[i]) / system_.a[i * (x.size() + 1)];
            if (x[i] != 0 && !(std::abs(x[i] - step) <= 1e-3 * std::abs(step))) return true;
        }
        return fail(
            "||r|| is ||b|| after every sweep: each of them reads x_0. Is a sweep written, and do x "
            "and y change places from one to the next, so that the x that was written last is the one "
            "that is read?");
    }

    /// Is the last norm of the rung's history as small as was asked for?
    bool says_so() const {
        return got_.iterations >= 0 && static_cast<std::size_t>(got_.iterations) < got_.history.size() &&
               claimed() <= kind_.tolerance * scale();
    }

    /// Where rounding decides, it may: at the very end of what float can reach.
    bool outcome_is_open() const override {
        return kind_.drifts() && got_.outcome == gradient_descent::limit_reached &&
               got_.iterations == kind_.limit;
    }

    std::vector<rungs::Suspect> suspects() const override {
        return gradient_descent::suspects_of(system_, descends_);
    }

    std::string explain_outcome() const override {
        using namespace gradient_descent;
        if (terms_.beyond_float) {
            return ". The squares of b's elements leave the range of float: are all sums formed in double, "
                   "from products in double?";
        }
        if (right_.outcome == breakdown) {
            if (!descends_) return ". The diagonal has a zero here";
            return kind_.is("nan_matrix")
                       ? ". r.Ar is NaN here, for which r.Ar <= 0 does not hold: is !(r.Ar > 0) asked?"
                       : ". r.Ar is not positive here: no step along r can be the right one";
        }
        if (right_.outcome == diverged)
            return ". The residual grows without bound, or is not a number: that has to be reported";
        if (got_.outcome == breakdown && descends_)
            return why_no_curvature(static_cast<int>(right_steps()), got_.iterations, right_.iterations,
                                    claimed() <= terms_.rounding);
        return {};
    }

    std::string explain_no_outcome(int done) const override {
        return gradient_descent::why_no_outcome(done, kind_.limit, descends_);
    }

    std::string explain_start() const override {
        const double got = got_.history[0] * got_.history[0];
        for (const int threads : {2, 32, 64, 128, 256, 512, 1024}) {
            if (std::abs(got / threads - scale() * scale()) > 1e-5 * scale() * scale()) continue;
            return ": r.r is " + std::to_string(threads) +
                   " times too large. Do all threads that share a row, or a block, bring its square?";
        }
        double square = 0;
        for (std::size_t i = 0; i + 1 < system_.b.size(); ++i) {
            square += static_cast<double>(system_.b[i]) * system_.b[i];
            if (std::abs(got - square) > 1e-6 * scale() * scale()) continue;
            return ": the rows from " + std::to_string(i + 1) +
                   " on are missing in r.r. Is there a block for "
                   "each row, and is the number of blocks rounded up?";
        }
        return ": that is ||b||, a root of a sum of squares in double";
    }

    std::string explain_step(std::size_t k) const override {
        if (k == 1 && std::abs(got_.history[1] - scale()) < terms_.same * scale())
            return ": that is ||b||, as before. Was a step made, and is what it wrote what is read next?";
        if (k == 1) {
            return std::string(": the first step is wrong; is every row multiplied, in full and once") +
                   (descends_ ? ", and is alpha r.r / r.Ar?" : "?");
        }
        if (descends_ && k == 2) {
            return ", and the first step was right: is alpha that of this iteration, from sums that were "
                   "cleared before it, and is every row multiplied?";
        }
        const int iteration = static_cast<int>(k);
        const bool renews =
            iteration % gradient_descent::renew_every == 0 || iteration + 1 >= right_.iterations;
        if (descends_ && renews && got_.history[k] > 2 * right_.history[k - 1]) {
            return ", and the steps before were right to a thousandth. A rung that carries r along takes it "
                   "from x here: if that is yours, x was wrong all along. Did it step along the old r, with "
                   "the same alpha and the right sign?";
        }
        return ", and the steps before were right to a thousandth: is every row multiplied, the "
               "last one too?";
    }

    bool compare_count() {
        using namespace gradient_descent;
        if (got_.iterations == right_.iterations || kind_.drifts()) return true;
        const std::string instead =
            rungs::iterations(got_.iterations) + " instead of " + std::to_string(right_.iterations);
        if (got_.outcome == breakdown) return fail("the breakdown is reported after " + instead);
        // Another count is honest only where the oracle's residual is within rounding of the threshold.
        const auto at = static_cast<std::size_t>(std::min(got_.iterations, right_.iterations));
        const double edge = (got_.outcome == diverged ? too_far : kind_.tolerance) * scale();
        if (within(std::abs(right_.history[at] - edge), path_tolerance * edge + terms_.rounding)) return true;
        return fail("stopped after " + instead);
    }

    bool compare_solution() {
        const std::vector<double>& x = got_.x;
        if (kind_.is("nan_matrix") || kind_.is("nan_vector")) {  // no step can be made
            return x == right_.x || fail("no step can be made here, so x has to be 0");
        }
        const double found = gradient_descent::residual_norm(system_, x);
        // Carried along, a residual may be off by what rounding did since it was last renewed. At the end
        // of a solve that has converged, or done a multiple of renew_every iterations, it is fresh: honest
        // ones are then off by a seventh of the floor at most, and those that were never renewed by three
        // floors or more.
        const double allowed_drift = kind_.drifts() ? floor_ : terms_.rounding + 1e-4 * claimed();
        if (!within(std::abs(found - claimed()), allowed_drift)) {
            const std::string cause = "||b - A x|| is " + rungs::three_digits(found) +
                                      ", and the history ends with " + rungs::three_digits(claimed());
            if (kind_.drifts())
                return fail(cause +
                            ": the carried residual has drifted away from the true one. Is it renewed, from "
                            "x, in every iteration whose number is a multiple of " +
                            std::to_string(gradient_descent::renew_every) +
                            ", and where it seems to be small enough?");
            if (!descends_ && got_.outcome == gradient_descent::converged && found < claimed()) {
                return fail(
                    cause + ": x is a later iterate than x_" + std::to_string(got_.iterations) +
                    ". An odd iterate is in the other buffer and has to be delivered; and a sweep that "
                    "is queued after the end must not write");
            }
            if (got_.outcome == gradient_descent::breakdown)
                return fail(cause +
                            ": the breakdown is right, and x has to stay what it was before the step that "
                            "cannot be made");
            const std::string wrong = first_wrong_element(1e-3);
            return fail(cause + (wrong.empty() ? "" : ": ") + wrong);
        }
        if (kind_.drifts() || got_.iterations != right_.iterations) return true;
        // In the norm in which descent works.
        const double allowed = path_tolerance * size(right_.x) + terms_.rounding;
        if (within(size(difference(x, right_.x)), allowed)) return true;
        return fail("x is not the iterate after " + std::to_string(got_.iterations) + " steps");
    }

    /// The A-norm, where A makes one; else the Euclidean norm.
    double size(const std::vector<double>& v) const {
        if (descends_ && kind_.kappa > 0 && right_.outcome != gradient_descent::breakdown)
            return gradient_descent::norm_in(system_, v);
        double square = 0;
        for (const double value : v) square += value * value;
        return std::sqrt(square);
    }

    static std::vector<double> difference(std::vector<double> v, const std::vector<double>& w) {
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= w[i];
        return v;
    }

    /// ||x - x*|| in the A-norm shrinks by (kappa - 1) / (kappa + 1) in each step at least (L. Kantorovich,
    /// 1948; J. Nocedal, S. Wright, Numerical Optimization, 2nd ed. 2006, theorem 3.3).
    bool compare_theory() {
        if (!descends_ || kind_.kappa <= 0 || system_.n < 2 || kind_.drifts()) return true;
        if (right_.outcome == gradient_descent::breakdown) return true;  // A makes no norm
        const double factor = (kind_.kappa - 1) / (kind_.kappa + 1);
        const std::vector<double> exact = gradient_descent::solution(system_);
        const double bound = std::pow(factor, got_.iterations) * size(exact);
        const double got = size(difference(got_.x, exact));
        if (!(got <= 1.001 * bound + path_tolerance * size(exact) + terms_.rounding)) {
            return fail("the error in the A-norm is " + rungs::three_digits(got) + ", and theory allows " +
                        rungs::three_digits(bound) + " for kappa = " + rungs::three_digits(kind_.kappa));
        }
        if (!kind_.is("worst") || system_.n <= 2 || got_.iterations == 0) return true;
        const double expected = std::pow(factor, got_.iterations) * scale();
        if (std::abs(claimed() - expected) > 1e-3 * got_.iterations * expected + terms_.rounding) {
            return fail("the convergence factor is " +
                        rungs::three_digits(std::pow(claimed() / scale(), 1.0 / got_.iterations)) +
                        " instead of (kappa-1)/(kappa+1) = " + rungs::three_digits(factor));
        }
        return true;
    }

    const Kind& kind_;
    const System& system_;
    const bool descends_;
    const double floor_;
};

class GradientDescentExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        const Kind kind = kind_of(which);
        const std::size_t n = size_of(which);
        const std::size_t limit = static_cast<std::size_t>(kind.limit);
        Made made = make_system(which);
        const std::size_t off = std::string_view(kind.name) == "unaligned" ? 1 + which.seed % 3 : 0;
        return {{rungs::Array::of("a", made.a, off), rungs::Array::of("b", made.b, off)},
                {rungs::Array::unset<float>("x", n, off), rungs::Array::unset<double>("history", limit + 1),
                 rungs::Array::unset<int>("outcome", 2)},
                {rungs::Number(static_cast<long long>(n)), rungs::Number(static_cast<long long>(limit)),
                 rungs::Number(kind.tolerance)}};
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        const Kind kind = kind_of(which);
        const System system{static_cast<int>(size_of(which)), task.inputs[0].as<float>(),
                            task.inputs[1].as<float>()};
        const rungs::Solve answer = rungs::solve_of(outputs);

        const auto trace = [&](bool descends, int limit) {
            return descends ? gradient_descent::reference_descent(system, limit, kind.tolerance)
                            : gradient_descent::reference_jacobi(system, limit, kind.tolerance);
        };
        const auto compare = [&](bool descends) {
            return Comparison(kind, system, trace(descends, kind.limit), descends, answer).check();
        };
        if (which.problem != "iterations") return compare(which.problem == "descent");

        // A fixed number of iterations may be of either method: first the one whose first step is nearer.
        const auto distance = [&](bool descends) {
            const Trace first = trace(descends, std::min(kind.limit, 1));
            return first.history.size() > 1 && answer.history.size() > 1
                       ? std::abs(answer.history[1] - first.history[1])
                       : 0;
        };
        const bool descends = distance(true) < distance(false);
        const rungs::Check nearer = compare(descends);
        if (nearer.passed) return nearer;
        const rungs::Check other = compare(!descends);
        return other.passed ? other : nearer;
    }

    std::vector<std::string> size_names(const rungs::Case& /*which*/) const override {
        return {"n", "limit"};
    }

    rungs::Work work(const rungs::Case& which) const override {
        // An iteration has to read one triangle of A, or all of it if A is not symmetric.
        const auto n = static_cast<double>(size_of(which));
        const double iterations = kind_of(which).limit;
        const double elements = which.problem == "jacobi" ? n * n : n * (n + 1) / 2;
        return {sizeof(float) * iterations * elements, 2 * iterations * n * n,
                sizeof(float) * std::min(iterations, 1.0) * elements};
    }
};

}  // namespace

RUNGS_EXAM(GradientDescentExam)
