#include "rungs/iteration_exam.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

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

std::string three_digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
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
    if (!check.passed) check.wrong = 1;
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
        return fail("outcome[0] is " + std::to_string(outcome) + ", which is no Outcome");
    if (k < 0 || k > limit)
        return fail("outcome[1] says " + iterations(k) + "; the limit is " + std::to_string(limit));
    const bool finite = std::all_of(got_.x.begin(), got_.x.end(), [](double v) { return std::isfinite(v); });
    if (!finite && !(terms_.may_be_infinite && right_.outcome == Solve::diverged))
        return fail("x has elements that are not finite: was it set to 0 at the start, and written in full?");
    if (outcome == right_.outcome || outcome_is_open()) return true;
    std::string cause = std::string("says ") + name_of(outcome) + " after " + iterations(k) + "; right is " +
                        name_of(right_.outcome);
    if (right_.iterations >= 0) cause += " after " + std::to_string(right_.iterations);
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
    const std::string cause = "||r|| after " + iterations(static_cast<int>(k)) + " is " + three_digits(h) +
                              " instead of " + three_digits(right[k]);
    if (terms_.beyond_float) return cause + ": are sums of squares formed in double?";
    if (k == 0) return cause + explain_start();
    if (is_square(k)) return cause + ": is that r.r, without the root?";
    if (k + 1 < right.size() && std::abs(h - right[k + 1]) < 1e-4 * h)
        return cause + ": that is the residual one iteration later";
    if (std::abs(h - right[k - 1]) < terms_.same * h)
        return cause + ": that is the residual one iteration earlier. Was the step made, and with the new r?";
    return cause + explain_step(k);
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
        return "x[" + std::to_string(i) + "] is " + three_digits(x) + " instead of " + three_digits(right) +
               (i + 1 == got_.x.size() ? ", the last one" : "");
    }
    return {};
}

}  // namespace rungs
