#pragma once
// Measures of error: distance in units of the last place, norms, sums that lose nothing. All accumulate in
// double, and all let NaN through: a comparison must read `error <= tolerance`, which NaN fails.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace rungs {

/// One wrong element.
struct Mismatch {
    std::size_t index = 0;
    double got = 0;
    double expected = 0;
    std::uint64_t ulp = 0;   ///< ulp_distance(got, expected) in the element's own type
    std::string where = {};  ///< "velocity[3]", where the index alone does not tell which element it is
    bool unwritten = false;  ///< `got` is no value of that type: the element is as it was before the call
};

/// What ulp_distance() returns where no distance makes sense.
inline constexpr std::uint64_t ulp_undefined = std::numeric_limits<std::uint64_t>::max();

/// How many steps to the next representable number lie between `a` and `b` (float or double): 0 for equal
/// values, for +0 and -0, and for two NaN; `ulp_undefined` for NaN against a number. Infinity is one step
/// past the largest number. Integers have no ULP: `ulp_undefined`, unless they are equal.
template <class T>
std::uint64_t ulp_distance(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return a == b ? 0 : ulp_undefined;
    } else {
        if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : ulp_undefined;
        // IEEE numbers of one sign are ordered like their bits: count both from zero, then
        // in opposite directions.
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        const std::uint64_t from_zero_a = std::bit_cast<Bits>(std::abs(a));
        const std::uint64_t from_zero_b = std::bit_cast<Bits>(std::abs(b));
        if (std::signbit(a) != std::signbit(b)) return from_zero_a + from_zero_b;
        return from_zero_a > from_zero_b ? from_zero_a - from_zero_b : from_zero_b - from_zero_a;
    }
}

/// A sum with a second number that collects what rounding drops (Neumaier 1974): error about one rounding,
/// whatever the order, while sum |v| / |sum| stays below 1e15. Infinities and NaN give what a plain loop
/// gives. Not to be compiled with -ffast-math, which removes the correction.
class CompensatedSum {
  public:
    void add(double value) {
        const double total = sum_ + value;
        correction_ += std::abs(sum_) >= std::abs(value) ? (sum_ - total) + value : (value - total) + sum_;
        sum_ = total;
    }
    double value() const { return std::isfinite(sum_) ? sum_ + correction_ : sum_; }

  private:
    double sum_ = 0;
    double correction_ = 0;
};

/// The compensated sum of `values`.
template <class T>
double compensated_sum(std::span<const T> values) {
    CompensatedSum sum;
    for (const T value : values) sum.add(static_cast<double>(value));
    return sum.value();
}

/// Sum in double by halves: the error grows with log2(n) instead of n, at the speed of a plain loop.
template <class T>
double pairwise_sum(std::span<const T> values) {
    constexpr std::size_t leaf = 128;
    if (values.size() > leaf) {
        const std::size_t half = values.size() / 2;
        return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
    }
    double sum = 0;
    for (const T value : values) sum += static_cast<double>(value);
    return sum;
}

/// max |v|, or NaN when there is one; 0 for no elements.
template <class T>
double max_norm(std::span<const T> values) {
    double largest = 0;
    for (const T value : values) {
        const double magnitude = std::abs(static_cast<double>(value));
        if (!(magnitude <= largest)) largest = magnitude;
        if (std::isnan(largest)) break;
    }
    return largest;
}

/// sqrt(sum v^2). The largest element is taken out first, so no square overflows or vanishes.
template <class T>
double l2_norm(std::span<const T> values) {
    const double scale = max_norm(values);
    if (scale == 0 || !std::isfinite(scale)) return scale;
    double sum = 0;
    for (const T value : values) {
        const double scaled = static_cast<double>(value) / scale;
        sum += scaled * scaled;
    }
    return scale * std::sqrt(sum);
}

namespace detail {
inline void require_same_size(std::size_t got, std::size_t expected) {
    if (got == expected) return;
    throw std::length_error("comparing " + std::to_string(got) + " elements with " +
                            std::to_string(expected));
}

/// got - expected; equal infinities differ by 0, not by NaN.
template <class T, class E>
double difference(T got, E expected) {
    const auto a = static_cast<double>(got);
    const auto b = static_cast<double>(expected);
    return a == b ? 0 : a - b;
}

/// difference / size; 0/0 is agreement, and anything beside an infinite or NaN size is not.
inline double quotient(double difference, double size) {
    if (difference == 0) return 0;
    return std::isfinite(size) ? difference / size : std::numeric_limits<double>::quiet_NaN();
}
}  // namespace detail

/// max |got - expected| / max |expected|. NaN wherever either field has a NaN.
/// @throws std::length_error when the sizes differ.
template <class T, class E>
double relative_max_error(std::span<const T> got, std::span<const E> expected) {
    detail::require_same_size(got.size(), expected.size());
    double largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double magnitude = std::abs(detail::difference(got[i], expected[i]));
        if (!(magnitude <= largest)) largest = magnitude;
        if (std::isnan(largest)) break;
    }
    return detail::quotient(largest, max_norm(expected));
}

/// l2 norm of (got - expected) over l2 norm of expected. NaN wherever either field has a NaN.
/// @throws std::length_error when the sizes differ.
template <class T, class E>
double relative_l2_error(std::span<const T> got, std::span<const E> expected) {
    detail::require_same_size(got.size(), expected.size());
    const double size = l2_norm(expected);
    const double scale = size > 0 && std::isfinite(size) ? size : 1;
    double sum = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double scaled = detail::difference(got[i], expected[i]) / scale;
        sum += scaled * scaled;
    }
    return detail::quotient(scale * std::sqrt(sum), size);
}

}  // namespace rungs
