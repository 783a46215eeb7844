#include "rungs/iteration_exam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "rungs/diagnosis.hpp"

namespace rungs {
namespace {

const char* name_of(int outcome) {
    constexpr const char* names[] = {"converged", "limit_reached", "breakdown", "diverged"};
    return outcome >= 0 && outcome < 4 ? names[outcome] : "no outcome";
}

}  // namespace

std::vector<double> in_double(const Array& array) {
    const auto convert = [](const auto& values) { return std::vector<double>(values.begin(), values.end()); };
    return array.element == Element::f32 ? convert(array.as<float>()) : convert(array.as<double>());
}

Solve solve_of(std::span<const Array> outputs) {
    if (outputs.size() != 3 || outputs[2].as<int>().size() != 2)
        throw std::invalid_argument("a solve leaves x, a history and two ints");
    const auto outcome = outputs[2].as<int>();
    return {outcome[0], outcome[1], in_double(outputs[1]), in_double(outputs[0])};
}

std::string three_digits(double value) { return to_digits(value, 3); }

std::pair<std::string, std::string> told_apart(double one, double other) {
    std::pair<std::string, std::string> texts;
    for (int digits = 3; digits <= 17 && texts.first == texts.second; ++digits)
        texts = {to_digits(one, digits), to_digits(other, digits)};
    return texts;
}

std::string instead_of(double value, double right) {
    const auto [got, expected] = told_apart(value, right);
    return got + " instead of " + expected;
}

std::string iterations(int count) {
    return std::to_string(count) + (count == 1 ? " iteration" : " iterations");
}

Check IterationExam::check() {
    compare();
    Check check;
    check.measure = "deviation of residuals, stop and x / what rounding explains";
    check.tolerance = 1;
    check.of = 1;
    check.passed = cause_.empty() && worst_ <= 1;
    check.error = worst_;
    check.cause = cause_;
    if (check.passed) return check;
    check.wrong = 1;
    // Of a history that is right as far as it goes, the end tells where the solve was left.
    const auto left = std::find_if_not(got_.history.begin(), got_.history.end(),
                                       [](double norm) { return std::isfinite(norm); });
    if (left != got_.history.begin() || (!right_.history.empty() && std::isfinite(right_.history[0])))
        check.unwritten = explain_no_outcome(static_cast<int>(left - got_.history.begin()) - 1);
    return check;
}

bool IterationExam::fail(std::string cause) {
    cause_ = std::move(cause);
    worst_ = std::numeric_limits<double>::infinity();
    return false;
}

bool IterationExam::within(double deviation, double allowed) {
    const double ratio = deviation == 0 ? 0 : deviation / allowed;
    if (!(ratio <= worst_)) worst_ = ratio;
    return ratio <= 1;
}

bool IterationExam::compare_outcome() {
    const int outcome = got_.outcome, k = got_.iterations, limit = terms_.limit;
    if (outcome < Solve::converged || outcome > Solve::diverged)
        return fail("outcome[0] is " + std::to_string(outcome) + ", which is not an Outcome");
    if (k < 0 || k > limit)
        return fail("outcome[1] says " + iterations(k) + "; the limit is " + std::to_string(limit));
    const bool finite = std::all_of(got_.x.begin(), got_.x.end(), [](double v) { return std::isfinite(v); });
    if (!finite && terms_.beyond_float)
        return fail(
            "x has elements that are not finite. Squares leave the range of float here: are all sums formed "
            "in double, and a quotient of two of them as well?");
    std::string right = name_of(right_.outcome);
    if (right_.iterations >= 0) right += " after " + std::to_string(right_.iterations);
    if (!finite && right_.outcome == Solve::breakdown)
        return fail(
            "x has elements that are not finite: is there a divisor that is 0 or not a number? Right is " +
            right + ", with the x from before" + explain_outcome());
    if (!finite && !(terms_.may_be_infinite && right_.outcome == Solve::diverged))
        return fail(right_steps() == 0
                        ? "x has elements that are not finite: was it set to 0 at the start, and written in "
                          "full? Or is there a divisor that is 0 or not a number?"
                        : "x has elements that are not finite, and the first step of the residual was right: "
                          "does x take that step, too, and is the next direction found in time?");
    if (outcome == right_.outcome || outcome_is_open()) return true;
    const std::string cause =
        std::string("says ") + name_of(outcome) + " after " + iterations(k) + "; right is " + right;
    if (const std::string known = suspected(); !known.empty()) return fail(cause + ": " + known);
    if (const std::string why = explain_outcome(); !why.empty()) return fail(cause + why);
    const std::string first = first_deviation();
    return fail(cause + (first.empty() ? "" : ". ") + first);
}

double IterationExam::allowed_at(std::size_t k) const {
    return k == 0 ? 1e-9 * scale() : terms_.path * right_.history[k] + terms_.rounding;
}

/// The norms that the rung and the oracle both have.
std::size_t IterationExam::norms() const {
    return std::min(
        {static_cast<std::size_t>(got_.iterations) + 1, got_.history.size(), right_.history.size()});
}

std::string IterationExam::first_deviation() const {
    for (std::size_t k = 0; k < norms(); ++k) {
        if (!(std::abs(got_.history[k] - right_.history[k]) <= allowed_at(k))) return explain_norm(k);
    }
    return {};
}

bool IterationExam::compare_history() {
    if (got_.history.size() <= static_cast<std::size_t>(got_.iterations))
        return fail("the history is too short");
    for (std::size_t k = 0; k < norms(); ++k) {
        const double h = got_.history[k], right = right_.history[k];
        if (!std::isfinite(right) && !std::isfinite(h)) continue;
        if (k > 0 && right < terms_.unresolved) break;
        if (!within(std::abs(h - right), allowed_at(k))) return fail(explain_norm(k));
    }
    return true;
}

std::string IterationExam::explain_norm(std::size_t k) const {
    const std::vector<double>& right = right_.history;
    const double h = got_.history[k];
    const std::string cause =
        "||r|| after " + iterations(static_cast<int>(k)) + " is " + instead_of(h, right[k]);
    if (terms_.beyond_float) return cause + ": are sums of squares formed in double?";
    if (k == 0) return cause + explain_start();
    if (const std::string known = suspected(); !known.empty()) return cause + ": " + known;
    if (is_square(k)) return cause + ": is that r.r, without the root?";
    if (k + 1 < right.size() && std::abs(h - right[k + 1]) < 1e-4 * h)
        return cause + ": that is the residual one iteration later";
    if (is_one_earlier(k)) {
        const bool still = std::all_of(got_.x.begin(), got_.x.end(), [](double v) { return v == 0; });
        return cause + ": that is the residual one iteration earlier. " +
               (still ? "x is 0: was a step made?" : "Is it recorded after the step, from the new r?");
    }
    return cause + explain_step(k);
}

std::size_t IterationExam::right_steps() const {
    std::size_t k = 0;
    while (k < norms() && std::abs(got_.history[k] - right_.history[k]) <= allowed_at(k)) ++k;
    return std::max<std::size_t>(k, 1) - 1;
}

std::string IterationExam::suspected() const {
    constexpr std::size_t most = 6;  // later ones are rounding's
    const std::size_t count =
        std::min({static_cast<std::size_t>(got_.iterations) + 1, got_.history.size(), most});
    if (count < 2 || std::all_of(got_.x.begin(), got_.x.end(), [](double v) { return v == 0; })) return {};
    std::string causes;
    for (const Suspect& suspect : suspects()) {
        const std::vector<double> would = suspect.history(static_cast<int>(count) - 1);
        if (would.size() < 2) continue;
        double off = 0, wrong = 0;
        for (std::size_t k = 0; k < std::min(count, would.size()); ++k) {
            const double h = got_.history[k], size = std::abs(would[k]) + terms_.rounding / suspect.blur;
            // Norms that the oracle does not have are as wrong as any.
            const double right = k < right_.history.size() ? right_.history[k] : 0;
            const double one = std::abs(h - would[k]) / size;
            if (!(one <= off)) off = one;
            wrong = std::max(wrong, std::abs(h - right) / size);
        }
        if (!explains(off, wrong, suspect.blur)) continue;
        causes += (causes.empty() ? "" : "; or ") + suspect.cause;
    }
    return causes;
}

/// Whether the norms from ||r_k|| on are those of an iteration before, as far as the oracle has them.
bool IterationExam::is_one_earlier(std::size_t k) const {
    const std::size_t end = std::min(k + 2, static_cast<std::size_t>(got_.iterations) + 1);
    for (std::size_t j = k; j < end; ++j) {
        const bool known = j < got_.history.size() && j - 1 < right_.history.size();
        if (!known || !(std::abs(got_.history[j] - right_.history[j - 1]) < terms_.same * got_.history[j]))
            return false;
    }
    return true;
}

bool IterationExam::is_square(std::size_t k) const {
    const double square = right_.history[k] * right_.history[k];
    return std::abs(got_.history[k] - square) < 1e-3 * square;
}

bool IterationExam::compare_stop(std::string_view remark) {
    const double threshold = terms_.tolerance * got_.history[0], slack = 1 + 1e-12;  // the root of a square
    if (got_.outcome == Solve::converged && !(claimed() <= threshold * slack)) {
        return fail("converged is claimed at ||r|| = " + three_digits(claimed()) +
                    ", above tolerance ||b|| = " + three_digits(threshold));
    }
    const std::string done = std::to_string(got_.iterations) + " were done";
    for (int j = 0; j < got_.iterations; ++j) {
        if (!(got_.history[static_cast<std::size_t>(j)] * slack <= threshold)) continue;
        return fail("||r|| was small enough after " + iterations(j) + ", and " + done + std::string(remark));
    }
    if (got_.outcome == Solve::limit_reached && got_.iterations != terms_.limit)
        return fail("the limit is " + iterations(terms_.limit) + "; " + done);
    return true;
}

std::string IterationExam::first_wrong_element(double least) const {
    for (std::size_t i = 0; i < got_.x.size(); ++i) {
        const double x = got_.x[i], right = right_.x[i];
        if (std::abs(x - right) <= 0.01 * (std::abs(right) + least * scale())) continue;
        return "x[" + std::to_string(i) + "] is " + instead_of(x, right) +
               (i + 1 == got_.x.size() ? ", the last one" : "");
    }
    return {};
}

}  // namespace rungs
