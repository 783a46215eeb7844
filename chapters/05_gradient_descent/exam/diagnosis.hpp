#pragma once
// Why a solve's residuals are wrong. A mistake in a step leaves other residuals, not noise: this computes
// those of the common mistakes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "rungs/iteration_exam.hpp"

namespace gradient_descent {

/// The sums of the rows that `takes(i, j)` does not leave out.
using Takes = std::function<bool(std::size_t i, std::size_t j)>;
inline std::vector<double> product_of(const System& system, std::span<const double> v, const Takes& takes,
                                      bool transposed) {
    const auto n = static_cast<std::size_t>(system.n);
    std::vector<double> q(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (takes(i, j)) q[i] += static_cast<double>(system.a[transposed ? j * n + i : i * n + j]) * v[j];
        }
    }
    return q;
}

/// A solve with a mistake. Products leave elements out, in r.Ar or in all of them, and steps are `factor` as
/// long, or as the rule for alpha says.
struct Mistake {
    Takes takes = [](std::size_t, std::size_t) { return true; };
    bool in_residual = true;
    double factor = 1;
    bool upside_down = false;  ///< alpha is r.Ar / r.r
    bool divides = true;       ///< Gauss-Jacobi: by the diagonal
    double weight = 1;         ///< by which each product is too large
    bool transposed = false;   ///< columns are multiplied where rows should be
};

inline std::vector<double> faulty_history(const System& system, bool descends, const Mistake& mistake,
                                          int count) {
    const auto n = static_cast<std::size_t>(system.n);
    std::vector<double> r(system.b.begin(), system.b.end()), history;
    const auto squares = [&](const std::vector<double>& v, const std::vector<double>& w) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += v[i] * w[i];
        return sum;
    };
    for (int k = 0;; ++k) {
        const double rr = squares(r, r);
        history.push_back(std::sqrt(rr));
        if (k == count || !(rr > 0)) return history;
        std::vector<double> step = r;
        if (descends) {
            const double rAr = squares(r, product_of(system, r, mistake.takes, mistake.transposed));
            if (!(rAr > 0)) return history;
            const double alpha = mistake.factor * (mistake.upside_down ? rAr / rr : rr / rAr);
            for (double& value : step) value *= alpha;
        } else {
            for (std::size_t i = 0; i < n; ++i)
                step[i] *= mistake.factor / (mistake.divides ? static_cast<double>(system.a[i * n + i]) : 1);
        }
        const std::vector<double> q = mistake.in_residual
                                          ? product_of(system, step, mistake.takes, mistake.transposed)
                                          : product(system, step);
        for (std::size_t i = 0; i < n; ++i) r[i] -= mistake.weight * q[i];
    }
}

/// Why a solve broke down after `iterations` of which `right` were right, though A is positive definite and
/// the solve had to end after `end`.
/// @param tiny  the residual was then as small as float can tell
inline std::string why_no_curvature(int right, int iterations, int end, bool tiny) {
    if (right < iterations || (iterations == 0 && end > 0))
        return ". A is positive definite: is r.Ar complete, and cleared before each iteration?";
    if (iterations == end) {
        return ": the solve had already converged and went on. Is convergence tested before r.Ar? A kernel "
               "that is queued beyond the end finds s->finished set and has nothing to do, like the one that "
               "ends an iteration";
    }
    const std::string before = ". A is positive definite, and the steps before were right: in the next one ";
    if (tiny) {
        return before +
               "r.Ar is not positive. An r that is carried along becomes 0 after many steps: is the residual "
               "that is computed from x stored in r, and not its r.r alone recorded?";
    }
    return before +
           "no product adds to r.Ar. Is each kernel launched in every iteration? In a graph: what is "
           "launched on a stream that is not captured runs once, and is not part of it";
}

/// Why a solve ended without an outcome, where `done` norms after ||r_0|| were recorded; -1: not even that
/// one. Sweeps of Gauss-Jacobi are in no graph.
inline std::string why_no_outcome(int done, int limit, bool descends) {
    const std::string inclusive =
        "the limit is " + std::to_string(limit) + ". Does k go up to it, inclusive?";
    if (done < 0) {
        return "not even ||r_0|| was recorded" + (limit == 0 && !descends ? ", and " + inclusive : ".") +
               (descends ? " Is what records it launched?"
                         : " Is a sweep launched, and its record? If so, does anything else write to the "
                           "memory of s, which rungs::stream_scratch returns to all who ask on this stream?");
    }
    if (done == 0) {
        return std::string("the history has ||r_0|| alone, so no iteration was made. Is what makes them ") +
               (descends ? "launched? In a graph: does its conditional node's word begin with 1?"
                         : "launched?");
    }
    const std::string ends = "the history ends after " + rungs::iterations(done) + ", and ";
    if (done + 1 == limit) return ends + inclusive;
    return ends + "there the solve was not at its end. Are iterations launched up to `limit`?" +
           (descends ? " In a graph: the conditional node is a While, and its word is 1 until "
                       "s->finished is set"
                     : "");
}

/// The common mistakes in the steps of either method.
inline std::vector<rungs::Suspect> suspects_of(const System& system, bool descends) {
    const auto n = static_cast<std::size_t>(system.n);
    std::vector<rungs::Suspect> all;
    if (n > 1000) return all;  // takes too long
    const auto add = [&](std::string cause, const Mistake& mistake) {
        all.push_back({std::move(cause),
                       [=, &system](int count) { return faulty_history(system, descends, mistake, count); }});
    };
    // Loops that end with the last whole vector, warp or block, or one element early.
    std::set<std::size_t> ends;
    for (std::size_t part = 2; part <= 512; part *= 2) ends.insert(n / part * part);
    if (n > 0) ends.insert(n - 1);
    const auto place = [](const char* what, std::size_t end) {
        return std::string(what) + " from " + std::to_string(end) + " on are not multiplied";
    };
    for (const std::size_t end : ends) {
        if (end == n) continue;
        const Takes elements = [end](std::size_t, std::size_t j) { return j < end; };
        const Takes rows = [end](std::size_t i, std::size_t) { return i < end; };
        add(place("the elements of a row", end), {.takes = elements});
        add(place("the rows", end), {.takes = rows});
        if (descends) {
            add(place("the elements of a row", end) + " for r.Ar", {.takes = elements, .in_residual = false});
            add(place("the rows", end) + " for r.Ar", {.takes = rows, .in_residual = false});
        }
    }
    add("only the elements up to the diagonal are multiplied",
        {.takes = [](std::size_t i, std::size_t j) { return j <= i; }});
    add("of each row only every 32nd element is multiplied: are the sums of the lanes added?",
        {.takes = [](std::size_t, std::size_t j) { return j % 32 == 0; }});
    if (!descends) {
        add("columns are multiplied where rows should be, which is right only for a symmetric A",
            {.transposed = true});
        add("A x is 32 times too large: does each lane multiply the whole row?", {.weight = 32});
        add("the step is not divided by the diagonal", {.divides = false});
        add("the step goes the wrong way: x gains r / a_ii, and r is b - A x. Are both signs right?",
            {.factor = -1});
        return all;
    }
    add("alpha is upside down: it is r.r / r.Ar", {.upside_down = true});
    add("the step goes the wrong way: x gains alpha r, and an r that is carried along loses alpha A r. Are "
        "both signs right?",
        {.factor = -1});
    for (const int threads : {2, 32, 64, 128, 256, 512, 1024}) {
        const std::string times = std::to_string(threads);
        add("r.Ar is " + times +
                " times too large: do all threads that share a row, or a block, add its sum?",
            {.factor = 1.0 / threads});
        add("r.r is " + times + " times too large: do all threads of a block add its sum?",
            {.factor = static_cast<double>(threads)});
    }
    return all;
}

}  // namespace gradient_descent
