// Chapter 7's exam: which grids and right-hand sides a rung is tried on, and what right answers look like.

#include "rungs/exam.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "pcg.cuh"
#include "rungs/random.hpp"

namespace {

using pcg::Field;
using pcg::Grid;
using pcg::Trace;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The vectors on which a preconditioner is probed: two random ones, the smoothest wave, and the sum of
/// the first two.
constexpr std::size_t probes = 4;

/// A V-cycle M of this chapter is meant to be as good as A^-1 within these bounds: eigenvalues of M A between
/// them, so that the condition number of M A is at most their ratio. Without over-correction the upper one
/// is 1 (J. Xu, SIAM Review 34, 1992). Of the oracle's V-cycle the least ones found were 0.67 for d = 2, 0.53
/// for d = 3 and 0.38 for d = 5, the largest always 1.
constexpr double least_eigenvalue = 0.3, largest_eigenvalue = 1.05;

/// Conjugate gradients preconditioned by it need at most so many iterations to 1e-10, on grids of any size.
/// With the oracle's V-cycle they are 10 or 11 for d = 1 and 2, 12 or 13 for d = 3, and up to 15 beyond: the
/// more dimensions, the less a sweep smooths.
constexpr int most_multigrid(int d) { return d <= 3 ? 14 : 16; }

/// A solve in float that gains a decimal each time would take ten outer iterations to 1e-10.
constexpr int most_mixed = 12;

/// What is asked of a rung.
enum class Method { apply, cg, mixed, multigrid, precondition };

/// A problem of the manifest.
struct Problem {
    const char* name;
    Method method;
    bool single;  ///< float arrays, else double
};

constexpr Problem problems[] = {
    {"apply", Method::apply, true},
    {"apply_double", Method::apply, false},
    {"cg", Method::cg, true},
    {"cg_double", Method::cg, false},
    {"mixed", Method::mixed, false},
    {"multigrid", Method::multigrid, false},
    {"precondition", Method::precondition, true},
};

// What a preconditioner is probed with, and u of an operator.
constexpr const char* probe_kinds[] = {"random", "unaligned"};
constexpr const char* apply_kinds[] = {"random", "point", "unaligned", "huge", "nan", "infinite"};

// b of a solve.
constexpr const char* solve_kinds[] = {
    "random",        //
    "charge",        // 1 in one cell
    "sine",          // an eigenvector: one iteration
    "constant",      //
    "unaligned",     //
    "huge",          // squares overflow in float; in double, numbers are far beyond the range of float
    "tiny",          // the same, the other way
    "limit",         // a fixed number of iterations
    "none",          // not one iteration
    "zero",          // b = 0
    "nan",           //
    "infinite",      //
    "overflow",      // p.Ap is beyond the range: a breakdown
    "unattainable",  // a tolerance that rounding does not allow
};

constexpr int limited = 7;         ///< iterations of "limit", where the case has no third size
constexpr int unattainable = 120;  ///< iterations of "unattainable", in cg

double unit_of(const Problem& problem) { return problem.single ? 0x1p-24 : 0x1p-53; }

/// How far ||r_k|| of an honest solve may be from the oracle's, relative to it, where rounding of the
/// residual itself does not count. In finite precision conjugate gradients do what they would do exactly for
/// a matrix whose eigenvalues are smeared a little (A. Greenbaum, Lin. Alg. Appl. 113, 1989); so the paths
/// part late, and on this exam's grids, where no iteration counts beyond a few times side, by less than a
/// tenth of this (exam_test.cpp measures it).
double path_tolerance(const Problem& problem) { return problem.single ? 1e-4 : 1e-9; }

/// Honest residuals stay below one rounding floor; the exam allows four.
constexpr double floors = 4;

const Problem& problem_of(const rungs::Case& which) {
    std::string known;
    for (const Problem& problem : problems) {
        if (which.problem == problem.name) return problem;
        known += std::string(known.empty() ? "" : ", ") + problem.name;
    }
    throw std::invalid_argument("chapter 7 has the problems " + known + ", not '" + which.problem + "'");
}

/// A case, checked.
struct Setting {
    Problem problem;
    std::string_view kind;
    Grid grid;
    int limit = 0;
    double tolerance = 0;

    bool is(std::string_view name) const { return kind == name; }
};

Setting setting_of(const rungs::Case& which) {
    const Problem& problem = problem_of(which);
    const bool solves = problem.method != Method::apply && problem.method != Method::precondition;
    Setting setting{problem, {}, {}, 0, problem.single ? 1e-4 : 1e-10};
    std::string known;
    const auto look = [&](const auto& kinds) {
        for (const char* kind : kinds) {
            if (which.kind == kind) setting.kind = kind;
            known += std::string(known.empty() ? "" : ", ") + kind;
        }
    };
    if (solves) look(solve_kinds);
    if (problem.method == Method::apply) look(apply_kinds);
    if (problem.method == Method::precondition) look(probe_kinds);
    if (setting.kind.empty()) {
        throw std::invalid_argument("problem " + which.problem + " has no data of kind '" + which.kind +
                                    "'; it has " + known);
    }
    const std::vector<long long>& sizes = which.sizes;
    if (sizes.size() < 2 || sizes.size() > (solves ? 3u : 2u) || sizes[0] < 1 ||
        sizes[0] > pcg::most_dimensions || sizes[1] < 0 || sizes.back() < 0 ||
        std::pow(sizes[1], sizes[0]) > 2e9) {
        throw std::invalid_argument("a case of " + which.problem +
                                    " has the sizes d (1 to 6) and side, and for solves a limit");
    }
    setting.grid = {static_cast<int>(sizes[0]), static_cast<int>(sizes[1])};
    if (!solves) return setting;
    // Chebyshev's bound says how many iterations are enough; twice that is plenty.
    const double enough = 0.5 * std::log(2 / setting.tolerance) * std::sqrt(pcg::condition(setting.grid));
    setting.limit = 30 + 2 * static_cast<int>(enough);
    if (problem.method != Method::cg) setting.limit = 40;
    if (setting.is("unattainable")) {
        setting.tolerance = problem.single ? 1e-6 : 1e-15;
        setting.limit = problem.method == Method::cg ? unattainable : 8;
    }
    if (setting.is("limit"))
        setting.tolerance = 0, setting.limit = problem.method == Method::cg ? limited : 2;
    if (setting.is("none")) setting.limit = 0;
    if (sizes.size() == 3) setting.limit = static_cast<int>(sizes[2]);
    return setting;
}

std::uint64_t seed_of(const rungs::Case& which, int stream) {
    return which.seed + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(stream);
}

template <class T>
std::vector<T> make_field(const rungs::Case& which, const Setting& setting) {
    const Grid& grid = setting.grid;
    const std::size_t n = grid.cells();
    const bool single = setting.problem.single;
    std::vector<T> v = rungs::random_field<T>(n, seed_of(which, 1), rungs::signed_uniform);
    if (setting.problem.method == Method::precondition) {
        const Field smooth = pcg::sine(grid, 1);
        std::vector<T> all = v, other = rungs::random_field<T>(n, seed_of(which, 2), rungs::signed_uniform);
        all.insert(all.end(), other.begin(), other.end());
        for (const double value : smooth) all.push_back(static_cast<T>(value));
        for (std::size_t i = 0; i < n; ++i) all.push_back(v[i] + other[i]);
        return all;
    }
    if (n == 0) return v;
    const std::size_t somewhere = rungs::random_word(seed_of(which, 3), 0) % n;
    const auto scale_by_two_to = [&](int exponent) {
        for (T& value : v) value = std::ldexp(value, exponent);
    };
    if (setting.is("point") || setting.is("charge")) {
        std::fill(v.begin(), v.end(), T(0));
        v[somewhere] = 1;
    }
    if (setting.is("sine") || setting.is("constant") || setting.is("unattainable")) {
        const Field smooth = setting.is("sine") ? pcg::sine(grid, 1) : Field(n, 1.0);
        for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>(smooth[i]);
    }
    const bool in_float = single || setting.problem.method == Method::apply;
    if (setting.is("huge")) scale_by_two_to(in_float ? 80 : 300);
    if (setting.is("tiny")) scale_by_two_to(in_float ? -80 : -300);
    if (setting.is("zero")) std::fill(v.begin(), v.end(), T(0));
    if (setting.is("nan")) v[somewhere] = std::numeric_limits<T>::quiet_NaN();
    if (setting.is("infinite")) v[somewhere] = std::numeric_limits<T>::infinity();
    if (setting.is("overflow")) {  // signs like a chessboard: the largest A v there is
        const T size = single ? T(3e38) : T(std::sqrt(1e308 / static_cast<double>(n)));
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t parity = 0, rest = i;
            for (int axis = 0; axis < grid.d; ++axis, rest /= static_cast<std::size_t>(grid.L))
                parity += rest % static_cast<std::size_t>(grid.L);
            v[i] = parity % 2 ? -size : size;
        }
    }
    return v;
}

template <class T>
Field in_double(std::span<const T> values) {
    return Field(values.begin(), values.end());
}

Field in_double(const rungs::Array& array) {
    return array.element == rungs::Element::f32 ? in_double(array.as<float>())
                                                : in_double(array.as<double>());
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

const char* name_of(int outcome) {
    constexpr const char* names[] = {"converged", "limit_reached", "breakdown", "diverged"};
    return outcome >= 0 && outcome < 4 ? names[outcome] : "no outcome";
}

// ---------------------------------------------------------------------------------------------------------------
// Operators

rungs::Check check_apply(const Setting& setting, const Field& u, const Field& y) {
    const Grid& grid = setting.grid;
    const Field right = pcg::laplace(grid, u);
    // An element is a sum of 2d + 1 terms: in any order it is off by at most 2d + 1 roundings of their sizes
    // (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 4.2).
    Field sizes = u;
    for (double& value : sizes) value = -std::abs(value);
    Field allowed = pcg::laplace(grid, sizes);  // with the diagonal's sign yet to be turned
    const double unit = unit_of(setting.problem);
    for (std::size_t i = 0; i < u.size(); ++i) {
        allowed[i] = (2 * grid.d + 1) * unit * (allowed[i] + 4 * grid.d * std::abs(u[i]));
    }
    const double least = setting.problem.single ? std::numeric_limits<float>::denorm_min() : 0;
    const auto close = [&](std::size_t i, double got, double expected) {
        if (std::isnan(expected) || std::isinf(expected)) {
            return std::isnan(expected) ? std::isnan(got) : got == expected;
        }
        return std::abs(got - expected) <= allowed[i] + least;
    };
    rungs::Check check;
    check.measure = "|got - expected| / rounding of 2d + 1 terms";
    check.tolerance = 1;
    check.of = u.size();
    for (std::size_t i = 0; i < u.size(); ++i) {
        const double ratio = std::abs(y[i] - right[i]) / allowed[i];
        if (std::isfinite(ratio)) check.error = std::max(check.error, ratio);
        if (close(i, y[i], right[i])) continue;
        if (!std::isfinite(ratio)) check.error = infinity;
        ++check.wrong;
        if (check.first.size() >= 5) continue;
        const auto in_float = [](double value) { return static_cast<float>(value); };
        check.first.push_back({i, y[i], right[i],
                               setting.problem.single
                                   ? rungs::ulp_distance(in_float(y[i]), in_float(right[i]))
                                   : rungs::ulp_distance(y[i], right[i])});
    }
    check.passed = check.wrong == 0;
    if (!check.passed) check.cause = pcg::explain_operator(grid, u, y, close);
    if (check.cause.empty() && !check.passed && !setting.problem.single && check.error < 0x1p32) {
        check.cause = "the error is that of float: is anything in the double version a float?";
    }
    return check;
}

// ---------------------------------------------------------------------------------------------------------------
// The preconditioner

rungs::Check check_precondition(const Setting& setting, const Field& u, const Field& y) {
    const Grid& grid = setting.grid;
    const std::size_t n = grid.cells();
    rungs::Check check;
    check.measure = "deviation from a symmetric, linear M near A^-1 / what float explains";
    check.tolerance = 1;
    check.of = 1;
    check.passed = true;
    const auto fail = [&](const std::string& cause) {
        check.passed = false, check.wrong = 1, check.error = infinity, check.cause = cause;
        return check;
    };
    const auto vector = [&](const Field& all, std::size_t i) { return std::span(all).subspan(i * n, n); };
    if (n == 0) return check;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (std::isfinite(y[i])) continue;
        return fail("element " + std::to_string(i % n) + " of vector " + std::to_string(i / n) +
                    " is no finite number: is every vector written, and y = 0 at the start of the cycle?");
    }
    // One rounding of a residual reaches y through M, which is about A^-1: at most 1 / (smallest eigenvalue)
    // times as large, and in the mean over the waves far less. Four rounding floors of that are generous.
    const double unit = unit_of(setting.problem), gain = 1 / pcg::eigenvalue(grid, 1);
    const auto size = [](std::span<const double> v) { return std::sqrt(pcg::dot(v, v)); };
    const auto blur = [&](std::size_t i) { return 4 * unit * (4 * grid.d * gain + 1) * size(vector(y, i)); };
    const auto within = [&](double deviation, double allowed) {
        check.error = std::max(check.error, deviation > 0 ? deviation / allowed : 0.0);
        return deviation <= allowed;
    };
    for (std::size_t i = 0; i < probes; ++i) {
        const double energy = pcg::dot(vector(u, i), vector(y, i));
        if (!(energy > 0) && size(vector(u, i)) > 0) {
            return fail("u.M u is " + number(energy) + ": M is not positive definite");
        }
    }
    Field sum(n);
    for (std::size_t i = 0; i < n; ++i) sum[i] = y[3 * n + i] - y[i] - y[n + i];
    if (!within(size(sum), blur(0) + blur(1) + blur(3))) {
        return fail(
            "M (u + v) is not M u + M v: does the cycle begin with y = 0, and do the same for every u?");
    }
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const double here = pcg::dot(vector(u, i), vector(y, j)),
                         there = pcg::dot(vector(u, j), vector(y, i));
            const double allowed = blur(j) * size(vector(u, i)) + blur(i) * size(vector(u, j));
            if (within(std::abs(here - there), allowed)) continue;
            return fail("u.M v = " + number(here) + " and v.M u = " + number(there) +
                        ": M is not symmetric. Are the colours in the opposite order on the way up, and is "
                        "the restriction "
                        "the transpose of the interpolation?");
        }
    }
    for (const std::size_t i : {2, 0, 1}) {
        const Field exact = pcg::solution(grid, vector(u, i));
        const double ratio = pcg::dot(vector(u, i), vector(y, i)) / pcg::dot(vector(u, i), exact);
        if (ratio >= least_eigenvalue && ratio <= largest_eigenvalue) continue;
        return fail((i == 2 ? "on the smoothest wave M is " : "on random data M is ") + number(ratio) +
                    " times A^-1" +
                    (i == 2
                         ? ": is the coarse residual scaled by 4, once? The coarse A has no h^2 in it either"
                         : ""));
    }
    return check;
}

// ---------------------------------------------------------------------------------------------------------------
// Solves

/// What a rung left.
struct Answer {
    Field x;
    std::span<const double> history;
    int outcome, iterations;
};

/// Holds an answer against the oracle's trace. Each test leaves a cause and ends the comparison, or the next
/// one relies on it.
class Comparison {
  public:
    Comparison(const Setting& setting, const Field& b, const Answer& answer)
        : setting_(setting), b_(b), got_(answer), trace_(expected(setting, b)) {
        compare_outcome() && compare_history() && compare_stop() && compare_residual() && compare_count() &&
            compare_solution();
    }

    const std::string& cause() const { return cause_; }
    double worst() const { return worst_; }  ///< largest deviation over what is allowed
    bool passed() const { return cause_.empty() && worst_ <= 1; }

  private:
    /// Conjugate gradients in double. Of the preconditioned ones only how they begin and have to end.
    static Trace expected(const Setting& setting, const Field& b) {
        if (setting.problem.method == Method::cg && !setting.is("overflow")) {
            return pcg::conjugate_gradients(setting.grid, b, setting.limit, setting.tolerance);
        }
        Trace trace = pcg::conjugate_gradients(setting.grid, b, 0, setting.tolerance);
        if (trace.outcome == pcg::limit_reached && setting.is("overflow")) trace.outcome = pcg::breakdown;
        if (trace.outcome == pcg::limit_reached && setting.limit > 0 && setting.tolerance > 0)
            trace.outcome = pcg::converged, trace.iterations = -1;  // after a number not known
        if (trace.outcome == pcg::limit_reached) trace.iterations = setting.limit;
        return trace;
    }

    bool fail(const std::string& cause) {
        cause_ = cause;
        worst_ = infinity;
        return false;
    }
    /// Notes a deviation. @returns whether it is allowed; false for NaN
    bool within(double deviation, double allowed) {
        const double ratio = deviation == 0 ? 0 : deviation / allowed;
        if (!(ratio <= worst_)) worst_ = ratio;
        return ratio <= 1;
    }
    bool is(std::string_view name) const { return setting_.is(name); }
    bool plain() const { return setting_.problem.method == Method::cg; }
    bool sized() const { return is("huge") || is("tiny"); }
    double scale() const { return trace_.history.front(); }  ///< ||b||
    double claimed() const { return got_.history[static_cast<std::size_t>(got_.iterations)]; }

    bool compare_outcome() {
        using namespace pcg;
        const int outcome = got_.outcome, k = got_.iterations, limit = setting_.limit;
        if (outcome < converged || outcome > diverged)
            return fail("outcome[0] is " + std::to_string(outcome) + ", which is no Outcome");
        if (k < 0 || k > limit) {
            return fail("outcome[1] says " + std::to_string(k) + " iterations; the limit is " +
                        std::to_string(limit));
        }
        for (const double value : got_.x) {
            if (std::isfinite(value)) continue;
            return fail(
                "x has elements that are not finite: was it set to 0 at the start, and written in full?");
        }
        if (outcome == trace_.outcome) return true;
        if (is("unattainable") && (outcome == limit_reached || outcome == converged)) return true;
        std::string cause = std::string("says ") + name_of(outcome) + " after " + std::to_string(k) +
                            " iterations; right is " + name_of(trace_.outcome);
        if (trace_.iterations >= 0) cause += " after " + std::to_string(trace_.iterations);
        if (sized()) {
            cause += setting_.problem.single
                         ? ". The squares of b's elements leave the range of float: are all sums "
                           "formed in double, from products in double?"
                         : ". b's elements leave the range of float: is what becomes a float "
                           "divided by its norm before?";
        } else if (trace_.outcome == breakdown) {
            cause += ". p.Ap is no number that could be divided by here";
        } else if (trace_.outcome == diverged) {
            cause += ". b has an element that is no finite number: that has to be reported";
        } else if (outcome == limit_reached && !plain()) {
            cause += ": with a good preconditioner a few iterations are enough. " + steps();
        } else if (const std::string first = first_deviation(); !first.empty()) {
            cause += ". " + first;
        }
        return fail(cause);
    }

    /// The first norms of the history, for a reader.
    std::string steps() const {
        std::string text = "||r|| is";
        const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(got_.iterations) + 1, 5);
        for (std::size_t k = 0; k < count; ++k) text += (k ? ", " : " ") + number(got_.history[k]);
        return text + (count == 5 ? ", ..." : "");
    }

    double allowed_at(std::size_t k) const {
        return k == 0 ? 1e-9 * scale()
                      : path_tolerance(setting_.problem) * trace_.history[k] + floors * rounding();
    }

    std::string first_deviation() const {
        const std::size_t have =
            std::min(static_cast<std::size_t>(got_.iterations) + 1, trace_.history.size());
        for (std::size_t k = 0; k < have; ++k) {
            if (!(std::abs(got_.history[k] - trace_.history[k]) <= allowed_at(k))) return explain(k);
        }
        return {};
    }

    bool compare_history() {
        const std::size_t have = static_cast<std::size_t>(got_.iterations) + 1;
        if (got_.history.size() < have) return fail("the history is too short");
        for (std::size_t k = 0; k < have; ++k) {
            const double h = got_.history[k];
            if (!(h >= 0) && std::isfinite(trace_.history[0]))
                return fail("||r|| after " + std::to_string(k) + " iterations is " + number(h));
        }
        for (std::size_t k = 0; k < std::min(have, trace_.history.size()); ++k) {
            const double right = trace_.history[k], h = got_.history[k];
            if (!std::isfinite(right) && !std::isfinite(h)) continue;
            // Close to what T can resolve, the oracle's path is not the only honest one.
            if (k > 0 && right < 20 * rounding()) break;
            if (within(std::abs(h - right), allowed_at(k))) continue;
            return fail(explain(k));
        }
        return true;
    }

    std::string explain(std::size_t k) const {
        const double h = got_.history[k], right = trace_.history[k];
        std::string cause = "||r|| after " + std::to_string(k) + " iterations is " + number(h) +
                            " instead of " + number(right);
        if (sized()) return cause + ": are sums of squares formed in double?";
        if (std::abs(h - right * right) < 1e-3 * right * right)
            return cause + ": is that r.r, without the root?";
        if (k == 0 && std::abs(h - right) < 1e-4 * right) {
            return cause +
                   ": off by a rounding of float. Are sums formed in double, from products in double?";
        }
        if (k == 0)
            return cause + ": that is ||b||, a root of a sum of squares in double. Is the last cell in it?";
        if (k + 1 < trace_.history.size() && std::abs(h - trace_.history[k + 1]) < 1e-4 * h) {
            return cause + ": that is the residual one iteration later";
        }
        if (std::abs(h - trace_.history[k - 1]) < 1e-6 * h) {
            return cause +
                   ": that is the residual one iteration earlier. Was the step made, and with the new r?";
        }
        if (const auto known = pcg::explain_history(
                setting_.grid, b_, got_.history.first(static_cast<std::size_t>(got_.iterations) + 1));
            !known.empty()) {
            return cause + ": " + known;
        }
        if (!setting_.problem.single && std::abs(h - right) < 1e-3 * right) {
            return cause + ": is anything a float that ought to be a double?";
        }
        if (k == 1) {
            return cause +
                   ": the first step is wrong. Is A p right at the boundary and in the last cells, and is "
                   "p.Ap complete?";
        }
        if (setting_.problem.method == Method::cg && right <= setting_.tolerance * trace_.history[0] &&
            h > 2 * right) {
            return cause +
                   ", and the steps before were right: r had become small, so b - A x was computed, and x "
                   "is not what r believes. Has x taken every step, alpha p with the p of that step?";
        }
        return cause +
               ", and the steps before were right: are all sums cleared before each iteration, and does p "
               "take beta times itself?";
    }

    bool compare_stop() {
        using namespace pcg;
        const auto k = static_cast<std::size_t>(got_.iterations);
        const double threshold = setting_.tolerance * got_.history[0],
                     slack = 1 + 1e-12;  // the root of a square
        if (got_.outcome == converged && !(got_.history[k] <= threshold * slack)) {
            return fail("converged is claimed at ||r|| = " + number(got_.history[k]) +
                        ", above tolerance ||b|| = " + number(threshold));
        }
        for (std::size_t j = 0; j < k; ++j) {
            if (got_.history[j] * slack <= threshold) {
                return fail("||r|| was small enough after " + std::to_string(j) + " iterations, and " +
                            std::to_string(k) +
                            " were done. (Where x was not, the history holds what replaced r)");
            }
        }
        if (got_.outcome == limit_reached && got_.iterations != setting_.limit) {
            return fail("the limit is " + std::to_string(setting_.limit) + " iterations; " +
                        std::to_string(k) + " were done");
        }
        return true;
    }

    bool compare_residual() {
        if (!std::isfinite(scale())) {  // no step can be made
            return std::all_of(got_.x.begin(), got_.x.end(), [](double v) { return v == 0; }) ||
                   fail("no step can be made here, so x has to be 0");
        }
        const double found = pcg::residual_norm(setting_.grid, b_, got_.x);
        const double threshold = setting_.tolerance * scale();
        const double rounded =
            floors * pcg::rounding_floor(setting_.grid, b_, got_.x, unit_of(setting_.problem));
        if (got_.outcome == pcg::converged) {
            if (within(std::max(found - threshold, 0.0), rounded + 1e-9 * threshold)) {
                if (!is("unattainable")) return true;
                // There the rounding of x itself decides, and honest claims are those that x can keep.
                if (found <= 4 * threshold) return true;
            }
            return fail("converged is claimed, and ||b - A x|| is " + number(found) +
                        ", above tolerance ||b|| = " + number(threshold) +
                        ": the residual that r carries along has drifted away from that of x" + last_cells());
        }
        if (is("unattainable")) return true;  // r has parted from b - A x, as it may
        if (within(std::abs(found - claimed()), rounded + 1e-3 * claimed())) return true;
        return fail("||b - A x|| is " + number(found) + ", and the history ends with " + number(claimed()) +
                    last_cells());
    }

    std::string last_cells() const {
        if (trace_.x.size() != got_.x.size() || got_.iterations != trace_.iterations) return {};
        for (std::size_t i = 0; i < got_.x.size(); ++i) {
            if (std::abs(got_.x[i] - trace_.x[i]) <= 0.01 * (std::abs(trace_.x[i]) + 1e-2 * scale()))
                continue;
            return ". x[" + std::to_string(i) + "] is " + number(got_.x[i]) + " instead of " +
                   number(trace_.x[i]) + (i + 1 == got_.x.size() ? ", the last one" : "");
        }
        return {};
    }

    bool compare_count() {
        const int k = got_.iterations;
        if (got_.outcome != pcg::converged || is("unattainable")) {
            return k == trace_.iterations || is("unattainable") ||
                   fail("reported after " + std::to_string(k) + " iterations instead of " +
                        std::to_string(trace_.iterations));
        }
        if (plain()) {
            const int right = trace_.iterations, spread = std::max(1, right / 50);
            return within(std::abs(k - right), spread) ||
                   fail("took " + std::to_string(k) + " iterations; conjugate gradients in double take " +
                        std::to_string(right));
        }
        const int most =
            setting_.problem.method == Method::mixed ? most_mixed : most_multigrid(setting_.grid.d);
        return k <= most || fail("took " + std::to_string(k) + " iterations; " + std::to_string(most) +
                                 " are enough with a preconditioner as it should be. " + steps());
    }

    /// The error in the norm in which conjugate gradients work, against the oracle's iterate and against what
    /// theory promises of k iterations (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. 2003,
    /// theorem 6.29, and 9.1 for preconditioned ones).
    bool compare_solution() {
        if (!std::isfinite(scale()) || is("unattainable") || got_.outcome == pcg::breakdown) return true;
        const Grid& grid = setting_.grid;
        if (grid.cells() > 300'000) return true;  // the solution takes too long; the residual was right
        const auto distance = [&](const Field& from) {
            Field error = got_.x;
            for (std::size_t i = 0; i < error.size(); ++i) error[i] -= from[i];
            return pcg::norm_in(grid, error);
        };
        // ||e||_A = sqrt(r.A^-1 r): a rounding of the residual may count for so much.
        const double rounded =
            floors * rounding() / std::sqrt(grid.cells() > 0 ? pcg::eigenvalue(grid, 1) : 1);
        const Field exact = pcg::solution(grid, b_);
        const double whole = pcg::norm_in(grid, exact);
        if (plain() && got_.iterations == trace_.iterations) {
            const double path = path_tolerance(setting_.problem) * whole;
            if (!within(distance(trace_.x), path + rounded))
                return fail("x is not the iterate after " + std::to_string(got_.iterations) + " steps");
        }
        if (setting_.problem.method == Method::mixed) return true;
        const double kappa = plain() ? pcg::condition(grid) : largest_eigenvalue / least_eigenvalue;
        const double bound = pcg::chebyshev_bound(kappa, got_.iterations) * whole, error = distance(exact);
        if (error <= 1.001 * bound + path_tolerance(setting_.problem) * whole + rounded) return true;
        return fail("the error in the A-norm is " + number(error) + ", and theory allows " + number(bound) +
                    " after " + std::to_string(got_.iterations) + " iterations with a condition number of " +
                    number(kappa));
    }

    /// Rounding of a residual at the solution that was found.
    double rounding() const {
        if (rounding_ < 0)
            rounding_ = pcg::rounding_floor(setting_.grid, b_, trace_.x, unit_of(setting_.problem));
        return rounding_;
    }

    const Setting& setting_;
    const Field& b_;
    const Answer& got_;
    Trace trace_;
    std::string cause_;
    double worst_ = 0;
    mutable double rounding_ = -1;
};

class PcgExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        const Setting setting = setting_of(which);
        return setting.problem.single ? make_of<float>(which, setting) : make_of<double>(which, setting);
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        const Setting setting = setting_of(which);
        const bool applies = setting.problem.method == Method::apply;
        const bool solves = !applies && setting.problem.method != Method::precondition;
        if (outputs.size() != (solves ? 3 : 1) || (solves && outputs[2].as<int>().size() != 2)) {
            throw std::invalid_argument("a solve leaves x, a history and two ints; all else leaves y");
        }
        const Field in = in_double(task.inputs[0]), out = in_double(outputs[0]);
        if (out.size() != in.size()) throw std::length_error("the output has not the size of the input");
        if (applies) return check_apply(setting, in, out);
        if (!solves) return check_precondition(setting, in, out);
        const auto outcome = outputs[2].as<int>();
        const Answer answer{out, outputs[1].as<double>(), outcome[0], outcome[1]};
        const Comparison comparison(setting, in, answer);
        rungs::Check check;
        check.measure = "deviation of residuals, stop and x / what rounding explains";
        check.tolerance = 1;
        check.of = 1;
        check.passed = comparison.passed();
        check.error = comparison.worst();
        check.cause = comparison.cause();
        if (!check.passed) check.wrong = 1;
        return check;
    }

    std::vector<std::string> size_names(const rungs::Case& /*which*/) const override {
        return {"d", "side", "limit"};
    }

    rungs::Work work(const rungs::Case& which) const override {
        const Setting setting = setting_of(which);
        const auto n = static_cast<double>(setting.grid.cells());
        const double bytes = setting.problem.single ? 4 : 8, terms = 2 * setting.grid.d + 1;
        if (setting.problem.method == Method::apply) return {2 * bytes * n, terms * n};
        // An iteration has to read r and p and to write them, and to add to x; see the lesson.
        if (setting.problem.method == Method::precondition) return {20 * n * probes, 40 * n * probes};
        double iterations = std::min<double>(setting.limit, std::max(0, setting.limit - 30) / 2 + 1);
        if (setting.problem.method != Method::cg) iterations = std::min(setting.limit, 20);
        if (setting.is("limit") || setting.is("unattainable") || which.sizes.size() == 3)
            iterations = setting.limit;
        return {5 * bytes * n * iterations, (2 * terms + 10) * n * iterations, 2 * bytes * n};
    }

  private:
    template <class T>
    static rungs::Task make_of(const rungs::Case& which, const Setting& setting) {
        const std::vector<T> field = make_field<T>(which, setting);
        const std::size_t off = setting.is("unaligned") ? 1 + which.seed % 3 : 0;
        const rungs::Number d(static_cast<long long>(setting.grid.d)),
            side(static_cast<long long>(setting.grid.L));
        if (setting.problem.method == Method::apply) {
            return {{rungs::Array::of("u", field, off)},
                    {rungs::Array::unset<T>("y", field.size(), off)},
                    {d, side}};
        }
        if (setting.problem.method == Method::precondition) {
            return {{rungs::Array::of("u", field, off)},
                    {rungs::Array::unset<T>("y", field.size(), off)},
                    {d, side, rungs::Number(static_cast<long long>(probes))}};
        }
        return {{rungs::Array::of("b", field, off)},
                {rungs::Array::unset<T>("x", field.size(), off),
                 rungs::Array::unset<double>("history", static_cast<std::size_t>(setting.limit) + 1),
                 rungs::Array::unset<int>("outcome", 2)},
                {d, side, rungs::Number(static_cast<long long>(setting.limit)),
                 rungs::Number(setting.tolerance)}};
    }
};

}  // namespace

RUNGS_EXAM(PcgExam)
