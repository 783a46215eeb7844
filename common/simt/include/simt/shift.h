/// @file
/// Shifts as a device makes them. A shift by the width of its operand or more is undefined in C++; a device
/// gives 0, or the sign where a negative number is shifted right, and an x86-64 CPU something else. The
/// translator writes `a <<::simt::by<< n` for `a << n` in device code, which groups as the original does;
/// amounts that it sees to be in range stay as they are.
#pragma once

#include <type_traits>

#include "simt/lane.h"

namespace simt {

struct By {};
constexpr By by{};

/// The left operand of a shift, or what else is in front of `<<`.
template <class A>
struct Shifted {
    A value;
};
/// The right operand of `<<=`.
template <class B>
struct Amount {
    B value;
};

template <class A>
inline constexpr bool shifts_as_number = std::is_integral<A>::value ||
                                         (std::is_enum<A>::value && std::is_convertible<A, int>::value);
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;
template <>
inline constexpr bool shifts_as_number<Wide> = true;
template <>
inline constexpr bool shifts_as_number<UnsignedWide> = true;
#endif
template <class A>
using Bare = std::remove_cv_t<std::remove_reference_t<A>>;

/// Tells the checks of a shift by `amount` of an operand of `width` bits.
SIMT_SITED void wide_shift(long long amount, unsigned width);

/// True if a device does not shift all bits out: of the amount it takes 32 bits, and a negative one
/// is a large one.
template <class A, class B>
SIMT_DEVICE constexpr bool shifts_within(B n) {
    constexpr unsigned width = 8 * sizeof(A);
    if (__builtin_expect(static_cast<unsigned long long>(n) < width, 1)) return true;
#if defined(SIMT_CHECK)
    if (!__builtin_is_constant_evaluated()) wide_shift(static_cast<long long>(n), width);
#endif
    return sizeof(A) <= 8 && static_cast<unsigned>(n) < width;
}

template <class A, std::enable_if_t<shifts_as_number<A>, int> = 0>
SIMT_DEVICE constexpr auto operator<<(A a, By) -> Shifted<decltype(+a)> {
    return {+a};
}
template <class A, std::enable_if_t<shifts_as_number<A>, int> = 0>
SIMT_DEVICE constexpr auto operator>>(A a, By) -> Shifted<decltype(+a)> {
    return {+a};
}
template <class A, class B, std::enable_if_t<shifts_as_number<A> && shifts_as_number<B>, int> = 0>
SIMT_DEVICE constexpr A operator<<(Shifted<A> a, B n) {
    return shifts_within<A>(+n) ? a.value << static_cast<unsigned>(+n) : A(0);
}
template <class A, class B, std::enable_if_t<shifts_as_number<A> && shifts_as_number<B>, int> = 0>
SIMT_DEVICE constexpr A operator>>(Shifted<A> a, B n) {
    return shifts_within<A>(+n) ? a.value >> static_cast<unsigned>(+n) : a.value < A(0) ? A(-1) : A(0);
}

// What is no number has operators of its own.
template <class A, std::enable_if_t<!shifts_as_number<Bare<A>>, int> = 0>
SIMT_DEVICE constexpr Shifted<A&&> operator<<(A&& a, By) {
    return {static_cast<A&&>(a)};
}
template <class A, std::enable_if_t<!shifts_as_number<Bare<A>>, int> = 0>
SIMT_DEVICE constexpr Shifted<A&&> operator>>(A&& a, By) {
    return {static_cast<A&&>(a)};
}
template <class A, class B, std::enable_if_t<!shifts_as_number<A> || !shifts_as_number<Bare<B>>, int> = 0>
SIMT_DEVICE constexpr decltype(auto) operator<<(Shifted<A> a, B&& b) {
    return static_cast<A&&>(a.value) << static_cast<B&&>(b);
}
template <class A, class B, std::enable_if_t<!shifts_as_number<A> || !shifts_as_number<Bare<B>>, int> = 0>
SIMT_DEVICE constexpr decltype(auto) operator>>(Shifted<A> a, B&& b) {
    return static_cast<A&&>(a.value) >> static_cast<B&&>(b);
}

template <class B>
SIMT_DEVICE constexpr Amount<B&&> operator<<=(By, B&& n) {
    return {static_cast<B&&>(n)};
}
template <class B>
SIMT_DEVICE constexpr Amount<B&&> operator>>=(By, B&& n) {
    return {static_cast<B&&>(n)};
}
template <class A, class B>
SIMT_DEVICE constexpr A& operator<<=(A& a, Amount<B> n) {
    if constexpr (shifts_as_number<std::remove_cv_t<A>>)
        a = static_cast<std::remove_cv_t<A>>(a << by << n.value);
    else
        a <<= static_cast<B&&>(n.value);
    return a;
}
template <class A, class B>
SIMT_DEVICE constexpr A& operator>>=(A& a, Amount<B> n) {
    if constexpr (shifts_as_number<std::remove_cv_t<A>>)
        a = static_cast<std::remove_cv_t<A>>(a >> by >> n.value);
    else
        a >>= static_cast<B&&>(n.value);
    return a;
}

}  // namespace simt
