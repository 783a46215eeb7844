/// @file
/// CUDA's built-in vector types with CUDA's sizes and alignments, `dim3`, and the `make_*` functions.
///
/// In run mode the types are plain aggregates, as CUDA's are: trivially copyable, usable in unions, in
/// constant expressions and with designated initialisers. A check build defines `RUNGS_SIMT_WHOLE_VECTORS=1`.
/// Copies of `float4` and its relatives then go through one access of the vector's width (two of 16 bytes for
/// the 32-byte types), because compilers split the copy of an aggregate into its members and an observer
/// would count four requests where the hardware makes one. Layout is the same either way; triviality is not,
/// so one program must use one setting. `SIMT_LIKE_CHECK` besides: types as in a check build, by which a
/// program cannot tell the two apart, and copies as in run mode.
#pragma once

#include "simt/linkage.h"

#ifndef RUNGS_SIMT_WHOLE_VECTORS
#define RUNGS_SIMT_WHOLE_VECTORS 0
#endif

#if RUNGS_SIMT_WHOLE_VECTORS && defined(__cplusplus)
namespace simt {

template <unsigned long Bytes>
struct Word;
template <>
struct Word<2> {
    typedef unsigned short __attribute__((may_alias)) type;
};
template <>
struct Word<4> {
    typedef unsigned __attribute__((may_alias)) type;
};
template <>
struct Word<8> {
    typedef unsigned long __attribute__((may_alias)) type;
};
template <>
struct Word<16> {
    typedef unsigned type __attribute__((vector_size(16), may_alias));
};

/// Copies a vector in accesses of its own width, at most 16 bytes each.
template <class T>
inline __attribute__((always_inline)) void copy_whole(T* to, const T* from) {
    constexpr unsigned long width = sizeof(T) < 16 ? sizeof(T) : 16;
    using W = typename Word<width>::type;
    for (unsigned long i = 0; i < sizeof(T) / width; ++i)
        reinterpret_cast<W*>(to)[i] = reinterpret_cast<const W*>(from)[i];
}

}  // namespace simt

#if __cplusplus >= 202002L
#define SIMT_CONSTEXPR_COPY constexpr
#else
#define SIMT_CONSTEXPR_COPY
#endif
#if defined(SIMT_LIKE_CHECK)
#define SIMT_COPY(...) __VA_ARGS__
#else
#define SIMT_COPY(...)                       \
    if (__builtin_is_constant_evaluated()) { \
        __VA_ARGS__;                         \
    } else {                                 \
        simt::copy_whole(this, &other);      \
    }
#endif
#define SIMT_WHOLE_COPY(name, ...)                                          \
    name() = default;                                                       \
    ~name() = default;                                                      \
    SIMT_CONSTEXPR_COPY name(const name& other) { SIMT_COPY(__VA_ARGS__); } \
    SIMT_CONSTEXPR_COPY name& operator=(const name& other) {                \
        SIMT_COPY(__VA_ARGS__);                                             \
        return *this;                                                       \
    }
#define SIMT_WHOLE2(name, T)                         \
    constexpr name(T x_, T y_ = 0) : x(x_), y(y_) {} \
    SIMT_WHOLE_COPY(name, x = other.x, y = other.y)
#define SIMT_WHOLE4(name, T)                                                           \
    constexpr name(T x_, T y_ = 0, T z_ = 0, T w_ = 0) : x(x_), y(y_), z(z_), w(w_) {} \
    SIMT_WHOLE_COPY(name, x = other.x, y = other.y, z = other.z, w = other.w)
#else
#define SIMT_WHOLE2(name, T)
#define SIMT_WHOLE4(name, T)
#endif

// One scalar type's family: name1 .. name4 and their make functions. CUDA aligns the two-component types to
// their size and the four-component ones to at most 16 bytes; the three-component ones keep the scalar's.
#define SIMT_VECTOR_FAMILY(name, T, align2, align4)                                            \
    typedef struct name##1 {                                                                   \
        T x;                                                                                   \
    }                                                                                          \
    name##1;                                                                                   \
    typedef struct __attribute__((aligned(align2))) name##2 {                                  \
        T x, y;                                                                                \
        SIMT_WHOLE2(name##2, T)                                                                \
    }                                                                                          \
    name##2;                                                                                   \
    typedef struct name##3 {                                                                   \
        T x, y, z;                                                                             \
    }                                                                                          \
    name##3;                                                                                   \
    typedef struct __attribute__((aligned(align4))) name##4 {                                  \
        T x, y, z, w;                                                                          \
        SIMT_WHOLE4(name##4, T)                                                                \
    }                                                                                          \
    name##4;                                                                                   \
    SIMT_INLINE name##1 make_##name##1(T x) { return SIMT_VALUE(name##1, x); }                 \
    SIMT_INLINE name##2 make_##name##2(T x, T y) { return SIMT_VALUE(name##2, x, y); }         \
    SIMT_INLINE name##3 make_##name##3(T x, T y, T z) { return SIMT_VALUE(name##3, x, y, z); } \
    SIMT_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return SIMT_VALUE(name##4, x, y, z, w); }

// The 32-byte types with the alignment in their name, as CUDA 13 has them beside the plain (16-byte) ones.
#define SIMT_WIDE_VECTOR(name, T, alignment)                  \
    typedef struct __attribute__((aligned(alignment))) name { \
        T x, y, z, w;                                         \
        SIMT_WHOLE4(name, T)                                  \
    } name;                                                   \
    SIMT_INLINE name make_##name(T x, T y, T z, T w) { return SIMT_VALUE(name, x, y, z, w); }

SIMT_VECTOR_FAMILY(char, signed char, 2, 4)
SIMT_VECTOR_FAMILY(uchar, unsigned char, 2, 4)
SIMT_VECTOR_FAMILY(short, short, 4, 8)
SIMT_VECTOR_FAMILY(ushort, unsigned short, 4, 8)
SIMT_VECTOR_FAMILY(int, int, 8, 16)
SIMT_VECTOR_FAMILY(uint, unsigned int, 8, 16)
SIMT_VECTOR_FAMILY(long, long, 2 * sizeof(long), 16)
SIMT_VECTOR_FAMILY(ulong, unsigned long, 2 * sizeof(long), 16)
SIMT_VECTOR_FAMILY(longlong, long long, 16, 16)
SIMT_VECTOR_FAMILY(ulonglong, unsigned long long, 16, 16)
SIMT_VECTOR_FAMILY(float, float, 8, 16)
SIMT_VECTOR_FAMILY(double, double, 16, 16)

SIMT_WIDE_VECTOR(double4_16a, double, 16)
SIMT_WIDE_VECTOR(double4_32a, double, 32)
SIMT_WIDE_VECTOR(long4_16a, long, 16)
SIMT_WIDE_VECTOR(long4_32a, long, 32)
SIMT_WIDE_VECTOR(ulong4_16a, unsigned long, 16)
SIMT_WIDE_VECTOR(ulong4_32a, unsigned long, 32)
SIMT_WIDE_VECTOR(longlong4_16a, long long, 16)
SIMT_WIDE_VECTOR(longlong4_32a, long long, 32)
SIMT_WIDE_VECTOR(ulonglong4_16a, unsigned long long, 16)
SIMT_WIDE_VECTOR(ulonglong4_32a, unsigned long long, 32)

#undef SIMT_VECTOR_FAMILY
#undef SIMT_WIDE_VECTOR
#undef SIMT_WHOLE2
#undef SIMT_WHOLE4
#undef SIMT_WHOLE_COPY
#undef SIMT_COPY
#undef SIMT_CONSTEXPR_COPY

/// Extent of a grid or a block; components that are not given are 1.
typedef struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;
