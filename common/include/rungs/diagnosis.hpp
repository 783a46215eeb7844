#pragma once
// From the pattern of wrong elements to the likely mistake. A message is given only where the pattern leaves
// little doubt: a wrong guess costs a student more than none.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace rungs {

/// Whether what a mistake would have given explains a wrong answer: it is within rounding of it, and far
/// nearer to it than the truth. Where an answer is hardly wrong, every other one is near,
/// and nothing is explained.
/// @param off       distance of the answer from what the mistake would have given
/// @param wrong     its distance from the truth
/// @param rounding  how far rounding may have moved it
inline bool explains(double off, double wrong, double rounding) {
    return off <= rounding && off <= 0.1 * wrong;
}

/// What compare() knows about a failed comparison; the functions answer for any index below `wrong.size()`.
struct Failure {
    std::vector<bool> wrong;  ///< which elements are wrong, at least one
    std::function<double(std::size_t)> got;
    std::function<double(std::size_t)> expected;
    std::function<bool(std::size_t)> untouched =
        {};                 ///< still the poison of before the call? Empty: not known
    std::size_t width = 0;  ///< elements in a row of a two-dimensional field; 0: none
};

/// One sentence, for example "only elements past the last full block of 256 are wrong, from index 768 on:
/// ...", or nothing when no pattern fits.
std::string likely_cause(const Failure& failure);

/// "0.1", "-inf", "nan": a number for a message, without trailing zeros. A NaN has no sign.
/// @param value   the number
/// @param digits  how many, at most
std::string to_digits(double value, int digits);

}  // namespace rungs
