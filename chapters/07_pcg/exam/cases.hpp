#pragma once
// The cases of chapter 7's exam: which grids, right-hand sides and probes a rung is tried on.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exam/reference.hpp"
#include "pcg.cuh"
#include "rungs/exam.hpp"
#include "rungs/random.hpp"

namespace pcg {

/// The vectors on which a preconditioner is probed: two random ones, the smoothest wave, and the sum of
/// the first two.
inline constexpr std::size_t probes = 4;

/// What is asked of a rung.
enum class Method { apply, cg, mixed, multigrid, precondition, smooth, restrict_, prolong };

/// Whether a problem is a part of a V-cycle.
inline bool is_part(Method method) {
    return method == Method::smooth || method == Method::restrict_ || method == Method::prolong;
}

/// A problem of the manifest.
struct Problem {
    const char* name;
    Method method;
    bool single;  ///< float arrays, else double
};

inline constexpr Problem problems[] = {
    {"apply", Method::apply, true},
    {"apply_double", Method::apply, false},
    {"cg", Method::cg, true},
    {"cg_double", Method::cg, false},
    {"mixed", Method::mixed, false},
    {"multigrid", Method::multigrid, false},
    {"precondition", Method::precondition, true},
    {"smooth_red", Method::smooth, true},
    {"smooth_black", Method::smooth, true},
    {"restrict", Method::restrict_, true},
    {"prolong", Method::prolong, true},
};

// What a preconditioner is probed with, and u of an operator.
inline constexpr const char* probe_kinds[] = {"random", "unaligned"};
inline constexpr const char* part_kinds[] = {"random", "unaligned"};
inline constexpr const char* apply_kinds[] = {"random", "point", "unaligned", "huge", "nan", "infinite"};

// b of a solve.
inline constexpr const char* solve_kinds[] = {
    "random",     //
    "charge",     // 1 in one point
    "sine",       // an eigenvector: one iteration
    "constant",   //
    "unaligned",  //
    "huge",       // as large as the contract allows: squares overflow in float, and doubles are no floats
    "tiny",       // as small as it allows
    "limit",      // a fixed number of iterations
    "none",       // not one iteration
    "zero",       // b = 0
    "nan",        //
    "infinite",   //
    "overflow",   // p.Ap is beyond the range: a breakdown
    "infinite_product",  // A p is infinity less infinity: a breakdown, and no step can be made
    "unattainable",      // a tolerance that rounding does not allow
};

inline constexpr int limited = 7;         ///< iterations of "limit", where the case has no third size
inline constexpr int unattainable = 120;  ///< iterations of "unattainable", in cg

inline double unit_of(const Problem& problem) { return problem.single ? 0x1p-24 : 0x1p-53; }

inline const Problem& problem_of(const rungs::Case& which) {
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

inline Setting setting_of(const rungs::Case& which) {
    const Problem& problem = problem_of(which);
    const bool solves = problem.method == Method::cg || problem.method == Method::mixed ||
                        problem.method == Method::multigrid;
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
    if (is_part(problem.method)) look(part_kinds);
    if (setting.kind.empty()) {
        throw std::invalid_argument("problem " + which.problem + " has no data of kind '" + which.kind +
                                    "'; it has " + known);
    }
    const std::vector<long long>& sizes = which.sizes;
    if (sizes.size() < 2 || sizes.size() > (solves ? 3u : 2u) || sizes[0] < 1 || sizes[0] > most_dimensions ||
        sizes[1] < 0 || sizes.back() < 0 || std::pow(sizes[1], sizes[0]) > 2e9) {
        throw std::invalid_argument("a case of " + which.problem +
                                    " has the sizes d (1 to 6) and side, and for solves a limit");
    }
    setting.grid = {static_cast<int>(sizes[0]), static_cast<int>(sizes[1])};
    if (!solves) return setting;
    // Chebyshev's bound says how many iterations are enough; twice that is plenty.
    const double enough = 0.5 * std::log(2 / setting.tolerance) * std::sqrt(condition(setting.grid));
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

/// How far ||r_k|| of an honest solve may be from the oracle's, relative to it, where rounding of the
/// residual itself does not count. In finite precision conjugate gradients do what they would do exactly for
/// a matrix whose eigenvalues are smeared a little (A. Greenbaum, Lin. Alg. Appl. 113, 1989); so the paths
/// part late, and on this exam's grids, where no iteration counts beyond a few times side, by less than a
/// tenth of this (exam_test.cpp measures it). Where so many iterations may be made as there are points, the
/// last ones are another matter: see parts_late().
inline double path_tolerance(const Problem& problem) { return problem.single ? 1e-4 : 1e-9; }

/// Honest residuals stay below one rounding floor; the exam allows four.
inline constexpr double floors = 4;

/// Whether solves of A x = b that round differently stay on the oracle's path, with room to spare. After so
/// many iterations as there are points, exact ones would be at their end; how near they come to it depends
/// on b and on every rounding before, and for one b in some hundreds an honest solve in float is further off
/// than path_tolerance() there. Such a b cannot tell right from wrong.
inline bool parts_late(const Setting& setting, std::span<const double> b) {
    constexpr double room = 0.3;  // of what is allowed
    constexpr std::uint64_t trials = 8;
    const double unit = unit_of(setting.problem);
    const Trace right = conjugate_gradients(setting.grid, b, setting.limit, setting.tolerance);
    const double rounding = floors * rounding_floor(setting.grid, b, right.x, unit);
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
        const Trace other =
            rounded_conjugate_gradients(setting.grid, b, setting.limit, setting.tolerance, unit, trial);
        for (std::size_t k = 0; k < std::min(right.history.size(), other.history.size()); ++k) {
            const double allowed = path_tolerance(setting.problem) * right.history[k] + rounding;
            if (std::abs(other.history[k] - right.history[k]) > room * allowed) return false;
        }
    }
    return true;
}

/// A right-hand side at random, on which honest solves agree.
template <class T>
std::vector<T> draw_field(const rungs::Case& which, const Setting& setting) {
    const std::size_t n = setting.grid.points();
    const bool may_end = setting.problem.method == Method::cg && n <= static_cast<std::size_t>(setting.limit);
    // One in four is drawn again where 1-D grids are as small as the exam's. On large ones none would do.
    constexpr std::uint64_t again = 16, last = 80;  // streams of the seed that nothing else draws from
    for (std::uint64_t stream = 1;; stream = std::max(again, stream + 1)) {
        std::vector<T> v = rungs::random_field<T>(n, which.seed_of(stream), rungs::signed_uniform);
        if (!may_end || stream == last || parts_late(setting, Field(v.begin(), v.end()))) return v;
    }
}

template <class T>
std::vector<T> make_field(const rungs::Case& which, const Setting& setting) {
    const Grid& grid = setting.grid;
    const std::size_t n = grid.points();
    const bool single = setting.problem.single;
    std::vector<T> v = draw_field<T>(which, setting);
    if (setting.problem.method == Method::precondition) {
        const Field smooth = sine(grid, 1);
        std::vector<T> all = v, other = rungs::random_field<T>(n, which.seed_of(2), rungs::signed_uniform);
        all.insert(all.end(), other.begin(), other.end());
        for (const double value : smooth) all.push_back(static_cast<T>(value));
        for (std::size_t i = 0; i < n; ++i) all.push_back(v[i] + other[i]);
        return all;
    }
    if (n == 0) return v;
    const std::size_t somewhere = rungs::random_word(which.seed_of(3), 0) % n;
    const auto scale_by_two_to = [&](int exponent) {
        for (T& value : v) value = std::ldexp(value, exponent);
    };
    if (setting.is("point") || setting.is("charge")) {
        std::fill(v.begin(), v.end(), T(0));
        v[somewhere] = 1;
    }
    if (setting.is("sine") || setting.is("constant") || setting.is("unattainable")) {
        const Field smooth = setting.is("sine") ? sine(grid, 1) : Field(n, 1.0);
        for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>(smooth[i]);
    }
    const bool in_float = single || setting.problem.method == Method::apply;
    // The largest element is from 1/2 to 1 before: the contract's 1e25 and 1e-25, 1e100 and 1e-100.
    if (setting.is("huge")) scale_by_two_to(in_float ? 82 : 331);
    if (setting.is("tiny")) scale_by_two_to(in_float ? -82 : -331);
    if (setting.is("zero")) std::fill(v.begin(), v.end(), T(0));
    if (setting.is("nan")) v[somewhere] = std::numeric_limits<T>::quiet_NaN();
    if (setting.is("infinite")) v[somewhere] = std::numeric_limits<T>::infinity();
    if (setting.is("infinite_product")) std::fill(v.begin(), v.end(), T(single ? 3e38 : 1e308));
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

}  // namespace pcg
