#pragma once
// What the right answer is, and how far from it an honest float sum may end.

#include <cstddef>
#include <span>

namespace reduction {

/// The answer to one problem, as the oracle knows it.
struct Reference {
    double value = 0;      ///< the sum; NaN or infinite where IEEE arithmetic makes it so
    double magnitude = 0;  ///< sum of |terms|: the yardstick for rounding errors
    bool exact = false;    ///< every float sum of these terms is exact, in any order: no error is excused
};

/// Sum of v, to about one rounding of a double.
Reference reference_sum(std::span<const float> v);

/// Sum of v[i] * w[i], to about one rounding of a double. @throws std::length_error when the sizes differ.
Reference reference_dot(std::span<const float> v, std::span<const float> w);

/// How far a float sum of `terms` terms with sum |terms| = `magnitude` may be from the true sum when it is
/// formed with at most `roundings` rounded operations, in any order. The smaller of two bounds: one that
/// always holds, and one that fails for two in a million inputs.
double rounding_bound(std::size_t roundings, double magnitude);

/// The unit roundoff of float: a rounded operation is wrong by at most this part of its result.
inline constexpr double unit_roundoff = 0x1p-24;

}  // namespace reduction
