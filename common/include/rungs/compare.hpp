#pragma once
// Is a field right? compare() answers with the first mismatches, their number, and the likely cause.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "rungs/diagnosis.hpp"
#include "rungs/norms.hpp"

namespace rungs {

/// An element is right when |got - expected| <= absolute + relative * |expected|. NaN is right only where NaN
/// is expected, an infinity only where that infinity is.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

/// What else is known about the field, for a better guess at the cause.
template <class T>
struct Context {
    std::optional<T> poison = {};  ///< the value, bit by bit, that every element had before the call
    std::size_t width = 0;         ///< elements in a row of a two-dimensional field; 0 for one dimension
};

/// The outcome of compare().
struct Comparison {
    std::size_t of = 0;           ///< elements compared
    std::size_t wrong = 0;        ///< elements outside the tolerance, the next number included
    std::size_t wrong_class = 0;  ///< NaN or infinity where a number is expected, or the other way round
    std::vector<Mismatch> first;  ///< the first five wrong elements
    Mismatch worst;     ///< the right-class element with the largest |got - expected|, right or wrong
    std::string cause;  ///< the likely mistake where the pattern tells, else empty

    bool passed() const { return wrong == 0; }
    /// Some lines for a person: count, cause, and the first mismatches; one line when everything is right.
    std::string message() const;
};

/// Compares element by element. `expected` may be of a wider type than `got`; it is rounded to T only to tell
/// infinities and to count ULP. @throws std::length_error when the sizes differ.
template <class T, class E>
Comparison compare(std::span<const T> got, std::span<const E> expected, Tolerance tolerance,
                   const Context<T>& context = {}) {
    detail::require_same_size(got.size(), expected.size());
    Comparison result;
    result.of = got.size();
    std::vector<bool> wrong;  // made at the first failure: the usual case needs no memory
    double worst = -1;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const T rounded = static_cast<T>(expected[i]);
        bool right = true;
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(got[i]) || !std::isfinite(rounded)) {
                right = got[i] == rounded || (std::isnan(got[i]) && std::isnan(rounded));
                result.wrong_class += !right;
            }
        }
        const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
        if (std::isfinite(error)) {
            right = right && error <= tolerance.absolute + tolerance.relative * std::abs(double(expected[i]));
            if (error > worst) {
                worst = error;
                result.worst = {i, double(got[i]), double(expected[i]), ulp_distance(got[i], rounded)};
            }
        }
        if (right) continue;
        if (wrong.empty()) wrong.resize(got.size());
        wrong[i] = true;
        ++result.wrong;
        if (result.first.size() < 5) {
            result.first.push_back({i, double(got[i]), double(expected[i]), ulp_distance(got[i], rounded)});
        }
    }
    if (result.passed()) return result;

    Failure failure;
    failure.wrong = std::move(wrong);
    failure.got = [got](std::size_t i) { return static_cast<double>(got[i]); };
    failure.expected = [expected](std::size_t i) { return static_cast<double>(expected[i]); };
    if (context.poison) {
        failure.untouched = [got, poison = *context.poison](std::size_t i) {
            return std::memcmp(&got[i], &poison, sizeof(T)) == 0;
        };
    }
    failure.width = context.width;
    result.cause = likely_cause(failure);
    return result;
}

/// The same for vectors.
template <class T, class E>
Comparison compare(const std::vector<T>& got, const std::vector<E>& expected, Tolerance tolerance,
                   const Context<T>& context = {}) {
    return compare(std::span<const T>(got), std::span<const E>(expected), tolerance, context);
}

/// The same for one number.
template <class T, class E, class = std::enable_if_t<std::is_arithmetic_v<T> && std::is_arithmetic_v<E>>>
Comparison compare(T got, E expected, Tolerance tolerance, const Context<T>& context = {}) {
    return compare(std::span<const T>(&got, 1), std::span<const E>(&expected, 1), tolerance, context);
}

}  // namespace rungs
