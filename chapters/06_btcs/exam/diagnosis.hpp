#pragma once
// Is a system solved, and if not, why not? Faulty solvers leave the solutions of other systems, not noise:
// of the one with its bands exchanged, of the one without its last row. This computes what the common faults
// would have left and looks whether the answer is one of those.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "btcs.cuh"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "rungs/diagnosis.hpp"
#include "rungs/norms.hpp"

namespace btcs {

/// What is to be said of one system.
struct Finding {
    double error = 0;  ///< largest backward error of a row; infinite where there is more to it
    std::string cause;
    std::vector<rungs::Mismatch> first;  ///< the first five rows that are wrong
    bool passed() const { return error <= tolerance && cause.empty(); }
};

/// Whether `got` is `expected` up to a thousandth of its largest element.
inline bool near(const Vector& got, const Vector& expected) {
    double largest = 0, off = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        const double one = std::abs(got[i] - expected[i]);
        if (!(one <= off)) off = one;
    }
    return off <= 1e-3 * largest;
}

namespace detail {

inline std::string number(double value) { return rungs::to_digits(value, 6); }

inline std::string name_of(long long status) {
    if (status == solved) return "solved";
    if (status == not_converged) return "not_converged";
    if (status == indefinite) return "indefinite";
    return (status >= 0 ? "row " : "") + std::to_string(status);
}

/// Row i in words.
inline std::string row_text(const Matrix& a, std::size_t i) {
    const std::string lower = i > 0 ? number(a.lower[i]) : "-",
                      upper = i + 1 < a.rows() ? number(a.upper[i]) : "-";
    return "row " + std::to_string(i) + " is (" + lower + ", " + number(a.diagonal[i]) + ", " + upper + ")";
}

/// Why the row of a refused system may have been taken for a good one.
inline std::string reason(const Matrix& a, std::size_t i) {
    if (a.diagonal[i] == 0) return "; its diagonal is 0";
    const double left = i > 0 ? a.lower[i] : 0, right = i + 1 < a.rows() ? a.upper[i] : 0;
    if (std::isnan(a.diagonal[i] + left + right))
        return "; no comparison with a NaN is true: test what has to hold";
    if (std::abs(left) + std::abs(right) == std::abs(a.diagonal[i])) {
        return "; the sum beside the diagonal is larger, but by less than floats, or doubles, can add up";
    }
    return "";
}

/// The solution that a faulty solver would have found, with what to say of it.
inline std::string likely_system(const Matrix& a, const Vector& rhs, const Vector& x, const Vector& right) {
    const std::size_t n = a.rows();
    const auto is = [&](const Matrix& other, const Vector& of) {
        const Vector candidate = solve(other, of);
        return near(x, candidate) && !near(right, candidate);
    };
    const auto shifted = [&](const Vector& band, int by) {
        Vector moved(n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const long long from = static_cast<long long>(i) + by;
            if (from >= 0 && from < static_cast<long long>(n))
                moved[i] = band[static_cast<std::size_t>(from)];
        }
        return moved;
    };
    Matrix b = a;
    if (n > 0) b.lower[0] = b.upper[n - 1] = 0;
    const Vector none(n, 0.0);
    if (near(x, none)) return "x is 0 everywhere";
    if (near(x, rhs) && !near(right, rhs)) return "x is the right-hand side";
    if (n == 2) {  // many a mistake takes one of the two neighbours away: the cause says no more than that
        const bool last_alone = is({none, b.diagonal, b.upper}, rhs),
                   first_alone = is({b.lower, b.diagonal, none}, rhs);
        if (last_alone || first_alone) {
            const std::string own = last_alone ? "1" : "0", other = last_alone ? "0" : "1";
            return "x[" + own + "] is rhs[" + own + "] / diagonal[" + own + "], as if there were no row " +
                   other + ": " +
                   (last_alone ? "is a last row left out because none is behind it, or is lower not used?"
                               : "is a first row left out because none is before it, or is upper not used?");
        }
    }
    if (is({none, b.diagonal, none}, rhs)) {
        return "this is rhs / diagonal: one sweep, or a solver that sees no neighbours";
    }
    if (is({b.upper, b.diagonal, b.lower}, rhs)) return "this is the solution with lower and upper exchanged";
    if (is({b.lower, b.diagonal, b.lower}, rhs)) return "this is the solution with lower in place of upper";
    if (is({b.upper, b.diagonal, b.upper}, rhs)) return "this is the solution with upper in place of lower";
    if (is({shifted(b.upper, -1), b.diagonal, shifted(b.lower, 1)}, rhs)) {
        return "this is the solution of the transposed system: lower[i] and upper[i] belong to row i";
    }
    for (const int by : {-1, 1}) {
        const std::string from = by < 0 ? "row i - 1" : "row i + 1";
        if (is({shifted(b.lower, by), b.diagonal, b.upper}, rhs))
            return "this is the solution with lower of " + from + " in row i";
        if (is({b.lower, b.diagonal, shifted(b.upper, by)}, rhs))
            return "this is the solution with upper of " + from + " in row i";
        if (is(b, shifted(rhs, by))) return "this is the solution for the right-hand side of " + from;
    }
    if (is({none, b.diagonal, b.upper}, rhs)) return "this is the solution without lower";
    if (is({b.lower, b.diagonal, none}, rhs)) return "this is the solution without upper";
    Vector minus_lower = b.lower, minus_upper = b.upper;
    for (double& value : minus_lower) value = -value;
    for (double& value : minus_upper) value = -value;
    if (is({minus_lower, b.diagonal, minus_upper}, rhs)) return "the neighbours have the wrong sign";
    if (n > 1) {
        Matrix fewer = b;
        fewer.upper[n - 2] = 0, fewer.lower[n - 1] = 0;
        if (is(fewer, rhs))
            return "the last row is left alone: it and the one before do not know of each other";
        Vector cut = rhs;
        cut[n - 1] = 0;
        if (is(fewer, cut) || is(b, cut)) return "the last row is lost";
        cut = rhs, cut[0] = 0;
        if (is(b, cut)) return "the first row is lost";
    }
    return {};
}

/// Slips of an elimination: what is multiplied into each of its three products, where right is -1; 0 leaves
/// the product out, 1 has its sign wrong.
struct Slips {
    double pivot = -1, rhs = -1, back = -1;
    double met = -1;       ///< in the unknown where elimination from both ends meets
    bool one_met = false;  ///< the unknown below it follows from it, and not from an equation of its own
    bool value_by_diagonal = false, ratio_by_diagonal = false;  ///< divided by that instead of the pivot
};

/// x by elimination with slips, from the top, or from both ends towards the middle.
inline Vector eliminate(const Matrix& a, const Vector& rhs, const Slips& slips, bool both_ends) {
    const auto n = static_cast<long long>(a.rows());
    Vector x(a.rows(), 0.0), ratio(a.rows(), 0.0);
    const auto at = [](const Vector& v, long long i) { return v[static_cast<std::size_t>(i)]; };
    // From row `first`, `count` rows in steps of `step`; leaves x_i = x[i] - ratio[i] x_{i + step}.
    const auto forward = [&](long long first, long long count, long long step) {
        for (long long k = 0; k < count; ++k) {
            const long long i = first + k * step, next = i + step;
            const double before = k == 0 ? 0 : at(step > 0 ? a.lower : a.upper, i);
            const double behind = next < 0 || next >= n ? 0 : at(step > 0 ? a.upper : a.lower, i);
            const double last = k == 0 ? 0 : at(ratio, i - step), value = k == 0 ? 0 : at(x, i - step);
            const double pivot = at(a.diagonal, i) + slips.pivot * before * last;
            const double diagonal = at(a.diagonal, i);
            ratio[static_cast<std::size_t>(i)] = behind / (slips.ratio_by_diagonal ? diagonal : pivot);
            x[static_cast<std::size_t>(i)] =
                (at(rhs, i) + slips.rhs * before * value) / (slips.value_by_diagonal ? diagonal : pivot);
        }
    };
    const auto backward = [&](long long first, long long count, long long step) {
        for (long long k = count - 2; k >= 0; --k) {
            const auto i = static_cast<std::size_t>(first + k * step);
            x[i] += slips.back * ratio[i] * at(x, first + (k + 1) * step);
        }
    };
    const long long half = both_ends ? (n + 1) / 2 : n;
    forward(0, half, 1), forward(n - 1, n - half, -1);
    if (half < n) {
        const auto up = static_cast<std::size_t>(half - 1), down = static_cast<std::size_t>(half);
        const double own = x[up], other = x[down], common = 1 - ratio[up] * ratio[down];
        x[up] = slips.met == 0 ? own : (own + slips.met * ratio[up] * other) / common;
        x[down] = slips.met == 0  ? other
                  : slips.one_met ? other - ratio[down] * x[up]
                                  : (other + slips.met * ratio[down] * own) / common;
    }
    backward(0, half, 1), backward(n - 1, n - half, -1);
    return x;
}

/// The slip in an elimination that leaves x.
inline std::string likely_slip(const Matrix& a, const Vector& rhs, const Vector& x, const Vector& right) {
    const std::pair<Slips, const char*> all[] = {
        {{.pivot = 1},
         "elimination has a wrong sign: a row's diagonal loses what the row before brings into it"},
        {{.pivot = 0},
         "elimination leaves the diagonal as it is: it loses what the row before brings into it"},
        {{.rhs = 1}, "elimination has a wrong sign: a row's right-hand side loses what the row before says"},
        {{.rhs = 0}, "elimination leaves the right-hand side as it is: it loses what the row before says"},
        {{.back = 1},
         "back substitution has a wrong sign: x_k is what elimination left, less what x_{k+1} brings"},
        {{.back = 0}, "back substitution is missing: x is what elimination has left of the right-hand side"},
        {{.value_by_diagonal = true},
         "elimination divides the right-hand side by the diagonal as it was: all of the row is divided "
         "by the pivot"},
        {{.ratio_by_diagonal = true},
         "elimination divides upper by the diagonal as it was: all of the row is divided by the pivot"},
        {{.met = 1}, "where the halves meet, the other side's x has the wrong sign"},
        {{.met = 1, .one_met = true}, "where the halves meet, the other side's x has the wrong sign"},
        {{.met = 0}, "where the halves meet, the other side's x was taken as 0"}};
    double wrong = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        wrong = std::max(wrong, std::abs(x[i] - right[i]));
        size = std::max(size, std::abs(x[i]));
    }
    for (const auto& [slips, cause] : all) {
        for (const bool both_ends : {false, true}) {
            const Vector candidate = eliminate(a, rhs, slips, both_ends);
            double off = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double one = std::abs(x[i] - candidate[i]);
                if (!(one <= off)) off = one;
            }
            if (rungs::explains(off, wrong, 1e-4 * size)) return cause;
        }
    }
    return {};
}

/// Mistakes in parallel reduction, where every row loses both neighbours in every step: what is multiplied
/// into each of its products, where right is -1; 0 leaves the product out, 1 has its sign wrong. The first of
/// two belongs to the row before, the second to the row behind.
struct Missteps {
    double bands[2] = {-1, -1};  ///< the new lower and upper
    double diagonal[2] = {-1, -1};
    double rhs[2] = {-1, -1};
    bool own_diagonal = false;  ///< a neighbour's unknown is replaced with the row's own diagonal
    bool crossed = false;       ///< upper is divided by the row before, lower by the row behind
    bool other_bands = false;   ///< lower of the row before and upper of the row behind go to the diagonal
    bool exchanged = false;     ///< new lower and upper
    bool one_less = false;      ///< the last step is missing
    bool no_division = false;   ///< so is the division at the end
};

inline Vector reduce(const Matrix& a, const Vector& rhs, const Missteps& misstep) {
    struct Row {
        double lower = 0, diagonal = 1, upper = 0, rhs = 0;
    };
    const std::size_t n = a.rows();
    std::vector<Row> rows(n);
    for (std::size_t i = 0; i < n; ++i)
        rows[i] = {i > 0 ? a.lower[i] : 0, a.diagonal[i], i + 1 < n ? a.upper[i] : 0, rhs[i]};
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        if (misstep.one_less && 2 * distance >= n) break;
        const std::vector<Row> old = rows;
        for (std::size_t i = 0; i < n; ++i) {
            const Row before = i >= distance ? old[i - distance] : Row{},
                      behind = i + distance < n ? old[i + distance] : Row{};
            Row& row = rows[i];
            const bool own = misstep.own_diagonal;
            double left = row.lower, right = row.upper;
            if (misstep.crossed) std::swap(left, right);
            left /= own ? row.diagonal : before.diagonal, right /= own ? row.diagonal : behind.diagonal;
            row.lower = misstep.bands[0] * left * before.lower;
            row.upper = misstep.bands[1] * right * behind.upper;
            if (misstep.exchanged) std::swap(row.lower, row.upper);
            row.diagonal += misstep.diagonal[0] * left * (misstep.other_bands ? before.lower : before.upper) +
                            misstep.diagonal[1] * right * (misstep.other_bands ? behind.upper : behind.lower);
            row.rhs += misstep.rhs[0] * left * before.rhs + misstep.rhs[1] * right * behind.rhs;
        }
    }
    Vector x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = rows[i].rhs / (misstep.no_division ? 1 : rows[i].diagonal);
    return x;
}

/// The mistake in a parallel reduction that leaves x.
inline std::string likely_misstep(const Matrix& a, const Vector& rhs, const Vector& x, const Vector& right) {
    std::vector<std::pair<Missteps, std::string>> all = {
        {{.own_diagonal = true},
         "a row replaces a neighbour's unknown by what the neighbour says: lower is divided by the diagonal "
         "of the row before, upper by that of the row behind, not by its own"},
        {{.bands = {1, 1}},
         "parallel reduction has a wrong sign: the new lower is -a times that of the row before, the new "
         "upper -b times "
         "that of the row behind"},
        {{.diagonal = {0, 0}},
         "parallel reduction leaves the diagonal as it is: it loses what both neighbours "
         "bring into it"},
        {{.rhs = {0, 0}},
         "parallel reduction leaves the right-hand side as it is: it loses what both neighbours say"},
        {{.one_less = true},
         "the last step of parallel reduction is missing: distances are 1, 2, 4, ... as long as "
         "they are below m"},
        {{.no_division = true},
         "this is the right-hand side that reduction leaves: x is that, divided by the diagonal "
         "that it leaves"}};
    if (a.rows() <= static_cast<std::size_t>(most_short_rows)) {
        all.push_back({{.crossed = true},
                       "lower and upper are exchanged in parallel reduction: lower is divided by the "
                       "diagonal of the row before, upper by that of the row behind"});
        all.push_back(
            {{.other_bands = true},
             "lower and upper are exchanged in parallel reduction: the diagonal loses a times upper "
             "of the row before, and b times lower of the row behind"});
        all.push_back(
            {{.exchanged = true},
             "lower and upper are exchanged in parallel reduction: the new lower comes from the row "
             "before, the new upper from the row behind"});
        const char* const multiples[] = {"a times the row before", "b times the row behind"};
        for (const int which : {0, 1, 2}) {  // the row before, the one behind, both
            const double before = which != 1 ? 1 : -1, behind = which != 0 ? 1 : -1;
            const std::string loses =
                which < 2 ? multiples[which] : std::string(multiples[0]) + " and " + multiples[1];
            const std::string there = which < 2 ? " has there" : " have there",
                              sign = "parallel reduction has a wrong sign: ";
            all.push_back({{.bands = {before, behind}, .diagonal = {before, behind}, .rhs = {before, behind}},
                           sign + "a row loses " + loses +
                               "; a and b are lower and upper divided by the diagonals of those rows"});
            all.push_back(
                {{.diagonal = {before, behind}}, sign + "the diagonal loses what " + loses + there});
            all.push_back(
                {{.rhs = {before, behind}}, sign + "the right-hand side loses what " + loses + there});
            if (which < 2) {
                all.push_back({{.bands = {before, behind}},
                               sign + (which == 0 ? "the new lower is -a times that of the row before"
                                                  : "the new upper is -b times that of the row behind")});
            }
        }
    }
    double wrong = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        wrong = std::max(wrong, std::abs(x[i] - right[i]));
        size = std::max(size, std::abs(x[i]));
    }
    for (const auto& [misstep, cause] : all) {
        const Vector candidate = reduce(a, rhs, misstep);
        double off = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double one = std::abs(x[i] - candidate[i]);
            if (!(one <= off)) off = one;
        }
        if (rungs::explains(off, wrong, 1e-4 * size)) return cause;
    }
    return {};
}

/// Where the wrong rows lie.
inline std::string pattern(const Matrix& a, const Vector& errors, const Vector& x, const Vector& right,
                           bool iterates) {
    const std::size_t n = errors.size();
    std::size_t wrong = 0, first = n, last = 0;
    double worst = 0;
    bool inner = false;
    for (std::size_t i = 0; i < n; ++i) {
        worst = std::max(worst, errors[i]);
        if (errors[i] <= tolerance) continue;
        first = std::min(first, i), last = i, ++wrong;
        inner |= i > 1 && i + 2 < n;
    }
    const std::string share = std::to_string(wrong) + " of " + std::to_string(n) + " equations do not hold";
    if (wrong == 1 && last == n - 1) return "only the last equation does not hold";
    if (n > 16 && !inner) {
        return share + ", the first is row " + std::to_string(first) +
               ", and none is further than a row from an end: which neighbours have the first two rows, and "
               "the last two?";
    }
    std::size_t ties = 0;  // rows with nothing to spare
    for (std::size_t i = 1; i + 1 < n; ++i)
        ties += std::abs(a.diagonal[i]) == std::abs(a.lower[i]) + std::abs(a.upper[i]);
    if (n > 3 && ties + 2 == n) {
        return share +
               ". These rows have nothing to spare: their diagonals are as large as their neighbours "
               "together. Is a new diagonal, or what it has more than its neighbours, found as a difference "
               "of nearly equal numbers?";
    }
    for (const std::size_t period : {8, 16, 32, 64}) {  // rows of a thread, of which the last is solved first
        bool ends = wrong > 1 && n > 2 * period;
        for (std::size_t i = 0; i < n && ends; ++i)
            ends = errors[i] <= tolerance || i % period == period - 1 || i == n - 1;
        if (!ends) continue;
        return share + ", every " + std::to_string(period) +
               "th: what a thread makes of its own rows is right, and what threads find together, the last "
               "unknown of each, is wrong";
    }
    if (iterates && worst < 64 * tolerance) {
        return share +
               ", by little, and status says solved: did the iteration stop too early, on a sum that was not "
               "that of all rows? Or does x move on once progress->finished is set?";
    }
    if (n > 16 && wrong * 4 < n) {
        return share + ", the first is row " + std::to_string(first) +
               ": do they lie where pieces of the system meet? How far is a row felt there?";
    }
    if (worst < 64 * tolerance) {
        return share + ", by little: did the iteration stop too early, or was the sum not that of all rows?";
    }
    double off = 0, largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        off = std::max(off, std::abs(x[i] - right[i]));
        largest = std::max(largest, std::abs(right[i]));
    }
    if (off < 0.02 * largest) {
        return share + ", but x is close: was a shorter type used on the way, or stopped too early?";
    }
    return share;
}

}  // namespace detail

/// How a rung comes to its x, which says what may be asked of it.
enum class Method {
    elimination,
    iteration,  ///< it may converge slowly: its errors have one sign, and no balance is drawn up
    reduction,  ///< each unknown apart from its neighbours: see tolerance
};

/// Judges one system.
inline Finding examine(const System& system, const Vector& x, long long status, Method method) {
    const Matrix a = system.matrix();
    const Vector rhs = system.right();
    const std::size_t n = a.rows(), weak = first_not_dominant(a);
    Finding finding;
    const auto fail = [&](const std::string& cause) {
        finding.error = std::numeric_limits<double>::infinity();
        finding.cause = cause;
        return finding;
    };
    const std::string says = "status says " + detail::name_of(status);
    if (weak < n) {
        if (status != static_cast<long long>(weak)) {
            const std::string cause = says + ", but " + detail::row_text(a, weak) +
                                      " and is not dominated by its diagonal" + detail::reason(a, weak);
            // With eight rows per thread or more: the thread's own index, without the rows before.
            const bool of_thread =
                status >= 0 && status < static_cast<long long>(weak) && (weak - status) % 8 == 0;
            return fail(status > static_cast<long long>(weak) ? cause + ". The first such row counts"
                        : of_thread ? cause + ". Rows are counted from the first row of the system"
                                    : cause);
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (!std::isnan(x[i])) {
                return fail("the system is refused, and x[" + std::to_string(i) + "] is " +
                            detail::number(x[i]) + " instead of NaN: no answer is better than a wrong one");
            }
        }
        return finding;
    }
    const double largest = rungs::max_norm(std::span<const double>(x));
    const auto errors_of_rows = [&] {
        return backward_errors(a, rhs, x, method == Method::reduction ? size_of_terms(a, rhs) : largest);
    };
    if (status >= 0) {
        const auto row = static_cast<std::size_t>(status);
        bool solves = row == 0 || row == n;
        for (std::size_t i = 0; solves && i < n; ++i) solves = std::isfinite(x[i]);
        if (solves) {
            for (const double error : errors_of_rows()) solves = solves && error <= tolerance;
        }
        if (solves) {
            return fail(says + ", but x solves the system: its status is btcs::solved then, which is " +
                        std::to_string(solved) +
                        (row < n ? "; " + detail::row_text(a, row) + " and is dominated" : ""));
        }
        if (row >= n) return fail(says + ", and there are " + std::to_string(n) + " rows: was it written?");
        return fail(says + ", but " + detail::row_text(a, row) +
                    " and is dominated: the diagonal may be as large as its neighbours together, and what "
                    "lies outside of A does not count");
    }
    if (status != solved && status != not_converged && status != indefinite) {
        return fail("status is " + std::to_string(status) + ", which is not a Status: was it written?");
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (!std::isnan(rhs[i])) continue;
        if (status == solved && std::isfinite(x[i]))
            return fail("rhs[" + std::to_string(i) + "] is NaN, and x there is a number");
        return finding;
    }
    const Vector errors = errors_of_rows();
    for (const double error : errors) {
        if (!(error <= finding.error))
            finding.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
    // The solution itself is wanted only where x is none.
    const bool holds = status == solved && finding.error <= tolerance;
    const Vector right = holds ? Vector() : solve(a, rhs);
    const double expected = rungs::max_norm(std::span<const double>(right));
    const bool singular =
        !(expected < 0x1p40 * rungs::max_norm(std::span<const double>(rhs))) && expected > 0;
    if (singular) {  // not_converged, no number, or a huge one: all of these tell
        const bool huge = !(largest < 0x1p18 * rungs::max_norm(std::span<const double>(rhs)));
        if (status != solved || huge || finding.error <= tolerance) finding.error = 0;
        if (finding.error > 0) finding.cause = "the system has no solution, and x does not show it";
        return finding;
    }
    if (status != solved) {
        const double size = rungs::max_norm(std::span<const double>(rhs));
        const bool leaves_float = size > 0 && (size > 0x1p63 || size < 0x1p-63);
        return fail(says +
                    (status == indefinite
                         ? ", but A is positive definite: is r.Ar complete, and a sum in double?"
                         : ", but this system takes fewer iterations than the limit.") +
                    (leaves_float
                         ? " The square of an rhs leaves a float's range here: are products formed in double?"
                     : !(largest < 0x1p20 * expected) && expected > 0
                         ? " x has grown beyond all bounds: a step goes along r, by r.r / r.Ar"
                         : ""));
    }
    if (finding.error > tolerance) {
        // A row does not hold either where its neighbour is wrong: those where x itself is off tell more.
        const auto off = [&](std::size_t i) { return !(std::abs(x[i] - right[i]) <= 1e-5 * expected); };
        bool any = false;
        for (std::size_t i = 0; i < n; ++i)
            any = any || (errors[i] > tolerance && off(i)) || !std::isfinite(x[i]);
        for (std::size_t i = 0; i < n && finding.first.size() < 5; ++i) {
            if (any ? !off(i) : errors[i] <= tolerance) continue;
            finding.first.push_back(
                {i, x[i], right[i],
                 rungs::ulp_distance(static_cast<float>(x[i]), static_cast<float>(right[i]))});
        }
        for (std::size_t i = 0; i < n && finding.cause.empty(); ++i) {
            if (std::isfinite(x[i])) continue;
            finding.cause = "x[" + std::to_string(i) + "] is " + detail::number(x[i]) +
                            ": was it written? Was something divided by the diagonal of a row that is not "
                            "there? Was lower[0] or upper[n-1] used? They may hold anything";
        }
        if (finding.cause.empty()) finding.cause = detail::likely_system(a, rhs, x, right);
        if (finding.cause.empty()) finding.cause = detail::likely_slip(a, rhs, x, right);
        if (finding.cause.empty()) finding.cause = detail::likely_misstep(a, rhs, x, right);
        if (finding.cause.empty())
            finding.cause = detail::pattern(a, errors, x, right, method == Method::iteration);
        return finding;
    }
    // Conservation: where all columns sum up to 1, so that no heat is lost, sum x = sum rhs. Rounding errors
    // of rows have any sign, so they add up like a root.
    double balance = 0, row = 0;
    bool conserves = n > 1 && method != Method::iteration;
    for (std::size_t i = 0; conserves && i < n; ++i) {
        const bool first = i == 0, last = i + 1 == n;
        const double column = a.diagonal[i] + (first ? 0 : a.upper[i - 1]) + (last ? 0 : a.lower[i + 1]);
        conserves = column == 1;
        balance += rhs[i] - x[i];
        row = std::max(row, (first ? 0 : std::abs(a.lower[i])) + std::abs(a.diagonal[i]) +
                                (last ? 0 : std::abs(a.upper[i])));
    }
    const double allowed = tolerance / 4 * row * largest * (4 + std::sqrt(static_cast<double>(n)));
    if (conserves && !(std::abs(balance) <= allowed)) {
        return fail("the rod lets no heat out, and the sum of x is " + detail::number(-balance) +
                    " off that of the right-hand side: errors have one sign");
    }
    return finding;
}

/// Judges a system whose rows add up to 0, with 1 everywhere on the right: descent from 0 finds r.Ar = 0, and
/// has no step to take.
inline Finding examine_level(const Vector& x, long long status) {
    Finding finding;
    if (status != indefinite)
        finding.cause =
            "status says " + detail::name_of(status) +
            ", but r.Ar is 0 at the first step, and A not positive definite: status is indefinite then. Is "
            "definite_kernel launched before the step?";
    for (std::size_t i = 0; i < x.size() && finding.cause.empty(); ++i) {
        if (x[i] != 0)
            finding.cause = "there is no step to take, and x[" + std::to_string(i) + "] has moved to " +
                            detail::number(x[i]) +
                            ": does each kernel return once progress->finished is set?";
    }
    if (!finding.cause.empty()) finding.error = std::numeric_limits<double>::infinity();
    return finding;
}

/// Why a march has not arrived.
inline std::string explain_march(const Journey& journey, const Vector& got, const Vector& right,
                                 double allowed) {
    const Rod& rod = journey.rod;
    const std::size_t n = rod.n;
    for (std::size_t i = 0; i < n; ++i) {
        if (!std::isfinite(got[i]) && std::isfinite(right[i]))
            return "u[" + std::to_string(i) + "] is " + detail::number(got[i]) + ": was it written?";
    }
    if (rod.steps == 0) return "0 steps still have to copy start to u";
    const auto is = [&](const Vector& candidate) {
        double off = 0, wrong = 0;
        for (std::size_t i = 0; i < n; ++i) {
            off = std::max(off, std::abs(got[i] - candidate[i]));
            wrong = std::max(wrong, std::abs(got[i] - right[i]));
        }
        return rungs::explains(off, wrong, 4 * allowed);
    };
    /// Marches with the ends of level k + before in the explicit half of step k, k + after in the implicit.
    const auto with_ends = [&](std::size_t before, std::size_t after) {
        Vector u = journey.start;
        for (std::size_t k = 0; k < rod.steps; ++k) {
            u = step(rod, u, {journey.left[k + before], journey.right[k + before]},
                     {journey.left[k + after], journey.right[k + after]});
        }
        return u;
    };
    const auto change = [&](const std::function<void(Journey&)>& edit) {
        Journey other = journey;
        edit(other);
        return is(march(other).u);
    };
    if (is(journey.start)) return "u is still start";
    if (is(Vector(n, 0.0))) return "u is 0 everywhere";
    for (const auto& [theta, name] : {std::pair(1.0, "BTCS"), {0.5, "Crank-Nicolson"}, {0.0, "FTCS"}}) {
        if (change([theta = theta](Journey& other) { other.rod.theta = theta; })) {
            return std::string("this is ") + name + ": theta is " + detail::number(rod.theta);
        }
    }
    if (change([](Journey& other) { other.rod.theta = 1 - other.rod.theta; }))
        return "theta and 1 - theta are exchanged";
    if (change([](Journey& other) { other.rod.r *= other.rod.theta, other.rod.theta = 1; })) {
        return "the explicit half of the steps is missing: u + (1 - theta) r (second difference of u) is "
               "what the implicit half begins with";
    }
    Vector between = journey.start;  // a BTCS step with theta r leads to theta v + (1 - theta) u
    for (std::size_t k = 0; k < rod.steps; ++k) {
        const auto mean = [&](const Vector& end) {
            return rod.theta * end[k + 1] + (1 - rod.theta) * end[k];
        };
        const Ends ends{mean(journey.left), mean(journey.right)};
        between = step({n, rod.steps, rod.theta * rod.r, 1}, between, ends, ends);
    }
    if (is(between)) {
        return "u is the value in between, w = theta v + (1 - theta) u: v = u + (w - u) / theta is missing";
    }
    if (change([](Journey& other) { other.rod.r *= 1 - other.rod.theta, other.rod.theta = 0; }))
        return "the implicit half of the steps is missing";
    if (is(with_ends(0, 0)))
        return "the implicit half takes the ends of the old time level, left[s] for left[s + 1]";
    if (is(with_ends(1, 1)))
        return "the explicit half takes the ends of the new time level, left[s + 1] for left[s]";
    if (is(with_ends(1, 0))) return "old and new time level of the ends are exchanged";
    if (change([](Journey& other) { --other.rod.steps, other.left.pop_back(), other.right.pop_back(); }))
        return "one step is missing";
    if (change([](Journey& other) { std::swap(other.left, other.right); }))
        return "left and right are exchanged";
    const auto cold = [](Vector& end) { std::fill(end.begin(), end.end(), 0.0); };
    if (change([&](Journey& other) { cold(other.left), cold(other.right); }))
        return "the ends were taken as 0";
    if (change([&](Journey& other) { cold(other.left); })) return "the left end was taken as 0";
    if (change([&](Journey& other) { cold(other.right); })) return "the right end was taken as 0";
    const auto constant = [](Vector& end) { std::fill(end.begin(), end.end(), end.front()); };
    if (change([&](Journey& other) { constant(other.left), constant(other.right); }))
        return "the ends stay what they are at first: they change in time";
    for (const double factor : {2.0, 0.5}) {
        if (change([&](Journey& other) { other.rod.r *= factor; }))
            return "this is the march for r = " + detail::number(factor * rod.r);
    }
    if (rod.steps > 1) {  // each step from the right-hand side of the first one
        if (is(step(rod, journey.start, {journey.left[0], journey.right[0]},
                    {journey.left[rod.steps], journey.right[rod.steps]}))) {
            return "the right-hand side is stale: each step has to start from the values of the step before";
        }
    }
    // Explicit passes of several steps each, which begin with the right ends.
    for (std::size_t pass = 2; rod.theta == 0 && pass / 2 < rod.steps && pass <= 64; pass *= 2) {
        Vector u = journey.start;
        for (std::size_t k = 0; k < rod.steps; ++k) {
            const std::size_t late = k % pass > 0 ? k - 1 : k;
            u = step(rod, u, {journey.left[late], journey.right[late]}, {0, 0});
        }
        if (is(u)) {
            return "the ends are a step late, but in the first step of a pass: step s takes left[s] and "
                   "right[s], and the step after it left[s + 1] and right[s + 1]";
        }
    }
    std::size_t wrong = 0, first = n, last = 0, gap = 0;
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double error = std::abs(got[i] - right[i]);
        worst = std::max(worst, error);
        if (error <= allowed) continue;
        if (wrong > 0) gap = std::max(gap, i - last);
        first = std::min(first, i), last = i, ++wrong;
    }
    const std::string share = std::to_string(wrong) + " of " + std::to_string(n) +
                              " points are wrong, from " + std::to_string(first) + " to " +
                              std::to_string(last);
    if (last == n - 1 && 2 * first > n) return share + ": is the last row computed like all others?";
    if (n > 16 && first == 0 && 2 * last < n && wrong == last + 1)
        return share + ": what does the left end bring into them?";
    if (n > 16 && first == 0 && last == n - 1 && 2 * gap > n) {
        return share +
               ", and none in the middle: of which time are the values at the ends that each step takes?";
    }
    if (n > 16 && 2 * wrong < n)
        return share + ": do they lie where pieces of the rod meet? Is their halo wide enough?";
    if (worst < 1024 * allowed) return share + ", by little: was a shorter type used on the way?";
    return share;
}

}  // namespace btcs
