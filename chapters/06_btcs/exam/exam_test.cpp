// The exam itself on trial: honest solvers must pass, each classic fault must fail, and the cause that a
// student reads must be the right one. No rung is called here: the faults are built into float solvers
// on the host.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "btcs.cuh"
#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "ladder/chapter_exam.hpp"
#include "ladder/exam_trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"
#include "rungs/norms.hpp"

namespace {

using btcs::System;
using btcs::Vector;
using Catch::Matchers::ContainsSubstring;
using Floats = std::vector<float>;

const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// What can be wrong with a solver of systems.
enum class Fault {
    none,
    exchanged,        ///< lower and upper
    upper_for_lower,  ///< one band used twice
    shifted_lower,    ///< lower[i + 1] in row i
    transposed,       ///< lower[i + 1] and upper[i - 1]
    no_upper,
    wrong_sign,
    last_lost,    ///< row n - 1 is not looked at
    last_unseen,  ///< row n - 2 does not look at it
    last_alone,   ///< rows n - 2 and n - 1 do not know of each other
    half_precision,
    early_stop,  ///< at 16 times the tolerance
    one_sweep,
    short_overlap,    ///< tiles that see 8 rows beyond their ends
    not_checked,      ///< of dominance
    float_sums,       ///< |lower| + |upper| in float
    double_sums,      ///< and in double
    strict,           ///< > for >=
    last_reported,    ///< of the rows that are not dominated
    nan_overlooked,   ///< |diagonal| < sum refuses, and a NaN is not smaller
    outside_counts,   ///< lower[0] is part of row 0
    zero_passes,      ///< 0 >= 0
    answers_anyway,   ///< x of a system that was refused
    claims_solved,    ///< though the iteration did not converge
    leaks,            ///< x a little too large everywhere: heat out of nothing
    other_layout,     ///< of a batch
    global_row,       ///< status counts rows of the whole batch
    neighbour_fails,  ///< one bad system spoils the next
    untouched,        ///< nothing is written
};

enum class Method { thomas, parallel_reduction, cancelling_reduction, jacobi, descent };

/// What a solver leaves.
struct Left {
    Floats x;
    long long status = btcs::solved;
};

float rounded(float value, bool half) {  // to the 11 digits of half precision
    if (!half || value == 0 || !std::isfinite(value)) return value;
    return rungs::rounded(value, 11);
}

Floats thomas(const System& s, bool half = false) {
    const std::size_t n = s.rows();
    Floats ratio(n), x(n);
    for (std::size_t i = 0; i < n; ++i) {
        const float left = i > 0 ? s.lower[i] : 0;
        const float pivot = s.diagonal[i] - (i > 0 ? left * ratio[i - 1] : 0);
        ratio[i] = rounded(i + 1 < n ? s.upper[i] / pivot : 0, half);
        x[i] = rounded((s.rhs[i] - (i > 0 ? left * x[i - 1] : 0)) / pivot, half);
    }
    for (std::size_t i = n; i-- > 1;) x[i - 1] = rounded(x[i - 1] - ratio[i - 1] * x[i], half);
    return x;
}

/// Every row at distances 1, 2, 4, ... What a diagonal has more than its neighbours, `excess`, is
/// kept instead of the diagonal, and only ever added to; or, if `cancels`, the diagonal is what is
/// left of a difference.
Floats parallel_reduction(const System& s, bool cancels) {
    const std::size_t n = s.rows();
    Floats a = s.lower, b = s.diagonal, c = s.upper, d = s.rhs, excess(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (i == 0) a[i] = 0;
        if (i + 1 == n) c[i] = 0;
        if (b[i] < 0) a[i] = -a[i], b[i] = -b[i], c[i] = -c[i], d[i] = -d[i];
        excess[i] = std::abs(a[i]) > std::abs(c[i]) ? (b[i] - std::abs(a[i])) - std::abs(c[i])
                                                    : (b[i] - std::abs(c[i])) - std::abs(a[i]);
    }
    for (std::size_t stride = 1; stride < n; stride *= 2) {
        const Floats a0 = a, b0 = b, c0 = c, d0 = d, e0 = excess;
        for (std::size_t i = 0; i < n; ++i) {
            a[i] = c[i] = 0;
            const auto eliminate = [&](float own, std::size_t j, float back, float on, float& reaches) {
                const float k = own / b0[j];
                d[i] -= k * d0[j];
                reaches = -k * on;
                excess[i] += std::abs(k) * e0[j] + (k * back < 0 ? 2 * std::abs(k * back) : 0);
                b[i] -= k * back;
            };
            if (i >= stride) eliminate(a0[i], i - stride, c0[i - stride], a0[i - stride], a[i]);
            if (i + stride < n) eliminate(c0[i], i + stride, a0[i + stride], c0[i + stride], c[i]);
            if (!cancels) b[i] = excess[i] + std::abs(a[i]) + std::abs(c[i]);
        }
    }
    for (std::size_t i = 0; i < n; ++i) d[i] /= b[i];
    return d;
}

/// Tiles of 64 rows that are solved as if nothing were further away than `overlap` rows.
Floats tiles(const System& s, std::size_t overlap) {
    const std::size_t n = s.rows();
    Floats x(n);
    for (std::size_t begin = 0; begin < n; begin += 64) {
        const std::size_t from = begin - std::min(begin, overlap), to = std::min(n, begin + 64 + overlap);
        System tile;
        for (std::size_t i = from; i < to; ++i) {
            tile.lower.push_back(s.lower[i]), tile.diagonal.push_back(s.diagonal[i]);
            tile.upper.push_back(s.upper[i]), tile.rhs.push_back(s.rhs[i]);
        }
        const Floats part = thomas(tile);
        for (std::size_t i = begin; i < std::min(n, begin + 64); ++i) x[i] = part[i - from];
    }
    return x;
}

/// The largest backward error of a row.
double worst_row(const System& s, const Floats& x) {
    const Vector own(x.begin(), x.end());
    const Vector errors =
        btcs::backward_errors(s.matrix(), s.right(), own, rungs::max_norm(std::span<const double>(own)));
    return rungs::max_norm(std::span<const double>(errors));
}

/// Jacobi or steepest descent, until the promise holds with room to spare.
Left iterate(const System& s, bool descends, Fault fault) {
    const std::size_t n = s.rows();
    const btcs::Matrix a = s.matrix();
    const double enough = btcs::tolerance * (fault == Fault::early_stop ? 16 : 0.75);
    Left left{Floats(n, 0.0f)};
    for (int k = 0;; ++k) {
        const double error = worst_row(s, left.x);
        if (error <= enough || (fault == Fault::one_sweep && k == 1)) return left;
        if (std::isnan(error) || k == btcs::iteration_limit) {
            left.status = fault == Fault::claims_solved ? btcs::solved : btcs::not_converged;
            return left;
        }
        Vector r = btcs::product(a, Vector(left.x.begin(), left.x.end()));
        for (std::size_t i = 0; i < n; ++i) r[i] = s.rhs[i] - r[i];
        double rr = 0, rAr = 0;
        const Vector q = btcs::product(a, r);
        for (std::size_t i = 0; i < n; ++i) rr += r[i] * r[i], rAr += r[i] * q[i];
        if (descends && !(rAr > 0) && rr > 0) return {left.x, btcs::indefinite};
        for (std::size_t i = 0; i < n; ++i)
            left.x[i] += static_cast<float>(r[i] * (descends ? rr / rAr : 1 / a.diagonal[i]));
    }
}

/// The row that a solver's own test refuses, or -1.
long long refused(const System& s, Fault fault) {
    const std::size_t n = s.rows();
    long long found = -1;
    for (std::size_t i = 0; i < n && fault != Fault::not_checked; ++i) {
        const float own = std::abs(s.diagonal[i]);
        const float left = i > 0 || fault == Fault::outside_counts ? std::abs(s.lower[i]) : 0;
        const float right = i + 1 < n ? std::abs(s.upper[i]) : 0;
        const double sum = static_cast<double>(left) + static_cast<double>(right);
        bool good = own >= sum && own != 0;
        // Exact: for a tie, what the larger of the two leaves of the diagonal.
        if (own == sum) good = own != 0 && own - std::max(left, right) >= std::min(left, right);
        if (fault == Fault::float_sums) good = own >= left + right && own != 0;
        if (fault == Fault::double_sums) good = own >= sum && own != 0;
        if (fault == Fault::strict) good = own > sum;
        if (fault == Fault::nan_overlooked) good = !(own < sum) && own != 0;
        if (fault == Fault::zero_passes) good = own >= sum;
        if (good) continue;
        if (found < 0 || fault == Fault::last_reported) found = static_cast<long long>(i);
    }
    return found;
}

Left solve(System s, Method method, Fault fault) {
    const std::size_t n = s.rows();
    const long long row = refused(s, fault);
    if (row >= 0 && fault != Fault::answers_anyway) return {Floats(n, not_a_number), row};
    if (n > 0) s.lower[0] = s.upper[n - 1] = 0;
    const System whole = s;
    const auto at = [](const Floats& band, std::size_t i) { return i < band.size() ? band[i] : 0; };
    for (std::size_t i = 0; i < n; ++i) {
        if (fault == Fault::exchanged) s.lower[i] = whole.upper[i], s.upper[i] = whole.lower[i];
        if (fault == Fault::upper_for_lower) s.lower[i] = whole.upper[i];
        if (fault == Fault::shifted_lower) s.lower[i] = at(whole.lower, i + 1);
        if (fault == Fault::transposed)
            s.lower[i] = at(whole.upper, i - 1), s.upper[i] = at(whole.lower, i + 1);
        if (fault == Fault::no_upper) s.upper[i] = 0;
        if (fault == Fault::wrong_sign) s.lower[i] = -whole.lower[i], s.upper[i] = -whole.upper[i];
    }
    if (n > 1 && (fault == Fault::last_lost || fault == Fault::last_alone))
        s.upper[n - 2] = s.lower[n - 1] = 0;
    if (n > 1 && fault == Fault::last_unseen) s.upper[n - 2] = 0;
    if (n > 0 && fault == Fault::last_lost) s.rhs[n - 1] = 0;
    Left left;
    left.status = row;  // -1 is solved
    if (method == Method::thomas) left.x = thomas(s, fault == Fault::half_precision);
    if (method == Method::parallel_reduction) left.x = parallel_reduction(s, false);
    if (method == Method::cancelling_reduction) left.x = parallel_reduction(s, true);
    if (method == Method::jacobi || method == Method::descent)
        left = iterate(s, method == Method::descent, fault);
    if (fault == Fault::short_overlap) left.x = tiles(s, 8);
    for (float& value : left.x) {
        if (fault == Fault::leaks) value += 3e-7f;
        if (fault == Fault::untouched) value = not_a_number;
    }
    return left;
}

/// Solves the systems of a task, one or many.
rungs::Check judge(const rungs::Case& which, Method method, Fault fault) {
    const rungs::Task task = exam->make(which);
    const bool interleaved = which.problem == "interleaved", many = which.sizes.size() == 2;
    const auto m = static_cast<std::size_t>(which.sizes[0]);
    const std::size_t count = many ? static_cast<std::size_t>(which.sizes[1]) : 1;
    const bool other = fault == Fault::other_layout;
    Floats x(m * count);
    std::vector<long long> status(count);
    for (std::size_t s = 0; s < count; ++s) {
        const auto at = [&](std::size_t i) { return interleaved != other ? i * count + s : s * m + i; };
        System system;
        Floats* const parts[] = {&system.lower, &system.diagonal, &system.upper, &system.rhs};
        for (std::size_t k = 0; k < 4; ++k) {
            for (std::size_t i = 0; i < m; ++i) parts[k]->push_back(task.inputs[k].as<float>()[at(i)]);
        }
        const Left left = solve(system, method, other ? Fault::not_checked : fault);
        for (std::size_t i = 0; i < m; ++i) x[at(i)] = left.x[i];
        status[s] = left.status;
        if (fault == Fault::global_row && left.status >= 0) status[s] += static_cast<long long>(s * m);
        if (fault == Fault::neighbour_fails && s > 0 && status[s - 1] >= 0) status[s] = status[s - 1];
    }
    if (fault == Fault::untouched) status.assign(count, 0x5a5a5a5a);
    std::vector<rungs::Array> outputs{rungs::Array::of("x", x)};
    many ? outputs.push_back(rungs::Array::of("status", std::vector<int>(status.begin(), status.end())))
         : outputs.push_back(rungs::Array::of("status", status));
    return exam->check(which, task, outputs);
}

// ---------------------------------------------------------------------------------------------------------------
// Marches

/// What can be wrong with a march.
enum class Slip {
    none,
    no_theta,        ///< BTCS, whatever theta is
    theta_reversed,  ///< theta and 1 - theta exchanged
    old_ends,        ///< the implicit half takes left[s]
    new_ends,        ///< the explicit half takes left[s + 1]
    late_ends,       ///< the explicit half takes left[s - 1], but in every 4th step
    odd_ends,        ///< the explicit half takes left[s ^ 1]
    constant_ends,
    no_ends,
    ends_exchanged,
    one_step_less,
    stale,      ///< every step starts from the first values
    last_lost,  ///< the last row is not stepped
    half_precision,
    half_r,
    no_explicit,  ///< only the implicit half of each step
    no_implicit,  ///< only the explicit one
    short_rim,    ///< pieces of 64 that see 3 rows beyond their ends
    untouched,
};

Floats step(const Floats& u, float r, float theta, float before[2], float after[2]) {
    const std::size_t n = u.size();
    const float now = (1 - theta) * r, then = theta * r;
    System s{Floats(n, -then), Floats(n, 1 + 2 * then), Floats(n, -then), Floats(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const float left = i > 0 ? u[i - 1] : before[0], right = i + 1 < n ? u[i + 1] : before[1];
        s.rhs[i] = u[i] + now * (left - 2 * u[i] + right);
    }
    if (n > 0) s.rhs[0] += then * after[0], s.rhs[n - 1] += then * after[1];
    return thomas(s);
}

Floats march(const rungs::Task& task, Slip slip) {
    const auto start = task.inputs[0].as<float>(), left = task.inputs[1].as<float>(),
               right = task.inputs[2].as<float>();
    const auto steps = static_cast<std::size_t>(task.numbers[1].integer);
    auto r = static_cast<float>(task.numbers[2].real), theta = static_cast<float>(task.numbers[3].real);
    if (slip == Slip::no_theta) theta = 1;
    if (slip == Slip::theta_reversed) theta = 1 - theta;
    if (slip == Slip::half_r) r /= 2;
    if (slip == Slip::no_explicit) r *= theta, theta = 1;
    if (slip == Slip::no_implicit) r *= 1 - theta, theta = 0;
    const Floats first(start.begin(), start.end());
    Floats u = first;
    for (std::size_t k = 0; k + (slip == Slip::one_step_less) < steps; ++k) {
        const std::size_t b = slip == Slip::new_ends                 ? k + 1
                              : slip == Slip::late_ends && k % 4 > 0 ? k - 1
                              : slip == Slip::odd_ends               ? k ^ 1
                              : slip == Slip::constant_ends          ? 0
                                                                     : k;
        const std::size_t a = slip == Slip::old_ends ? k : slip == Slip::constant_ends ? 0 : k + 1;
        float before[2] = {left[b], right[b]}, after[2] = {left[a], right[a]};
        if (slip == Slip::no_ends) before[0] = before[1] = after[0] = after[1] = 0;
        if (slip == Slip::ends_exchanged) std::swap(before[0], before[1]), std::swap(after[0], after[1]);
        if (slip == Slip::stale) before[0] = left[0], before[1] = right[0];
        const Floats old = u;
        u = step(slip == Slip::stale ? first : u, r, theta, before, after);
        if (slip == Slip::last_lost && !u.empty()) u.back() = old.back();
        for (float& value : u) value = rounded(value, slip == Slip::half_precision);
        if (slip != Slip::short_rim) continue;
        for (std::size_t begin = 0; begin < u.size(); begin += 64) {
            const std::size_t from = begin - std::min<std::size_t>(begin, 3),
                              to = std::min(u.size(), begin + 67);
            float out[2] = {from > 0 ? 0 : before[0], to < u.size() ? 0 : before[1]};
            float in[2] = {from > 0 ? 0 : after[0], to < u.size() ? 0 : after[1]};
            const Floats piece =
                step({old.begin() + static_cast<long>(from), old.begin() + static_cast<long>(to)}, r, theta,
                     out, in);
            for (std::size_t i = begin; i < std::min(u.size(), begin + 64); ++i) u[i] = piece[i - from];
        }
    }
    return slip == Slip::untouched ? Floats(u.size(), not_a_number) : u;
}

rungs::Check judge(const rungs::Case& which, Slip slip) {
    const rungs::Task task = exam->make(which);
    const std::vector<rungs::Array> outputs{rungs::Array::of("u", march(task, slip)), task.outputs[1]};
    return exam->check(which, task, outputs);
}

}  // namespace

TEST_CASE("honest float solvers pass, with room to spare", "[exam][tolerance]") {
    const std::pair<const char*, Method> solvers[] = {{"01_tridiagonal_jacobi", Method::jacobi},
                                                      {"04_tridiagonal_descent", Method::descent},
                                                      {"05_thomas", Method::thomas},
                                                      {"07_parallel_reduction", Method::cancelling_reduction},
                                                      {"10_hybrid_reduction", Method::parallel_reduction},
                                                      {"11_partitioned", Method::thomas}};
    for (const auto& [rung, method] : solvers) {
        rungs::Honest answers;
        CAPTURE(rung);
        for (std::uint64_t key = 1; key <= 2; ++key) {
            for (const rungs::Case& which : rungs::manifest_cases(key, rung)) {
                // Alone, parallel reduction finds each x on its own: where nothing is left of the
                // dominance, what neighbours are wrong by no longer cancels in a row.
                const bool hard =
                    which.kind == "barely" || which.kind == "one_sided" || which.kind == "mixed";
                if (method == Method::parallel_reduction && hard) continue;
                // Its start is the solution; the solvers here begin at 0.
                const Method used = which.kind == "warm" ? Method::thomas : method;
                answers.require(which, judge(which, used, Fault::none));
            }
        }
        answers.require_room(0.8, 0.02);
    }
}

TEST_CASE("honest float marches pass, with room to spare", "[exam][tolerance]") {
    rungs::Honest answers;
    for (std::uint64_t key = 1; key <= 3; ++key) {
        for (const rungs::Case& which : rungs::manifest_cases(key, "15_time_loop"))
            answers.require(which, judge(which, Slip::none));
    }
    answers.require_room(0.5, 0.02);
}

TEST_CASE("a wrong solver fails, and its cause is named", "[exam][diagnosis]") {
    struct Mutant {
        const char* name;
        Fault fault;
        Method method;
        rungs::Case which;
        const char* cause;
    };
    const auto thomas = Method::thomas, jacobi = Method::jacobi, descent = Method::descent;
    const Mutant mutants[] = {
        {"bands exchanged",
         Fault::exchanged,
         thomas,
         {"solve", {100}, "dominant", 5},
         "lower and upper exchanged"},
        {"bands exchanged",
         Fault::exchanged,
         thomas,
         {"interleaved", {37, 5}, "dominant", 5},
         "lower and upper exchanged"},
        // Of two rows, what else takes lower away gives the same x.
        {"upper for lower",
         Fault::upper_for_lower,
         thomas,
         {"solve", {2}, "dominant", 5},
         "as if there were no row 0"},
        {"no upper",
         Fault::no_upper,
         thomas,
         {"contiguous", {2, 3}, "dominant", 5},
         "as if there were no row 1"},
        {"upper for lower",
         Fault::upper_for_lower,
         thomas,
         {"solve", {100}, "dominant", 5},
         "upper in place of lower"},
        {"off by one", Fault::shifted_lower, thomas, {"solve", {100}, "dominant", 5}, "lower of row i + 1"},
        {"transposed", Fault::transposed, thomas, {"solve", {100}, "dominant", 5}, "transposed"},
        {"no upper", Fault::no_upper, thomas, {"contiguous", {33, 3}, "dominant", 5}, "without upper"},
        {"wrong sign", Fault::wrong_sign, jacobi, {"sweeps", {67}, "rod", 5}, "wrong sign"},
        {"last row lost", Fault::last_lost, thomas, {"solve", {65}, "dominant", 5}, "last row is lost"},
        {"last row lost", Fault::last_lost, descent, {"symmetric", {65}, "rod", 5}, "last row is lost"},
        {"last row unseen", Fault::last_unseen, thomas, {"solve", {65}, "dominant", 5}, "and the last two?"},
        {"last row alone",
         Fault::last_alone,
         thomas,
         {"solve", {65}, "dominant", 5},
         "last row is left alone"},
        {"half precision", Fault::half_precision, thomas, {"solve", {300}, "rod", 5}, "shorter type"},
        {"half precision",
         Fault::half_precision,
         thomas,
         {"interleaved", {300, 3}, "dominant", 5},
         "equations do not hold"},
        {"early stop", Fault::early_stop, jacobi, {"sweeps", {300}, "rod", 5}, "stop too early"},
        {"early stop", Fault::early_stop, descent, {"symmetric", {300}, "insulated", 5}, "stop too early"},
        {"one sweep", Fault::one_sweep, jacobi, {"sweeps", {300}, "dominant", 5}, "one sweep"},
        {"overlap too short",
         Fault::short_overlap,
         thomas,
         {"solve", {1000}, "rod", 5},
         "How far is a row felt"},
        {"overlap where none helps",
         Fault::short_overlap,
         thomas,
         {"solve", {1000}, "one_sided", 5},
         "How far is a row felt"},
        {"diagonals that cancel",
         Fault::none,
         Method::cancelling_reduction,
         {"contiguous", {8192, 7}, "barely", 5},
         "equations do not hold"},
        {"dominance not checked",
         Fault::not_checked,
         thomas,
         {"solve", {67}, "weak_row", 5},
         "is not dominated by its diagonal"},
        {"dominance not checked",
         Fault::not_checked,
         thomas,
         {"contiguous", {67, 1}, "weak_first", 5},
         "is not dominated by its diagonal"},
        {"dominance not checked",
         Fault::not_checked,
         jacobi,
         {"sweeps", {67}, "weak_last", 5},
         "row 66 is ("},
        {"sum in float", Fault::float_sums, thomas, {"solve", {67}, "hairline", 5}, "can add up"},
        {"sum in double", Fault::double_sums, thomas, {"solve", {67}, "hairline", 5}, "can add up"},
        {"strictly dominated only",
         Fault::strict,
         thomas,
         {"solve", {33}, "barely", 5},
         "may be as large as"},
        {"last of two rows",
         Fault::last_reported,
         thomas,
         {"solve", {67}, "two_weak", 5},
         "first such row counts"},
        {"NaN overlooked",
         Fault::nan_overlooked,
         thomas,
         {"solve", {67}, "nan_diagonal", 5},
         "no comparison with a NaN"},
        {"NaN overlooked",
         Fault::nan_overlooked,
         thomas,
         {"solve", {67}, "nan_beside", 5},
         "no comparison with a NaN"},
        {"outside of A",
         Fault::outside_counts,
         thomas,
         {"solve", {67}, "dominant", 5},
         "outside of A does not count"},
        {"zero row", Fault::zero_passes, thomas, {"solve", {67}, "zero_row", 5}, "its diagonal is 0"},
        {"answers anyway", Fault::answers_anyway, thomas, {"solve", {67}, "weak_row", 5}, "instead of NaN"},
        {"claims to be solved",
         Fault::claims_solved,
         jacobi,
         {"sweeps", {2}, "singular", 5},
         "has no solution"},
        {"heat out of nothing", Fault::leaks, thomas, {"solve", {1000}, "insulated", 5}, "lets no heat out"},
        {"systems one after the other",
         Fault::other_layout,
         thomas,
         {"interleaved", {37, 45}, "dominant", 5},
         "right for systems one after the other"},
        {"interleaved systems",
         Fault::other_layout,
         thomas,
         {"contiguous", {37, 45}, "dominant", 5},
         "row i of system s is element s * m + i"},
        {"row of the whole batch",
         Fault::global_row,
         thomas,
         {"interleaved", {37, 97}, "mixed", 5},
         "is not dominated by its diagonal"},
        {"one spoils the next",
         Fault::neighbour_fails,
         thomas,
         {"contiguous", {37, 97}, "mixed", 5},
         "and is dominated"},
        {"nothing written", Fault::untouched, thomas, {"solve", {67}, "dominant", 5}, "was it written"},
    };
    for (const Mutant& mutant : mutants) {
        const rungs::Check check = judge(mutant.which, mutant.method, mutant.fault);
        CAPTURE(mutant.name, mutant.which.problem, mutant.which.kind, check.cause, check.error);
        rungs::require_cause(check, mutant.cause);
        CHECK(check.things == "systems");
    }
}

TEST_CASE("a slip in an elimination is told from all others", "[exam][diagnosis]") {
    // The rungs' elimination in float, from both ends or from one: a slip is a factor that ought to be -1.
    struct Factors {
        float pivot, rhs, back;
        const char* cause;
    };
    const Factors slips[] = {{-1, -1, -1, ""},
                             {1, -1, -1, "diagonal loses"},
                             {0, -1, -1, "diagonal as it is"},
                             {-1, 1, -1, "right-hand side loses"},
                             {-1, 0, -1, "right-hand side as it is"},
                             {-1, -1, 1, "back substitution has a wrong sign"},
                             {-1, -1, 0, "back substitution is missing"}};
    for (const Factors& slip : slips) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const rungs::Case which{"solve", {64}, "dominant", seed};
            const rungs::Task task = exam->make(which);
            const auto band = [&](std::size_t i) { return task.inputs[i].as<float>(); };
            const auto lower = band(0), diagonal = band(1), upper = band(2), rhs = band(3);
            Floats ratio(64), x(64);
            for (std::size_t i = 0; i < 64; ++i) {
                const float before = i > 0 ? lower[i] : 0;
                const float pivot = diagonal[i] + (i > 0 ? slip.pivot * before * ratio[i - 1] : 0);
                ratio[i] = i < 63 ? upper[i] / pivot : 0;
                x[i] = (rhs[i] + (i > 0 ? slip.rhs * before * x[i - 1] : 0)) / pivot;
            }
            for (std::size_t i = 63; i-- > 0;) x[i] += slip.back * ratio[i] * x[i + 1];
            const rungs::Check check = exam->check(
                which, task,
                std::vector<rungs::Array>{rungs::Array::of("x", x),
                                          rungs::Array::of("status", std::vector<long long>{-1})});
            CAPTURE(slip.pivot, slip.rhs, slip.back, seed, check.cause);
            if (*slip.cause == 0)
                CHECK(check.passed);
            else
                rungs::require_cause(check, slip.cause);
        }
    }
}

TEST_CASE("a wrong march fails, and its cause is named", "[exam][diagnosis]") {
    struct Mutant {
        const char* name;
        Slip slip;
        const char* kind;
        const char* cause;
    };
    const Mutant mutants[] = {
        {"theta ignored", Slip::no_theta, "crank_nicolson", "this is BTCS"},
        {"theta ignored", Slip::no_theta, "theta", "this is BTCS"},
        {"theta reversed", Slip::theta_reversed, "theta", "exchanged"},
        {"ends of the old level", Slip::old_ends, "ends", "ends of the old time level"},
        {"ends of the old level", Slip::old_ends, "btcs", "ends of the old time level"},
        {"ends of the new level", Slip::new_ends, "ends", "ends of the new time level"},
        {"late ends", Slip::late_ends, "explicit", "the ends are a step late"},
        {"other ends", Slip::odd_ends, "explicit", "of which time are the values at the ends"},
        {"ends that stay", Slip::constant_ends, "ends", "change in time"},
        {"ends forgotten", Slip::no_ends, "btcs", "ends were taken as 0"},
        {"ends exchanged", Slip::ends_exchanged, "btcs", "left and right are exchanged"},
        {"one step missing", Slip::one_step_less, "btcs", "one step is missing"},
        {"stale right-hand side", Slip::stale, "btcs", "right-hand side is stale"},
        {"last row lost", Slip::last_lost, "crank_nicolson", "last row"},
        {"half precision", Slip::half_precision, "btcs", "shorter type"},
        {"half of r", Slip::half_r, "btcs", "march for r ="},
        {"explicit half forgotten", Slip::no_explicit, "theta", "the explicit half of the steps is missing"},
        {"implicit half forgotten", Slip::no_implicit, "theta", "the implicit half of the steps is missing"},
        {"halo too narrow", Slip::short_rim, "spike", "pieces of the rod"},
        {"halo too narrow", Slip::short_rim, "btcs", "pieces of the rod"},
        {"nothing written", Slip::untouched, "btcs", "was it written"},
    };
    for (const Mutant& mutant : mutants) {
        const rungs::Check check = judge({"march", {700, 6}, mutant.kind, 5}, mutant.slip);
        CAPTURE(mutant.name, mutant.kind, check.cause, check.error, check.tolerance);
        rungs::require_cause(check, mutant.cause);
    }
}

TEST_CASE("the oracle's elimination is the one worked out by hand", "[exam][oracle]") {
    const Vector x = btcs::solve({{0, 1, 1}, {4, 4, 4}, {1, 1, 0}}, {5, 6, 5});
    for (const double value : x) CHECK(std::abs(value - 1) < 1e-15);
    CHECK(btcs::solve({{}, {}, {}}, {}).empty());
    CHECK(btcs::solve({{7}, {2}, {7}}, {3}) == Vector{1.5});
    CHECK_THROWS_AS(btcs::solve({{}, {1}, {}}, {1}), std::length_error);
}

TEST_CASE("the size of what adds up to a solution is that where nothing cancels", "[exam][oracle]") {
    const btcs::Matrix a{{0, -1}, {2, -2}, {1, 0}};
    CHECK(btcs::solve(a, {3, -3}) == Vector{1, 1});
    CHECK(btcs::size_of_terms(a, {3, -3}) == 3);
    CHECK(btcs::backward_errors(a, {3, -3}, {1, 2}, 4) == Vector{1.0 / 12, 2.0 / 12});
}

TEST_CASE("dominance is decided exactly", "[exam][oracle]") {
    const auto row = [](double lower, double diagonal, double upper) {
        return btcs::first_not_dominant({{0, lower, 0}, {1, diagonal, 1}, {0, upper, 0}});
    };
    CHECK(row(-1, 2, -1) == 3);
    CHECK(row(-1, -2, 1) == 3);
    CHECK(row(-1, 1.999, -1) == 1);
    CHECK(row(1, 1, 0x1p-60) == 1);
    CHECK(row(0x1p-120, 1, 1) == 1);
    CHECK(row(0x1p100, 0x1p100, 0x1p-100) == 1);
    CHECK(row(0, 0, 0) == 1);
    CHECK(row(0, not_a_number, 0) == 1);
    CHECK(row(not_a_number, 1, 0) == 1);
    CHECK(btcs::first_not_dominant({{not_a_number}, {1}, {not_a_number}}) == 1);
}

TEST_CASE("the oracle marches with first and second order, and at the speed of theory", "[exam][oracle]") {
    constexpr std::size_t n = 31;
    constexpr double end = 0.1, pi = std::numbers::pi;
    Vector sine(n);
    for (std::size_t i = 0; i < n; ++i) sine[i] = std::sin(pi * static_cast<double>(i + 1) / (n + 1));
    const double lambda = 4 * std::pow((n + 1) * std::sin(pi / 2 / (n + 1)), 2);
    for (const auto& [theta, order] : {std::pair(1.0, 1.0), {0.5, 2.0}}) {
        double before = 0;
        for (std::size_t steps = 16; steps <= 256; steps *= 2) {
            const double r = end / static_cast<double>(steps) * (n + 1) * (n + 1);
            const Vector cold(steps + 1, 0.0);
            const Vector u = btcs::march({{n, steps, r, theta}, sine, cold, cold}).u;
            const double factor = std::pow(btcs::amplification(r, theta, pi / (n + 1)), steps);
            double error = 0;
            for (std::size_t i = 0; i < n; ++i) {
                REQUIRE(std::abs(u[i] - factor * sine[i]) < 1e-12);
                error = std::max(error, std::abs(u[i] - std::exp(-lambda * end) * sine[i]));
            }
            CAPTURE(theta, steps, before / error);
            if (before > 0) CHECK(std::abs(std::log2(before / error) - order) < 0.05);
            before = error;
        }
    }
}

TEST_CASE("a rod of any conductivity keeps its heat behind tight ends", "[exam][oracle]") {
    const Vector faces = btcs::insulated_faces(200, 3);
    CHECK(*std::max_element(faces.begin(), faces.end()) >
          10 * *std::min_element(faces.begin() + 1, faces.end() - 1));
    Vector u(200);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = i % 7 == 0;
    double heat = 0;
    for (const double value : u) heat += value;
    for (int k = 0; k < 50; ++k) u = btcs::solve(btcs::heat_matrix(faces, 2), u);
    for (const double value : u) heat -= value;
    CHECK(std::abs(heat) < 1e-11);
}

TEST_CASE("the influence of a row decays as it is said to", "[exam][oracle]") {
    for (const double r : {0.5, 10.0, 1000.0}) {
        constexpr std::size_t n = 4001;
        Vector rhs(n, 0.0);
        rhs[n / 2] = 1;
        const Vector x = btcs::solve({Vector(n, -r), Vector(n, 1 + 2 * r), Vector(n, -r)}, rhs);
        CAPTURE(r);
        CHECK(std::abs(x[n / 2 + 6] / x[n / 2 + 5] - btcs::decay(r)) < 1e-9);
    }
}

TEST_CASE("tasks have the arrays that the contract says", "[exam][cases]") {
    for (const char* rung : {"01_tridiagonal_jacobi", "04_tridiagonal_descent", "05_thomas",
                             "08_cyclic_reduction", "10_hybrid_reduction", "11_partitioned",
                             "12_jacobi_steps", "14_overlapped_steps", "15_time_loop"}) {
        for (const rungs::Case& which : rungs::manifest_cases(1, rung)) {
            CAPTURE(rung, which.problem, which.sizes, which.kind, which.seed);
            const rungs::Task task = exam->make(which);
            REQUIRE(task.outputs.size() == 2);
            if (which.problem != "symmetric" || which.sizes[0] == 0 || which.kind.substr(0, 3) == "nan" ||
                which.kind == "zero_row" || which.kind == "hairline") {
                continue;
            }
            const auto lower = task.inputs[0].as<float>(), upper = task.inputs[2].as<float>();
            for (std::size_t i = 0; i + 1 < lower.size(); ++i) REQUIRE(upper[i] == lower[i + 1]);
        }
    }
}

TEST_CASE("linear elements are exact at their nodes", "[exam][oracle]") {
    // -u'' = 1 on nodes that are not evenly spaced: u = x (1 - x) / 2.
    const Vector nodes{0, 0.125, 0.5, 0.625, 1};
    btcs::Matrix a;
    Vector rhs;
    for (std::size_t i = 0; i + 2 < nodes.size(); ++i) {
        const double before = nodes[i + 1] - nodes[i], behind = nodes[i + 2] - nodes[i + 1];
        a.lower.push_back(-1 / before), a.diagonal.push_back(1 / before + 1 / behind),
            a.upper.push_back(-1 / behind);
        rhs.push_back((before + behind) / 2);
    }
    const Vector u = btcs::solve(a, rhs);
    for (std::size_t i = 0; i < u.size(); ++i)
        CHECK(std::abs(u[i] - nodes[i + 1] * (1 - nodes[i + 1]) / 2) < 1e-15);
}

TEST_CASE("rows and recurrences are judged number by number", "[exam][diagnosis]") {
    const auto judged = [](const rungs::Case& which, const auto& edit) {
        const rungs::Task task = exam->make(which);
        Floats z(task.inputs[0].count);
        float last = 0;
        for (std::size_t i = 0; i < z.size(); ++i)
            z[i] = last = static_cast<float>(task.numbers[1].real) * last + task.inputs[0].as<float>()[i];
        edit(z);
        return exam->check(which, task, std::vector<rungs::Array>{rungs::Array::of("z", z)});
    };
    for (const char* kind : {"random", "spike", "long_memory", "no_memory"}) {
        const rungs::Case which{"recurrence", {3000}, kind, 5};
        CHECK(judged(which, [](Floats&) {}).passed);
        const rungs::Check check = judged(which, [](Floats& z) { z[2999] += 0.01f; });
        CHECK_FALSE(check.passed);
        CHECK(check.things == "elements");
    }
    CHECK_THROWS_AS(exam->make({"matrix", {3, 3}, "random"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"elements", {-1}, "random"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"short", {1025, 1}, "dominant"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"explicit", {9, 1}, "btcs"}), std::invalid_argument);
}

TEST_CASE("the exam refuses what it does not know", "[exam][cases]") {
    CHECK_THROWS_WITH(exam->make({"invert", {10}, "dominant"}), ContainsSubstring("invert"));
    CHECK_THROWS_WITH(exam->make({"solve", {10}, "dense"}), ContainsSubstring("dense"));
    CHECK_THROWS_WITH(exam->make({"march", {10, 2}, "dense"}), ContainsSubstring("it has btcs"));
    CHECK_THROWS_WITH(exam->make({"symmetric", {10}, "graded"}), ContainsSubstring("not symmetric"));
    CHECK_THROWS_AS(exam->make({"solve", {10, 2}, "dominant"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"contiguous", {10}, "dominant"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"interleaved", {8193, 1}, "dominant"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"march", {-1, 2}, "btcs"}), std::invalid_argument);
}
