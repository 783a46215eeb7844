#pragma once
// How an exam judges an iterative solve: the outcome it reports, the history of its residual norms, where it
// stopped. An exam derives from IterationExam and adds its oracle, its tolerances and its own causes.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rungs/exam.hpp"

namespace rungs {

/// An iterative solve: what the oracle saw, or what a rung reports.
struct Solve {
    /// How a solve ends, in the numbers that the contracts give it.
    enum Outcome : int { converged, limit_reached, breakdown, diverged };

    int outcome = 0;
    int iterations = 0;           ///< negative where the oracle does not know
    std::vector<double> history;  ///< ||r_0||, ... ||r_k||
    std::vector<double> x;        ///< x_k
};

/// A mistake that may have been made in a solve, and the norms that it would have left.
struct Suspect {
    std::string cause;  ///< the end of a sentence
    std::function<std::vector<double>(int)>
        history;         ///< ||r_0||, ... ||r_k|| after at most so many iterations
    double blur = 1e-3;  ///< how far rounding may take a norm from these, relative
};

/// Reads the outputs of a solve: x, the history, and two integers, the outcome and the iterations.
/// @param outputs  as a rung left them
/// @throws std::invalid_argument when they are not those of a solve
Solve solve_of(std::span<const Array> outputs);

/// The elements of an array of floats or doubles.
/// @param array  the array
std::vector<double> in_double(const Array& array);

/// A number for a message, to three digits.
/// @param value  the number
std::string three_digits(double value);

/// Two numbers for a message: to three digits, or to as many as it takes to tell the two apart.
/// @param one    the first
/// @param other  the second
std::pair<std::string, std::string> told_apart(double one, double other);

/// "3.6 instead of 4.1": two numbers told apart.
/// @param value  what was found
/// @param right  what should have been
std::string instead_of(double value, double right);

/// "1 iteration", "2 iterations".
/// @param count  how many
std::string iterations(int count);

/// Compares a rung's solve with the oracle's. Each comparison returns whether the next one makes sense; the
/// first that does not hold leaves its cause.
class IterationExam {
  public:
    /// What a solve is held to.
    struct Terms {
        int limit;             ///< iterations, the rung's argument
        double tolerance;      ///< the relative residual, the rung's argument
        double path;           ///< allowed relative deviation of ||r_k||, for k > 0
        double rounding;       ///< allowed deviation of ||r_k|| on top of that, for k > 0
        double unresolved;     ///< where the oracle's ||r_k|| is less, its path is not the only honest one
        double same;           ///< relative deviation of ||r_k|| that shows it to be ||r_(k-1)||
        bool beyond_float;     ///< squares of b's elements leave the range of float
        bool may_be_infinite;  ///< x is allowed to be, where the solve diverges
    };

    virtual ~IterationExam() = default;

    /// Makes all comparisons.
    Check check();

  protected:
    /// @param got    the rung's solve
    /// @param right  the oracle's
    /// @param terms  what the rung's is held to
    IterationExam(const Solve& got, const Solve& right, const Terms& terms)
        : got_(got), right_(right), terms_(terms) {}

    /// The comparisons of this exam, in their order.
    virtual bool compare() = 0;
    /// Whether an outcome other than the oracle's is honest as well.
    virtual bool outcome_is_open() const { return false; }
    /// Why the outcome is wrong, as the end of a sentence; empty where the history's first deviation tells.
    virtual std::string explain_outcome() const = 0;
    /// Why ||r_0|| is wrong, as the end of a sentence.
    virtual std::string explain_start() const = 0;
    /// Why ||r_k|| is wrong for the first time, as the end of a sentence.
    /// @param k  an iteration, at least 1
    virtual std::string explain_step(std::size_t k) const = 0;

    /// Why there is no outcome, as the end of a sentence, where `done` norms after ||r_0|| were written; -1:
    /// not even that one.
    virtual std::string explain_no_outcome(int /*done*/) const { return {}; }
    /// The mistakes that this exam knows.
    virtual std::vector<Suspect> suspects() const { return {}; }

    bool compare_outcome();
    bool compare_history();
    /// @param remark  what to add where an earlier norm was small enough
    bool compare_stop(std::string_view remark = {});

    /// Ends the comparison. @returns false
    /// @param cause  what is wrong
    bool fail(std::string cause);
    /// Notes a deviation. @returns whether it is allowed; false for NaN
    /// @param deviation  a difference
    /// @param allowed    its bound
    bool within(double deviation, double allowed);

    /// The mistakes that explain the first norms; empty for none. If there are two, the norms do not
    /// say which it is.
    std::string suspected() const;
    /// How many norms after ||r_0|| are right before the first that is wrong.
    std::size_t right_steps() const;
    /// ||b||, to which the tolerance is relative.
    double scale() const { return right_.history.front(); }
    /// The last norm of the rung's history.
    double claimed() const { return got_.history[static_cast<std::size_t>(got_.iterations)]; }
    /// Whether ||r_k|| is r.r.
    /// @param k  an iteration
    bool is_square(std::size_t k) const;
    /// The first element of x that is off by a hundredth: "x[3] is 1 instead of 2"; empty where none is.
    /// @param least  relative to ||b||, what an element counts for at least
    std::string first_wrong_element(double least) const;

    const Solve& got_;
    const Solve& right_;
    const Terms terms_;

  private:
    double allowed_at(std::size_t k) const;
    std::size_t norms() const;
    bool is_one_earlier(std::size_t k) const;
    std::string first_deviation() const;
    std::string explain_norm(std::size_t k) const;

    std::string cause_;
    double worst_ = 0;  ///< largest deviation over what is allowed
};

}  // namespace rungs
