/// @file
/// What cu2cpp makes of device code that stores without an assignment, so that check mode sees an assignment
/// or another notice.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "simt/intercept.h"

namespace simt {

/// An output of an `asm` without instructions: `asm("" : "=r"(a) : "0"(b))` stores `b` to `a`.
template <class T, bool reads>
class AsmOutput {
  public:
    explicit AsmOutput(T& place) : place_(place) {
        if constexpr (reads) value_ = place;
    }
    ~AsmOutput() { place_ = value_; }
    AsmOutput(const AsmOutput&) = delete;
    AsmOutput& operator=(const AsmOutput&) = delete;
    T& value() { return value_; }

  private:
    T value_;
    T& place_;
};
/// `asm("" : "+r"(a))` becomes `asm("" : "+r"(::simt::asm_output<true>(a).value()))`.
/// @tparam reads  the constraint begins with `+`
template <bool reads, class T>
inline __attribute__((always_inline)) AsmOutput<T, reads> asm_output(T& place) {
    return AsmOutput<T, reads>(place);
}

/// `__builtin_bit_cast(T, x)` becomes `::simt::bit_cast<T>(x)`: as an argument it would load `x` in the call.
template <class To, class From>
constexpr inline __attribute__((always_inline)) To bit_cast(const From& from) {
    return __builtin_bit_cast(To, from);
}

/// `new (p) T(f())` becomes `::simt::filled(new (::simt::placed, p) T(f()))`, and `new T(f())` the same
/// without a place: C++ has the call of `f`, here or in a constructor, make the object where it is to be.
enum Placed { placed };

/// An object of `size` bytes is about to be made at `place`. Which bytes of it get written, filled() finds
/// out; an array counts as written throughout.
inline __attribute__((always_inline)) void* place(void* place, [[maybe_unused]] std::size_t size,
                                                  [[maybe_unused]] bool array = false) {
#if defined(SIMT_CHECK)
    simt_place(place, size, array);
#endif
    return place;
}

/// A new object counts as written where its words no longer have the value of unwritten memory. What its
/// constructor leaves out still has it.
template <class T>
inline __attribute__((always_inline)) T* filled(T* object) {
#if defined(SIMT_CHECK)
    simt_filled(object, sizeof(T));
#endif
    return object;
}

/// `new (p) T` becomes `::simt::made(new (p) T)`: constructors store by calls, too. All of
/// it counts as written.
template <class T>
inline __attribute__((always_inline)) T* made(T* object) {
    if constexpr (std::is_trivially_default_constructible_v<T>) {
        return object;
    } else {
        place(const_cast<std::remove_cv_t<T>*>(object), sizeof(T), true);
        return object;
    }
}

}  // namespace simt

inline __attribute__((always_inline)) void* operator new(std::size_t size, simt::Placed, void* place) {
    return simt::place(place, size);
}
inline __attribute__((always_inline)) void* operator new[](std::size_t size, simt::Placed, void* place) {
    return simt::place(place, size, true);
}
inline __attribute__((always_inline)) void* operator new(std::size_t size, simt::Placed) {
    return simt::place(::operator new(size), size);
}
inline __attribute__((always_inline)) void* operator new[](std::size_t size, simt::Placed) {
    return simt::place(::operator new[](size), size, true);
}
inline __attribute__((always_inline)) void* operator new(std::size_t size, std::align_val_t alignment,
                                                         simt::Placed) {
    return simt::place(::operator new(size, alignment), size);
}
inline __attribute__((always_inline)) void* operator new[](std::size_t size, std::align_val_t alignment,
                                                           simt::Placed) {
    return simt::place(::operator new[](size, alignment), size, true);
}
