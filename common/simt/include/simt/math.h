/// @file
/// CUDA's device math: functions that <math.h> lacks, intrinsics with CUDA's names, and type conversions.
///
/// What <math.h> has (sinf, exp, fma, lgamma ...) is the host's. The fast intrinsics (`__expf`, `__sinf` ...)
/// are the accurate functions, so they are better here than on a device; a program must not rely on either's
/// last bits. The directed roundings are exact. Conversions from floating point to integers saturate and give
/// 0 for NaN, as CUDA's do; an ordinary cast does not, on any CPU.
#pragma once

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simt/types.h"

#define SIMT_MATH inline __attribute__((always_inline))

namespace simt {

/// Directions of rounding, in the order of CUDA's suffixes rn, rz, ru, rd.
enum class Round { nearest, zero, up, down };

// One operation, correctly rounded in the given direction.
float rounded_add(float a, float b, Round round);
float rounded_mul(float a, float b, Round round);
float rounded_div(float a, float b, Round round);
float rounded_fma(float a, float b, float c, Round round);
float rounded_sqrt(float a, Round round);
double rounded_add(double a, double b, Round round);
double rounded_mul(double a, double b, Round round);
double rounded_div(double a, double b, Round round);
double rounded_fma(double a, double b, double c, Round round);
double rounded_sqrt(double a, Round round);
float rounded_float(double a, Round round);
float rounded_float(long long a, Round round);
float rounded_float(unsigned long long a, Round round);
double rounded_double(long long a, Round round);
double rounded_double(unsigned long long a, Round round);

// Functions that take more than a line.
double erf_inverse(double y);
double erfc_inverse(double y);
double erfc_scaled(double x);
double sin_pi(double x);
double cos_pi(double x);
double bessel_i(int order, double x);

// What reads or writes a kernel's memory is compiled with the kernel, so that check mode sees it.

inline double length(int n, const double* values) {
    // Dividing by the largest keeps squares from overflowing or vanishing.
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        const double size = fabs(values[i]);
        if (isinf(size)) return size;
        if (!(size <= largest)) largest = size;
    }
    if (!(largest > 0)) return largest;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (values[i] / largest) * (values[i] / largest);
    return largest * sqrt(sum);
}
inline float length(int n, const float* values) {
    double sum = 0;  // a float's square fits a double
    for (int i = 0; i < n; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return static_cast<float>(sqrt(sum));
}

/// Copies the bits of a value into another type of the same size.
template <class To, class From>
SIMT_MATH To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits() keeps the size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

/// To integer `I`, saturating; NaN gives 0. `value` is integral or infinite.
template <class I>
SIMT_MATH I saturate(double value, I least, I most) {
    if (!(value == value)) return 0;
    // Powers of two compare exactly where `most` itself is no double.
    if (value >= static_cast<double>(most)) return most;
    if (value <= static_cast<double>(least)) return least;
    return static_cast<I>(value);
}

/// Keeps the compiler from fusing an addition with a multiplication: the _rn intrinsics promise that
/// it does not.
template <class T>
SIMT_MATH T unfused(T value) {
#if defined(__x86_64__)
    __asm__("" : "+x"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#endif
    return value;
}

}  // namespace simt

// ---- Functions that <math.h> lacks
// -------------------------------------------------------------------------------

SIMT_MATH double rsqrt(double x) { return 1.0 / sqrt(x); }
SIMT_MATH float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIMT_MATH double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMT_MATH float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
SIMT_MATH double sinpi(double x) { return simt::sin_pi(x); }
SIMT_MATH float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
SIMT_MATH double cospi(double x) { return simt::cos_pi(x); }
SIMT_MATH float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
SIMT_MATH double erfinv(double x) { return simt::erf_inverse(x); }
SIMT_MATH float erfinvf(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }
SIMT_MATH double erfcinv(double x) { return simt::erfc_inverse(x); }
SIMT_MATH float erfcinvf(float x) { return static_cast<float>(erfcinv(static_cast<double>(x))); }
SIMT_MATH double erfcx(double x) { return simt::erfc_scaled(x); }
SIMT_MATH float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }
SIMT_MATH double normcdf(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }
SIMT_MATH float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
SIMT_MATH double normcdfinv(double x) { return -1.41421356237309504880 * simt::erfc_inverse(2.0 * x); }
SIMT_MATH float normcdfinvf(float x) { return static_cast<float>(normcdfinv(static_cast<double>(x))); }
SIMT_MATH double cyl_bessel_i0(double x) { return simt::bessel_i(0, x); }
SIMT_MATH float cyl_bessel_i0f(float x) { return static_cast<float>(cyl_bessel_i0(static_cast<double>(x))); }
SIMT_MATH double cyl_bessel_i1(double x) { return simt::bessel_i(1, x); }
SIMT_MATH float cyl_bessel_i1f(float x) { return static_cast<float>(cyl_bessel_i1(static_cast<double>(x))); }
SIMT_MATH void sincospi(double x, double* s, double* c) {
    *s = sinpi(x);
    *c = cospi(x);
}
SIMT_MATH void sincospif(float x, float* s, float* c) {
    *s = sinpif(x);
    *c = cospif(x);
}
SIMT_MATH float fdividef(float x, float y) { return x / y; }
SIMT_MATH double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
SIMT_MATH float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
SIMT_MATH double norm(int n, const double* values) { return simt::length(n, values); }
SIMT_MATH float normf(int n, const float* values) { return simt::length(n, values); }
SIMT_MATH double rnorm(int n, const double* values) { return 1.0 / simt::length(n, values); }
SIMT_MATH float rnormf(int n, const float* values) { return 1.0f / simt::length(n, values); }
SIMT_MATH double norm3d(double a, double b, double c) {
    const double v[] = {a, b, c};
    return simt::length(3, v);
}
SIMT_MATH double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
SIMT_MATH float norm3df(float a, float b, float c) {
    const float v[] = {a, b, c};
    return simt::length(3, v);
}
SIMT_MATH float rnorm3df(float a, float b, float c) { return 1 / norm3df(a, b, c); }
SIMT_MATH double norm4d(double a, double b, double c, double d) {
    const double v[] = {a, b, c, d};
    return simt::length(4, v);
}
SIMT_MATH double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
SIMT_MATH float norm4df(float a, float b, float c, float d) {
    const float v[] = {a, b, c, d};
    return simt::length(4, v);
}
SIMT_MATH float rnorm4df(float a, float b, float c, float d) { return 1 / norm4df(a, b, c, d); }

// CUDA C++ overloads these for float.
SIMT_MATH float rsqrt(float x) { return rsqrtf(x); }
SIMT_MATH float rcbrt(float x) { return rcbrtf(x); }
SIMT_MATH float sinpi(float x) { return sinpif(x); }
SIMT_MATH float cospi(float x) { return cospif(x); }
SIMT_MATH float erfinv(float x) { return erfinvf(x); }
SIMT_MATH float erfcinv(float x) { return erfcinvf(x); }
SIMT_MATH float erfcx(float x) { return erfcxf(x); }
SIMT_MATH float normcdf(float x) { return normcdff(x); }
SIMT_MATH float normcdfinv(float x) { return normcdfinvf(x); }
SIMT_MATH float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
SIMT_MATH float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }
SIMT_MATH float rhypot(float x, float y) { return rhypotf(x, y); }
SIMT_MATH void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
SIMT_MATH void sincos(float x, float* s, float* c) {
    *s = sinf(x);
    *c = cosf(x);
}
SIMT_MATH float exp10(float x) { return exp10f(x); }
SIMT_MATH float j0(float x) { return j0f(x); }
SIMT_MATH float j1(float x) { return j1f(x); }
SIMT_MATH float y0(float x) { return y0f(x); }
SIMT_MATH float y1(float x) { return y1f(x); }
SIMT_MATH float fdivide(float x, float y) { return x / y; }
SIMT_MATH double fdivide(double x, double y) { return x / y; }

// ---- Minimum and maximum
// ----------------------------------------------------------------------------------------- CUDA's mixed
// forms: unsigned wins over signed, long over int, double over float. A NaN loses against a number.

SIMT_MATH int min(int a, int b) {
    return static_cast<int>(a) < static_cast<int>(b) ? static_cast<int>(a) : static_cast<int>(b);
}
SIMT_MATH unsigned int min(unsigned int a, unsigned int b) {
    return static_cast<unsigned int>(a) < static_cast<unsigned int>(b) ? static_cast<unsigned int>(a)
                                                                       : static_cast<unsigned int>(b);
}
SIMT_MATH unsigned int min(int a, unsigned int b) {
    return static_cast<unsigned int>(a) < static_cast<unsigned int>(b) ? static_cast<unsigned int>(a)
                                                                       : static_cast<unsigned int>(b);
}
SIMT_MATH unsigned int min(unsigned int a, int b) {
    return static_cast<unsigned int>(a) < static_cast<unsigned int>(b) ? static_cast<unsigned int>(a)
                                                                       : static_cast<unsigned int>(b);
}
SIMT_MATH long min(long a, long b) {
    return static_cast<long>(a) < static_cast<long>(b) ? static_cast<long>(a) : static_cast<long>(b);
}
SIMT_MATH unsigned long min(unsigned long a, unsigned long b) {
    return static_cast<unsigned long>(a) < static_cast<unsigned long>(b) ? static_cast<unsigned long>(a)
                                                                         : static_cast<unsigned long>(b);
}
SIMT_MATH unsigned long min(long a, unsigned long b) {
    return static_cast<unsigned long>(a) < static_cast<unsigned long>(b) ? static_cast<unsigned long>(a)
                                                                         : static_cast<unsigned long>(b);
}
SIMT_MATH unsigned long min(unsigned long a, long b) {
    return static_cast<unsigned long>(a) < static_cast<unsigned long>(b) ? static_cast<unsigned long>(a)
                                                                         : static_cast<unsigned long>(b);
}
SIMT_MATH long long min(long long a, long long b) {
    return static_cast<long long>(a) < static_cast<long long>(b) ? static_cast<long long>(a)
                                                                 : static_cast<long long>(b);
}
SIMT_MATH unsigned long long min(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(a) < static_cast<unsigned long long>(b)
               ? static_cast<unsigned long long>(a)
               : static_cast<unsigned long long>(b);
}
SIMT_MATH unsigned long long min(long long a, unsigned long long b) {
    return static_cast<unsigned long long>(a) < static_cast<unsigned long long>(b)
               ? static_cast<unsigned long long>(a)
               : static_cast<unsigned long long>(b);
}
SIMT_MATH unsigned long long min(unsigned long long a, long long b) {
    return static_cast<unsigned long long>(a) < static_cast<unsigned long long>(b)
               ? static_cast<unsigned long long>(a)
               : static_cast<unsigned long long>(b);
}
SIMT_MATH float min(float a, float b) { return fminf(a, b); }
SIMT_MATH double min(double a, double b) { return fmin(static_cast<double>(a), static_cast<double>(b)); }
SIMT_MATH double min(float a, double b) { return fmin(static_cast<double>(a), static_cast<double>(b)); }
SIMT_MATH double min(double a, float b) { return fmin(static_cast<double>(a), static_cast<double>(b)); }
SIMT_MATH unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
SIMT_MATH long long llmin(long long a, long long b) { return min(a, b); }
SIMT_MATH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
SIMT_MATH int max(int a, int b) {
    return static_cast<int>(a) > static_cast<int>(b) ? static_cast<int>(a) : static_cast<int>(b);
}
SIMT_MATH unsigned int max(unsigned int a, unsigned int b) {
    return static_cast<unsigned int>(a) > static_cast<unsigned int>(b) ? static_cast<unsigned int>(a)
                                                                       : static_cast<unsigned int>(b);
}
SIMT_MATH unsigned int max(int a, unsigned int b) {
    return static_cast<unsigned int>(a) > static_cast<unsigned int>(b) ? static_cast<unsigned int>(a)
                                                                       : static_cast<unsigned int>(b);
}
SIMT_MATH unsigned int max(unsigned int a, int b) {
    return static_cast<unsigned int>(a) > static_cast<unsigned int>(b) ? static_cast<unsigned int>(a)
                                                                       : static_cast<unsigned int>(b);
}
SIMT_MATH long max(long a, long b) {
    return static_cast<long>(a) > static_cast<long>(b) ? static_cast<long>(a) : static_cast<long>(b);
}
SIMT_MATH unsigned long max(unsigned long a, unsigned long b) {
    return static_cast<unsigned long>(a) > static_cast<unsigned long>(b) ? static_cast<unsigned long>(a)
                                                                         : static_cast<unsigned long>(b);
}
SIMT_MATH unsigned long max(long a, unsigned long b) {
    return static_cast<unsigned long>(a) > static_cast<unsigned long>(b) ? static_cast<unsigned long>(a)
                                                                         : static_cast<unsigned long>(b);
}
SIMT_MATH unsigned long max(unsigned long a, long b) {
    return static_cast<unsigned long>(a) > static_cast<unsigned long>(b) ? static_cast<unsigned long>(a)
                                                                         : static_cast<unsigned long>(b);
}
SIMT_MATH long long max(long long a, long long b) {
    return static_cast<long long>(a) > static_cast<long long>(b) ? static_cast<long long>(a)
                                                                 : static_cast<long long>(b);
}
SIMT_MATH unsigned long long max(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(a) > static_cast<unsigned long long>(b)
               ? static_cast<unsigned long long>(a)
               : static_cast<unsigned long long>(b);
}
SIMT_MATH unsigned long long max(long long a, unsigned long long b) {
    return static_cast<unsigned long long>(a) > static_cast<unsigned long long>(b)
               ? static_cast<unsigned long long>(a)
               : static_cast<unsigned long long>(b);
}
SIMT_MATH unsigned long long max(unsigned long long a, long long b) {
    return static_cast<unsigned long long>(a) > static_cast<unsigned long long>(b)
               ? static_cast<unsigned long long>(a)
               : static_cast<unsigned long long>(b);
}
SIMT_MATH float max(float a, float b) { return fmaxf(a, b); }
SIMT_MATH double max(double a, double b) { return fmax(static_cast<double>(a), static_cast<double>(b)); }
SIMT_MATH double max(float a, double b) { return fmax(static_cast<double>(a), static_cast<double>(b)); }
SIMT_MATH double max(double a, float b) { return fmax(static_cast<double>(a), static_cast<double>(b)); }
SIMT_MATH unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
SIMT_MATH long long llmax(long long a, long long b) { return max(a, b); }
SIMT_MATH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// ---- Arithmetic with a direction of rounding
// ---------------------------------------------------------------------

SIMT_MATH float __fadd_rn(float a, float b) { return simt::unfused(a + b); }
SIMT_MATH float __fadd_rz(float a, float b) { return simt::rounded_add(a, b, simt::Round::zero); }
SIMT_MATH float __fadd_ru(float a, float b) { return simt::rounded_add(a, b, simt::Round::up); }
SIMT_MATH float __fadd_rd(float a, float b) { return simt::rounded_add(a, b, simt::Round::down); }
SIMT_MATH double __dadd_rn(double a, double b) { return simt::unfused(a + b); }
SIMT_MATH double __dadd_rz(double a, double b) { return simt::rounded_add(a, b, simt::Round::zero); }
SIMT_MATH double __dadd_ru(double a, double b) { return simt::rounded_add(a, b, simt::Round::up); }
SIMT_MATH double __dadd_rd(double a, double b) { return simt::rounded_add(a, b, simt::Round::down); }
SIMT_MATH float __fsub_rn(float a, float b) { return simt::unfused(a - b); }
SIMT_MATH float __fsub_rz(float a, float b) { return simt::rounded_add(a, -b, simt::Round::zero); }
SIMT_MATH float __fsub_ru(float a, float b) { return simt::rounded_add(a, -b, simt::Round::up); }
SIMT_MATH float __fsub_rd(float a, float b) { return simt::rounded_add(a, -b, simt::Round::down); }
SIMT_MATH double __dsub_rn(double a, double b) { return simt::unfused(a - b); }
SIMT_MATH double __dsub_rz(double a, double b) { return simt::rounded_add(a, -b, simt::Round::zero); }
SIMT_MATH double __dsub_ru(double a, double b) { return simt::rounded_add(a, -b, simt::Round::up); }
SIMT_MATH double __dsub_rd(double a, double b) { return simt::rounded_add(a, -b, simt::Round::down); }
SIMT_MATH float __fmul_rn(float a, float b) { return simt::unfused(a * b); }
SIMT_MATH float __fmul_rz(float a, float b) { return simt::rounded_mul(a, b, simt::Round::zero); }
SIMT_MATH float __fmul_ru(float a, float b) { return simt::rounded_mul(a, b, simt::Round::up); }
SIMT_MATH float __fmul_rd(float a, float b) { return simt::rounded_mul(a, b, simt::Round::down); }
SIMT_MATH double __dmul_rn(double a, double b) { return simt::unfused(a * b); }
SIMT_MATH double __dmul_rz(double a, double b) { return simt::rounded_mul(a, b, simt::Round::zero); }
SIMT_MATH double __dmul_ru(double a, double b) { return simt::rounded_mul(a, b, simt::Round::up); }
SIMT_MATH double __dmul_rd(double a, double b) { return simt::rounded_mul(a, b, simt::Round::down); }
SIMT_MATH float __fdiv_rn(float a, float b) { return simt::unfused(a / b); }
SIMT_MATH float __fdiv_rz(float a, float b) { return simt::rounded_div(a, b, simt::Round::zero); }
SIMT_MATH float __fdiv_ru(float a, float b) { return simt::rounded_div(a, b, simt::Round::up); }
SIMT_MATH float __fdiv_rd(float a, float b) { return simt::rounded_div(a, b, simt::Round::down); }
SIMT_MATH double __ddiv_rn(double a, double b) { return simt::unfused(a / b); }
SIMT_MATH double __ddiv_rz(double a, double b) { return simt::rounded_div(a, b, simt::Round::zero); }
SIMT_MATH double __ddiv_ru(double a, double b) { return simt::rounded_div(a, b, simt::Round::up); }
SIMT_MATH double __ddiv_rd(double a, double b) { return simt::rounded_div(a, b, simt::Round::down); }
SIMT_MATH float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_MATH double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
SIMT_MATH float __fsqrt_rn(float a) { return sqrtf(a); }
SIMT_MATH float __frcp_rn(float a) { return 1.0f / a; }
SIMT_MATH double __dsqrt_rn(double a) { return sqrt(a); }
SIMT_MATH double __drcp_rn(double a) { return 1.0 / a; }
SIMT_MATH float __fmaf_rz(float a, float b, float c) { return simt::rounded_fma(a, b, c, simt::Round::zero); }
SIMT_MATH double __fma_rz(double a, double b, double c) {
    return simt::rounded_fma(a, b, c, simt::Round::zero);
}
SIMT_MATH float __fsqrt_rz(float a) { return simt::rounded_sqrt(a, simt::Round::zero); }
SIMT_MATH float __frcp_rz(float a) { return simt::rounded_div(1.0f, a, simt::Round::zero); }
SIMT_MATH double __dsqrt_rz(double a) { return simt::rounded_sqrt(a, simt::Round::zero); }
SIMT_MATH double __drcp_rz(double a) { return simt::rounded_div(1.0, a, simt::Round::zero); }
SIMT_MATH float __fmaf_ru(float a, float b, float c) { return simt::rounded_fma(a, b, c, simt::Round::up); }
SIMT_MATH double __fma_ru(double a, double b, double c) {
    return simt::rounded_fma(a, b, c, simt::Round::up);
}
SIMT_MATH float __fsqrt_ru(float a) { return simt::rounded_sqrt(a, simt::Round::up); }
SIMT_MATH float __frcp_ru(float a) { return simt::rounded_div(1.0f, a, simt::Round::up); }
SIMT_MATH double __dsqrt_ru(double a) { return simt::rounded_sqrt(a, simt::Round::up); }
SIMT_MATH double __drcp_ru(double a) { return simt::rounded_div(1.0, a, simt::Round::up); }
SIMT_MATH float __fmaf_rd(float a, float b, float c) { return simt::rounded_fma(a, b, c, simt::Round::down); }
SIMT_MATH double __fma_rd(double a, double b, double c) {
    return simt::rounded_fma(a, b, c, simt::Round::down);
}
SIMT_MATH float __fsqrt_rd(float a) { return simt::rounded_sqrt(a, simt::Round::down); }
SIMT_MATH float __frcp_rd(float a) { return simt::rounded_div(1.0f, a, simt::Round::down); }
SIMT_MATH double __dsqrt_rd(double a) { return simt::rounded_sqrt(a, simt::Round::down); }
SIMT_MATH double __drcp_rd(double a) { return simt::rounded_div(1.0, a, simt::Round::down); }
/// 1 / sqrt(x), rounded once.
SIMT_MATH float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
/// x clamped to [0, 1]; 0 for NaN.
SIMT_MATH float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
/// x / y, but 0 where 2^126 < |y| < 2^128, and NaN for an infinite x there, as a device's
/// fast division gives.
SIMT_MATH float __fdividef(float x, float y) {
    const float size = fabsf(y);
    if (size > 0x1p126f && size <= 3.402823466e38f) return fabsf(x) <= 3.402823466e38f ? 0.0f * x * y : NAN;
    return x / y;
}

// The fast intrinsics. glibc declares functions of these names for itself, so they are macros.
SIMT_MATH float simt_tanhf(float x) { return tanhf(x); }
SIMT_MATH void simt_sincosf(float x, float* s, float* c) { sincos(x, s, c); }
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __tanhf simt_tanhf
#define __sincosf simt_sincosf
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf

// ---- Conversions
// -------------------------------------------------------------------------------------------------

SIMT_MATH int __float2int_rn(float x) {
    return simt::saturate<int>(rint(static_cast<double>(x)), INT_MIN, INT_MAX);
}
SIMT_MATH unsigned int __float2uint_rn(float x) {
    return simt::saturate<unsigned int>(rint(static_cast<double>(x)), 0u, UINT_MAX);
}
SIMT_MATH long long __float2ll_rn(float x) {
    return simt::saturate<long long>(rint(static_cast<double>(x)), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __float2ull_rn(float x) {
    return simt::saturate<unsigned long long>(rint(static_cast<double>(x)), 0ull, ULLONG_MAX);
}
SIMT_MATH int __double2int_rn(double x) { return simt::saturate<int>(rint(x), INT_MIN, INT_MAX); }
SIMT_MATH unsigned int __double2uint_rn(double x) {
    return simt::saturate<unsigned int>(rint(x), 0u, UINT_MAX);
}
SIMT_MATH long long __double2ll_rn(double x) {
    return simt::saturate<long long>(rint(x), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __double2ull_rn(double x) {
    return simt::saturate<unsigned long long>(rint(x), 0ull, ULLONG_MAX);
}
SIMT_MATH float __int2float_rn(int x) { return static_cast<float>(x); }
SIMT_MATH float __uint2float_rn(unsigned int x) { return static_cast<float>(x); }
SIMT_MATH float __ll2float_rn(long long x) { return static_cast<float>(x); }
SIMT_MATH float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
SIMT_MATH double __ll2double_rn(long long x) { return static_cast<double>(x); }
SIMT_MATH double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
SIMT_MATH float __double2float_rn(double x) { return static_cast<float>(x); }
SIMT_MATH int __float2int_rz(float x) {
    return simt::saturate<int>(trunc(static_cast<double>(x)), INT_MIN, INT_MAX);
}
SIMT_MATH unsigned int __float2uint_rz(float x) {
    return simt::saturate<unsigned int>(trunc(static_cast<double>(x)), 0u, UINT_MAX);
}
SIMT_MATH long long __float2ll_rz(float x) {
    return simt::saturate<long long>(trunc(static_cast<double>(x)), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __float2ull_rz(float x) {
    return simt::saturate<unsigned long long>(trunc(static_cast<double>(x)), 0ull, ULLONG_MAX);
}
SIMT_MATH int __double2int_rz(double x) { return simt::saturate<int>(trunc(x), INT_MIN, INT_MAX); }
SIMT_MATH unsigned int __double2uint_rz(double x) {
    return simt::saturate<unsigned int>(trunc(x), 0u, UINT_MAX);
}
SIMT_MATH long long __double2ll_rz(double x) {
    return simt::saturate<long long>(trunc(x), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __double2ull_rz(double x) {
    return simt::saturate<unsigned long long>(trunc(x), 0ull, ULLONG_MAX);
}
SIMT_MATH float __int2float_rz(int x) {
    return simt::rounded_float(static_cast<long long>(x), simt::Round::zero);
}
SIMT_MATH float __uint2float_rz(unsigned int x) {
    return simt::rounded_float(static_cast<unsigned long long>(x), simt::Round::zero);
}
SIMT_MATH float __ll2float_rz(long long x) {
    return simt::rounded_float(static_cast<long long>(x), simt::Round::zero);
}
SIMT_MATH float __ull2float_rz(unsigned long long x) {
    return simt::rounded_float(static_cast<unsigned long long>(x), simt::Round::zero);
}
SIMT_MATH double __ll2double_rz(long long x) { return simt::rounded_double(x, simt::Round::zero); }
SIMT_MATH double __ull2double_rz(unsigned long long x) { return simt::rounded_double(x, simt::Round::zero); }
SIMT_MATH float __double2float_rz(double x) { return simt::rounded_float(x, simt::Round::zero); }
SIMT_MATH int __float2int_ru(float x) {
    return simt::saturate<int>(ceil(static_cast<double>(x)), INT_MIN, INT_MAX);
}
SIMT_MATH unsigned int __float2uint_ru(float x) {
    return simt::saturate<unsigned int>(ceil(static_cast<double>(x)), 0u, UINT_MAX);
}
SIMT_MATH long long __float2ll_ru(float x) {
    return simt::saturate<long long>(ceil(static_cast<double>(x)), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __float2ull_ru(float x) {
    return simt::saturate<unsigned long long>(ceil(static_cast<double>(x)), 0ull, ULLONG_MAX);
}
SIMT_MATH int __double2int_ru(double x) { return simt::saturate<int>(ceil(x), INT_MIN, INT_MAX); }
SIMT_MATH unsigned int __double2uint_ru(double x) {
    return simt::saturate<unsigned int>(ceil(x), 0u, UINT_MAX);
}
SIMT_MATH long long __double2ll_ru(double x) {
    return simt::saturate<long long>(ceil(x), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __double2ull_ru(double x) {
    return simt::saturate<unsigned long long>(ceil(x), 0ull, ULLONG_MAX);
}
SIMT_MATH float __int2float_ru(int x) {
    return simt::rounded_float(static_cast<long long>(x), simt::Round::up);
}
SIMT_MATH float __uint2float_ru(unsigned int x) {
    return simt::rounded_float(static_cast<unsigned long long>(x), simt::Round::up);
}
SIMT_MATH float __ll2float_ru(long long x) {
    return simt::rounded_float(static_cast<long long>(x), simt::Round::up);
}
SIMT_MATH float __ull2float_ru(unsigned long long x) {
    return simt::rounded_float(static_cast<unsigned long long>(x), simt::Round::up);
}
SIMT_MATH double __ll2double_ru(long long x) { return simt::rounded_double(x, simt::Round::up); }
SIMT_MATH double __ull2double_ru(unsigned long long x) { return simt::rounded_double(x, simt::Round::up); }
SIMT_MATH float __double2float_ru(double x) { return simt::rounded_float(x, simt::Round::up); }
SIMT_MATH int __float2int_rd(float x) {
    return simt::saturate<int>(floor(static_cast<double>(x)), INT_MIN, INT_MAX);
}
SIMT_MATH unsigned int __float2uint_rd(float x) {
    return simt::saturate<unsigned int>(floor(static_cast<double>(x)), 0u, UINT_MAX);
}
SIMT_MATH long long __float2ll_rd(float x) {
    return simt::saturate<long long>(floor(static_cast<double>(x)), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __float2ull_rd(float x) {
    return simt::saturate<unsigned long long>(floor(static_cast<double>(x)), 0ull, ULLONG_MAX);
}
SIMT_MATH int __double2int_rd(double x) { return simt::saturate<int>(floor(x), INT_MIN, INT_MAX); }
SIMT_MATH unsigned int __double2uint_rd(double x) {
    return simt::saturate<unsigned int>(floor(x), 0u, UINT_MAX);
}
SIMT_MATH long long __double2ll_rd(double x) {
    return simt::saturate<long long>(floor(x), LLONG_MIN, LLONG_MAX);
}
SIMT_MATH unsigned long long __double2ull_rd(double x) {
    return simt::saturate<unsigned long long>(floor(x), 0ull, ULLONG_MAX);
}
SIMT_MATH float __int2float_rd(int x) {
    return simt::rounded_float(static_cast<long long>(x), simt::Round::down);
}
SIMT_MATH float __uint2float_rd(unsigned int x) {
    return simt::rounded_float(static_cast<unsigned long long>(x), simt::Round::down);
}
SIMT_MATH float __ll2float_rd(long long x) {
    return simt::rounded_float(static_cast<long long>(x), simt::Round::down);
}
SIMT_MATH float __ull2float_rd(unsigned long long x) {
    return simt::rounded_float(static_cast<unsigned long long>(x), simt::Round::down);
}
SIMT_MATH double __ll2double_rd(long long x) { return simt::rounded_double(x, simt::Round::down); }
SIMT_MATH double __ull2double_rd(unsigned long long x) { return simt::rounded_double(x, simt::Round::down); }
SIMT_MATH float __double2float_rd(double x) { return simt::rounded_float(x, simt::Round::down); }
SIMT_MATH double __int2double_rn(int x) { return x; }
SIMT_MATH double __uint2double_rn(unsigned int x) { return x; }
SIMT_MATH int __float_as_int(float x) { return simt::bits<int>(x); }
SIMT_MATH unsigned int __float_as_uint(float x) { return simt::bits<unsigned int>(x); }
SIMT_MATH float __int_as_float(int x) { return simt::bits<float>(x); }
SIMT_MATH float __uint_as_float(unsigned int x) { return simt::bits<float>(x); }
SIMT_MATH long long __double_as_longlong(double x) { return simt::bits<long long>(x); }
SIMT_MATH double __longlong_as_double(long long x) { return simt::bits<double>(x); }
SIMT_MATH int __double2hiint(double x) { return static_cast<int>(simt::bits<unsigned long long>(x) >> 32); }
SIMT_MATH int __double2loint(double x) { return static_cast<int>(simt::bits<unsigned long long>(x)); }
SIMT_MATH double __hiloint2double(int high, int low) {
    return simt::bits<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                              static_cast<unsigned>(low));
}

// ---- Integers
// ----------------------------------------------------------------------------------------------------

SIMT_MATH int __popc(unsigned int x) { return __builtin_popcount(x); }
SIMT_MATH int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
/// Number of leading zero bits; 32 (64) for 0.
SIMT_MATH int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
SIMT_MATH int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
/// Position of the lowest set bit, from 1; 0 for 0.
SIMT_MATH int __ffs(int x) { return __builtin_ffs(x); }
SIMT_MATH int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_MATH unsigned int __brev(unsigned int x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(x);
}
SIMT_MATH unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
SIMT_MATH int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
SIMT_MATH unsigned int __umulhi(unsigned int a, unsigned int b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
__extension__ typedef __int128 simt_int128;
__extension__ typedef unsigned __int128 simt_uint128;
SIMT_MATH long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<simt_int128>(a) * b >> 64);
}
SIMT_MATH unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<simt_uint128>(a) * b >> 64);
}
/// Low 32 bits of the product of the low 24 bits.
SIMT_MATH int __mul24(int a, int b) {
    const long long x = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
    const long long y = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
    return static_cast<int>(static_cast<unsigned>(x * y));
}
SIMT_MATH unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xFFFFFFu) * (b & 0xFFFFFFu); }
/// |a - b| + c.
SIMT_MATH unsigned int __sad(int a, int b, unsigned int c) {
    return (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b)
                  : static_cast<unsigned>(b) - static_cast<unsigned>(a)) +
           c;
}
SIMT_MATH unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) {
    return (a > b ? a - b : b - a) + c;
}
/// Average without overflow, rounded down; the forms with r round up.
SIMT_MATH int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
SIMT_MATH int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
SIMT_MATH unsigned int __uhadd(unsigned int a, unsigned int b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
SIMT_MATH unsigned int __urhadd(unsigned int a, unsigned int b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
/// Four bytes of the eight in (b, a), chosen by the nibbles of `selector`; its bit 3 replicates the sign.
SIMT_MATH unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
    const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned nibble = selector >> (4 * i) & 0xFu;
        unsigned byte = static_cast<unsigned>(both >> (8 * (nibble & 7u))) & 0xFFu;
        if (nibble & 8u) byte = byte & 0x80u ? 0xFFu : 0u;
        result |= byte << (8 * i);
    }
    return result;
}
/// The high (low) word of (high, low) shifted left (right); the shift wraps at 32, or is clamped to it (`c`).
SIMT_MATH unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31u) >> 32);
}
SIMT_MATH unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
SIMT_MATH unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
SIMT_MATH unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}
/// c + the dot product of four signed (unsigned) bytes.
SIMT_MATH int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; ++i)
        c += static_cast<signed char>(static_cast<unsigned>(a) >> (8 * i)) *
             static_cast<signed char>(static_cast<unsigned>(b) >> (8 * i));
    return c;
}
SIMT_MATH unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xFFu) * (b >> (8 * i) & 0xFFu);
    return c;
}
SIMT_MATH int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
SIMT_MATH unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return c + static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
/// Lanewise sums and differences of two 16-bit or four 8-bit parts; each wraps by itself.
SIMT_MATH unsigned int __vadd4(unsigned int a, unsigned int b) {
    return ((a & 0x7F7F7F7Fu) + (b & 0x7F7F7F7Fu)) ^ ((a ^ b) & 0x80808080u);
}
SIMT_MATH unsigned int __vadd2(unsigned int a, unsigned int b) {
    return ((a & 0x7FFF7FFFu) + (b & 0x7FFF7FFFu)) ^ ((a ^ b) & 0x80008000u);
}
SIMT_MATH unsigned int __vsub4(unsigned int a, unsigned int b) {
    return ((a | 0x80808080u) - (b & 0x7F7F7F7Fu)) ^ ((a ^ ~b) & 0x80808080u);
}
SIMT_MATH unsigned int __vsub2(unsigned int a, unsigned int b) {
    return ((a | 0x80008000u) - (b & 0x7FFF7FFFu)) ^ ((a ^ ~b) & 0x80008000u);
}

#undef SIMT_MATH
