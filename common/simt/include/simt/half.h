/// @file
/// Half precision: `__half`, `__nv_bfloat16` and their pairs, with CUDA's names.
///
/// Values are stored in 16 bits; arithmetic is done in float and rounded once to nearest even, which gives
/// exactly what a device gives for + - * / sqrt (a float has more than twice the digits). Fused multiply-add
/// goes through double.
#pragma once

#include "simt/atomic.h"
#include "simt/math.h"
#include "simt/types.h"
#include "simt/warp.h"

namespace simt {

/// Bits of the binary16 value nearest to `f`, ties to even; overflow gives infinity, NaN stays NaN.
inline unsigned short float_to_half(float f) {
    unsigned x = bits<unsigned>(f);
    const unsigned sign = x >> 16 & 0x8000u;
    x &= 0x7FFFFFFFu;
    if (x >= 0x7F800000u) return static_cast<unsigned short>(x > 0x7F800000u ? 0x7FFFu : sign | 0x7C00u);
    if (x >= 0x477FF000u)
        return static_cast<unsigned short>(sign | 0x7C00u);  // 65520 and above round to infinity
    if (x < 0x38800000u) {
        // Subnormal: let the float adder round at 2^-24, whose bit is at the end of 0.5f's fraction.
        const float magnitude = bits<float>(x) + 0.5f;
        return static_cast<unsigned short>(sign | (bits<unsigned>(magnitude) - 0x3F000000u));
    }
    const unsigned odd = x >> 13 & 1u;
    return static_cast<unsigned short>(sign | ((x + 0xFFFu + odd - 0x38000000u) >> 13));
}
inline float half_to_float(unsigned short h) {
    const unsigned sign = (h & 0x8000u) << 16, magnitude = h & 0x7FFFu;
    if (magnitude >= 0x7C00u) return bits<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
    if (magnitude < 0x400u)
        return bits<float>(sign | bits<unsigned>(static_cast<float>(magnitude) * 0x1p-24f));
    return bits<float>(sign | ((magnitude << 13) + 0x38000000u));
}
/// Bits of the bfloat16 value nearest to `f`, ties to even.
inline unsigned short float_to_bfloat16(float f) {
    const unsigned x = bits<unsigned>(f);
    if ((x & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFFu;
    return static_cast<unsigned short>((x + 0x7FFFu + (x >> 16 & 1u)) >> 16);
}
inline float bfloat16_to_float(unsigned short h) { return bits<float>(static_cast<unsigned>(h) << 16); }

/// `d` rounded to float so that a second rounding to 16 bits gives what one rounding would: to odd.
inline float round_to_odd(double d) {
    const float f = static_cast<float>(d);
    if (static_cast<double>(f) == d || !(d == d) || f - f != 0.0f) return f;
    unsigned x = bits<unsigned>(f);
    if (x & 1u) return f;
    // The even neighbour was taken: step towards d, to the odd one.
    const bool grow = fabs(d) > fabs(static_cast<double>(f));
    return bits<float>(grow ? x + 1 : x - 1);
}

/// a + b, rounded to odd: exact as far as any later rounding to fewer digits can tell.
inline double add_to_odd(double a, double b) {
    const double sum = a + b;
    if (sum - sum != 0.0) return sum;
    const double part = sum - a, rest = (a - (sum - part)) + (b - part);  // a + b = sum + rest exactly
    const unsigned long long x = bits<unsigned long long>(sum);
    if (rest == 0.0 || (x & 1u)) return sum;
    return bits<double>((rest > 0.0) == (sum > 0.0) ? x + 1 : x - 1);
}

}  // namespace simt

// ---- __half ----------------------------------------------------------------------------------------------

/// The bits of a __half.
struct __half_raw {
    unsigned short x;
};
struct alignas(4) __half2_raw {
    unsigned short x, y;
};

/// A 16-bit floating-point number.
struct alignas(2) __half {
  protected:
    unsigned short __x;

  public:
    __half() = default;
    constexpr __half(__half_raw r) : __x(r.x) {}
    __half(float f) : __x(simt::float_to_half(f)) {}
    __half(double d) : __x(simt::float_to_half(simt::round_to_odd(d))) {}
    __half(int i) : __half(static_cast<double>(i)) {}
    __half(unsigned int i) : __half(static_cast<double>(i)) {}
    __half(short i) : __half(static_cast<float>(i)) {}
    __half(unsigned short i) : __half(static_cast<float>(i)) {}
    __half(long i) : __half(static_cast<double>(i)) {}
    __half(unsigned long i) : __half(static_cast<double>(i)) {}
    __half(long long i) : __half(static_cast<double>(i)) {}
    __half(unsigned long long i) : __half(static_cast<double>(i)) {}
    __half& operator=(float f) { return *this = __half(f); }
    __half& operator=(double d) { return *this = __half(d); }
    __half& operator=(int i) { return *this = __half(i); }
    __half& operator=(__half_raw r) {
        __x = r.x;
        return *this;
    }
    operator float() const { return simt::half_to_float(__x); }
    operator __half_raw() const { return __half_raw{__x}; }
    explicit operator bool() const { return (__x & 0x7FFFu) != 0; }
    explicit operator int() const {
        return simt::saturate<int>(trunc(static_cast<double>(static_cast<float>(*this))), INT_MIN, INT_MAX);
    }
    explicit operator double() const { return static_cast<float>(*this); }
};
/// A pair of them.
struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    __half2(__half a, __half b) : x(a), y(b) {}
    explicit __half2(__half a) : x(a), y(a) {}
    __half2(__half2_raw r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
    operator __half2_raw() const { return {static_cast<__half_raw>(x).x, static_cast<__half_raw>(y).x}; }
};

inline __half __float2half(float f) { return __half(f); }
inline __half __float2half_rn(float f) { return __half(f); }
inline __half __double2half(double d) { return __half(d); }
inline float __half2float(__half h) { return static_cast<float>(h); }
inline __half2 __float2half2_rn(float f) { return {__half(f), __half(f)}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline float __low2float(__half2 a) { return static_cast<float>(a.x); }
inline float __high2float(__half2 a) { return static_cast<float>(a.y); }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline short __half_as_short(__half h) { return static_cast<short>(static_cast<__half_raw>(h).x); }
inline unsigned short __half_as_ushort(__half h) { return static_cast<__half_raw>(h).x; }
inline __half __short_as_half(short s) { return __half_raw{static_cast<unsigned short>(s)}; }
inline __half __ushort_as_half(unsigned short s) { return __half_raw{s}; }
inline float2 __half22float2(__half2 a) {
    return make_float2(static_cast<float>(a.x), static_cast<float>(a.y));
}
inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
inline int __half2int_rn(__half h) { return __float2int_rn(h); }
inline int __half2int_rz(__half h) { return __float2int_rz(h); }
inline int __half2int_rd(__half h) { return __float2int_rd(h); }
inline int __half2int_ru(__half h) { return __float2int_ru(h); }
inline __half __int2half_rn(int i) { return __half(i); }
inline __half __uint2half_rn(unsigned int i) { return __half(i); }

inline __half __hadd(__half a, __half b) { return __half(static_cast<float>(a) + static_cast<float>(b)); }
inline __half2 __hadd2(__half2 a, __half2 b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
inline __half __hadd_rn(__half a, __half b) { return __hadd(a, b); }
inline __half operator+(const __half& a, const __half& b) { return __hadd(a, b); }
inline __half2 operator+(const __half2& a, const __half2& b) { return __hadd2(a, b); }
inline __half& operator+=(__half& a, const __half& b) { return a = a + b; }
inline __half2& operator+=(__half2& a, const __half2& b) { return a = a + b; }
inline __half __hsub(__half a, __half b) { return __half(static_cast<float>(a) - static_cast<float>(b)); }
inline __half2 __hsub2(__half2 a, __half2 b) { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
inline __half __hsub_rn(__half a, __half b) { return __hsub(a, b); }
inline __half operator-(const __half& a, const __half& b) { return __hsub(a, b); }
inline __half2 operator-(const __half2& a, const __half2& b) { return __hsub2(a, b); }
inline __half& operator-=(__half& a, const __half& b) { return a = a - b; }
inline __half2& operator-=(__half2& a, const __half2& b) { return a = a - b; }
inline __half __hmul(__half a, __half b) { return __half(static_cast<float>(a) * static_cast<float>(b)); }
inline __half2 __hmul2(__half2 a, __half2 b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
inline __half __hmul_rn(__half a, __half b) { return __hmul(a, b); }
inline __half operator*(const __half& a, const __half& b) { return __hmul(a, b); }
inline __half2 operator*(const __half2& a, const __half2& b) { return __hmul2(a, b); }
inline __half& operator*=(__half& a, const __half& b) { return a = a * b; }
inline __half2& operator*=(__half2& a, const __half2& b) { return a = a * b; }
inline __half __hdiv(__half a, __half b) { return __half(static_cast<float>(a) / static_cast<float>(b)); }
inline __half2 __h2div(__half2 a, __half2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
inline __half operator/(const __half& a, const __half& b) { return __hdiv(a, b); }
inline __half2 operator/(const __half2& a, const __half2& b) { return __h2div(a, b); }
inline __half& operator/=(__half& a, const __half& b) { return a = a / b; }
inline __half2& operator/=(__half2& a, const __half2& b) { return a = a / b; }
inline __half __hneg(__half a) {
    return __half_raw{static_cast<unsigned short>(static_cast<__half_raw>(a).x ^ 0x8000u)};
}
inline __half __habs(__half a) {
    return __half_raw{static_cast<unsigned short>(static_cast<__half_raw>(a).x & 0x7FFFu)};
}
inline __half operator-(const __half& a) { return __hneg(a); }
inline __half operator+(const __half& a) { return a; }
inline __half2 __hneg2(__half2 a) { return {__hneg(a.x), __hneg(a.y)}; }
inline __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }
inline __half2 operator-(const __half2& a) { return __hneg2(a); }
/// a * b + c, rounded once: the product is exact in double, the sum is rounded to odd on the way.
inline __half __hfma(__half a, __half b, __half c) {
    return __half(simt::add_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline bool __hisnan(__half a) { return isnan(static_cast<float>(a)); }
inline int __hisinf(__half a) {
    const float f = a;
    return isinf(f) ? (f > 0 ? 1 : -1) : 0;
}
/// The larger; a NaN loses against a number.
inline __half __hmax(__half a, __half b) { return __half(fmaxf(a, b)); }
inline __half __hmin(__half a, __half b) { return __half(fminf(a, b)); }
inline __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
inline __half2 __hmin2(__half2 a, __half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
inline __half __hadd_sat(__half a, __half b) {
    return __half(__saturatef(static_cast<float>(a) + static_cast<float>(b)));
}
inline bool __heq(__half a, __half b) { return static_cast<float>(a) == static_cast<float>(b); }
inline bool operator==(const __half& a, const __half& b) { return __heq(a, b); }
inline bool __hbeq2(__half2 a, __half2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
inline bool __hne(__half a, __half b) { return static_cast<float>(a) != static_cast<float>(b); }
inline bool operator!=(const __half& a, const __half& b) { return __hne(a, b); }
inline bool __hbne2(__half2 a, __half2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
inline bool __hlt(__half a, __half b) { return static_cast<float>(a) < static_cast<float>(b); }
inline bool operator<(const __half& a, const __half& b) { return __hlt(a, b); }
inline bool __hblt2(__half2 a, __half2 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
inline bool __hle(__half a, __half b) { return static_cast<float>(a) <= static_cast<float>(b); }
inline bool operator<=(const __half& a, const __half& b) { return __hle(a, b); }
inline bool __hble2(__half2 a, __half2 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
inline bool __hgt(__half a, __half b) { return static_cast<float>(a) > static_cast<float>(b); }
inline bool operator>(const __half& a, const __half& b) { return __hgt(a, b); }
inline bool __hbgt2(__half2 a, __half2 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
inline bool __hge(__half a, __half b) { return static_cast<float>(a) >= static_cast<float>(b); }
inline bool operator>=(const __half& a, const __half& b) { return __hge(a, b); }
inline bool __hbge2(__half2 a, __half2 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
inline __half hsqrt(__half a) { return __half(sqrtf(a)); }
inline __half2 h2sqrt(__half2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }
inline __half hrsqrt(__half a) { return __half(rsqrtf(a)); }
inline __half2 h2rsqrt(__half2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }
inline __half hexp(__half a) { return __half(expf(a)); }
inline __half2 h2exp(__half2 a) { return {hexp(a.x), hexp(a.y)}; }
inline __half hexp2(__half a) { return __half(exp2f(a)); }
inline __half2 h2exp2(__half2 a) { return {hexp2(a.x), hexp2(a.y)}; }
inline __half hexp10(__half a) { return __half(exp10f(a)); }
inline __half2 h2exp10(__half2 a) { return {hexp10(a.x), hexp10(a.y)}; }
inline __half hlog(__half a) { return __half(logf(a)); }
inline __half2 h2log(__half2 a) { return {hlog(a.x), hlog(a.y)}; }
inline __half hlog2(__half a) { return __half(log2f(a)); }
inline __half2 h2log2(__half2 a) { return {hlog2(a.x), hlog2(a.y)}; }
inline __half hlog10(__half a) { return __half(log10f(a)); }
inline __half2 h2log10(__half2 a) { return {hlog10(a.x), hlog10(a.y)}; }
inline __half htanh(__half a) { return __half(tanhf(a)); }
inline __half2 h2tanh(__half2 a) { return {htanh(a.x), htanh(a.y)}; }
inline __half htanh_approx(__half a) { return htanh(a); }
inline __half2 h2tanh_approx(__half2 a) { return h2tanh(a); }
inline __half hsin(__half a) { return __half(sinf(a)); }
inline __half2 h2sin(__half2 a) { return {hsin(a.x), hsin(a.y)}; }
inline __half hcos(__half a) { return __half(cosf(a)); }
inline __half2 h2cos(__half2 a) { return {hcos(a.x), hcos(a.y)}; }
inline __half hfloor(__half a) { return __half(floorf(a)); }
inline __half2 h2floor(__half2 a) { return {hfloor(a.x), hfloor(a.y)}; }
inline __half hceil(__half a) { return __half(ceilf(a)); }
inline __half2 h2ceil(__half2 a) { return {hceil(a.x), hceil(a.y)}; }
inline __half htrunc(__half a) { return __half(truncf(a)); }
inline __half2 h2trunc(__half2 a) { return {htrunc(a.x), htrunc(a.y)}; }
inline __half hrint(__half a) { return __half(rintf(a)); }
inline __half2 h2rint(__half2 a) { return {hrint(a.x), hrint(a.y)}; }
inline __half hrcp(__half a) { return __half(1.0f / static_cast<float>(a)); }
inline __half2 h2rcp(__half2 a) { return {hrcp(a.x), hrcp(a.y)}; }

// ---- __nv_bfloat16 ---------------------------------------------------------------------------------------

/// The bits of a __nv_bfloat16.
struct __nv_bfloat16_raw {
    unsigned short x;
};
struct alignas(4) __nv_bfloat162_raw {
    unsigned short x, y;
};

/// A 16-bit floating-point number.
struct alignas(2) __nv_bfloat16 {
  protected:
    unsigned short __x;

  public:
    __nv_bfloat16() = default;
    constexpr __nv_bfloat16(__nv_bfloat16_raw r) : __x(r.x) {}
    __nv_bfloat16(float f) : __x(simt::float_to_bfloat16(f)) {}
    __nv_bfloat16(double d) : __x(simt::float_to_bfloat16(simt::round_to_odd(d))) {}
    __nv_bfloat16(int i) : __nv_bfloat16(static_cast<double>(i)) {}
    __nv_bfloat16(unsigned int i) : __nv_bfloat16(static_cast<double>(i)) {}
    __nv_bfloat16(short i) : __nv_bfloat16(static_cast<float>(i)) {}
    __nv_bfloat16(unsigned short i) : __nv_bfloat16(static_cast<float>(i)) {}
    __nv_bfloat16(long i) : __nv_bfloat16(static_cast<double>(i)) {}
    __nv_bfloat16(unsigned long i) : __nv_bfloat16(static_cast<double>(i)) {}
    __nv_bfloat16(long long i) : __nv_bfloat16(static_cast<double>(i)) {}
    __nv_bfloat16(unsigned long long i) : __nv_bfloat16(static_cast<double>(i)) {}
    __nv_bfloat16& operator=(float f) { return *this = __nv_bfloat16(f); }
    __nv_bfloat16& operator=(double d) { return *this = __nv_bfloat16(d); }
    __nv_bfloat16& operator=(int i) { return *this = __nv_bfloat16(i); }
    __nv_bfloat16& operator=(__nv_bfloat16_raw r) {
        __x = r.x;
        return *this;
    }
    operator float() const { return simt::bfloat16_to_float(__x); }
    operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
    explicit operator bool() const { return (__x & 0x7FFFu) != 0; }
    explicit operator int() const {
        return simt::saturate<int>(trunc(static_cast<double>(static_cast<float>(*this))), INT_MIN, INT_MAX);
    }
    explicit operator double() const { return static_cast<float>(*this); }
};
/// A pair of them.
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
    explicit __nv_bfloat162(__nv_bfloat16 a) : x(a), y(a) {}
    __nv_bfloat162(__nv_bfloat162_raw r) : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y}) {}
    operator __nv_bfloat162_raw() const {
        return {static_cast<__nv_bfloat16_raw>(x).x, static_cast<__nv_bfloat16_raw>(y).x};
    }
};

inline __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
inline __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
inline __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
inline float __bfloat162float(__nv_bfloat16 h) { return static_cast<float>(h); }
inline __nv_bfloat162 __float2bfloat162_rn(float f) { return {__nv_bfloat16(f), __nv_bfloat16(f)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline float __low2float(__nv_bfloat162 a) { return static_cast<float>(a.x); }
inline float __high2float(__nv_bfloat162 a) { return static_cast<float>(a.y); }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return {a.y, a.x}; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline short __bfloat16_as_short(__nv_bfloat16 h) {
    return static_cast<short>(static_cast<__nv_bfloat16_raw>(h).x);
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return static_cast<__nv_bfloat16_raw>(h).x; }
inline __nv_bfloat16 __short_as_bfloat16(short s) {
    return __nv_bfloat16_raw{static_cast<unsigned short>(s)};
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short s) { return __nv_bfloat16_raw{s}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) {
    return make_float2(static_cast<float>(a.x), static_cast<float>(a.y));
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)}; }
inline int __bfloat162int_rn(__nv_bfloat16 h) { return __float2int_rn(h); }
inline int __bfloat162int_rz(__nv_bfloat16 h) { return __float2int_rz(h); }
inline int __bfloat162int_rd(__nv_bfloat16 h) { return __float2int_rd(h); }
inline int __bfloat162int_ru(__nv_bfloat16 h) { return __float2int_ru(h); }
inline __nv_bfloat16 __int2bfloat16_rn(int i) { return __nv_bfloat16(i); }
inline __nv_bfloat16 __uint2bfloat16_rn(unsigned int i) { return __nv_bfloat16(i); }

inline __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat16(static_cast<float>(a) + static_cast<float>(b));
}
inline __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hadd(a.x, b.x), __hadd(a.y, b.y)};
}
inline __nv_bfloat16 __hadd_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return __hadd(a, b); }
inline __nv_bfloat16 operator+(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hadd(a, b); }
inline __nv_bfloat162 operator+(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __hadd2(a, b); }
inline __nv_bfloat16& operator+=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = a + b; }
inline __nv_bfloat162& operator+=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = a + b; }
inline __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat16(static_cast<float>(a) - static_cast<float>(b));
}
inline __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hsub(a.x, b.x), __hsub(a.y, b.y)};
}
inline __nv_bfloat16 __hsub_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return __hsub(a, b); }
inline __nv_bfloat16 operator-(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hsub(a, b); }
inline __nv_bfloat162 operator-(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __hsub2(a, b); }
inline __nv_bfloat16& operator-=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = a - b; }
inline __nv_bfloat162& operator-=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = a - b; }
inline __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat16(static_cast<float>(a) * static_cast<float>(b));
}
inline __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hmul(a.x, b.x), __hmul(a.y, b.y)};
}
inline __nv_bfloat16 __hmul_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmul(a, b); }
inline __nv_bfloat16 operator*(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hmul(a, b); }
inline __nv_bfloat162 operator*(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __hmul2(a, b); }
inline __nv_bfloat16& operator*=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = a * b; }
inline __nv_bfloat162& operator*=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = a * b; }
inline __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat16(static_cast<float>(a) / static_cast<float>(b));
}
inline __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)};
}
inline __nv_bfloat16 operator/(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hdiv(a, b); }
inline __nv_bfloat162 operator/(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __h2div(a, b); }
inline __nv_bfloat16& operator/=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = a / b; }
inline __nv_bfloat162& operator/=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = a / b; }
inline __nv_bfloat16 __hneg(__nv_bfloat16 a) {
    return __nv_bfloat16_raw{static_cast<unsigned short>(static_cast<__nv_bfloat16_raw>(a).x ^ 0x8000u)};
}
inline __nv_bfloat16 __habs(__nv_bfloat16 a) {
    return __nv_bfloat16_raw{static_cast<unsigned short>(static_cast<__nv_bfloat16_raw>(a).x & 0x7FFFu)};
}
inline __nv_bfloat16 operator-(const __nv_bfloat16& a) { return __hneg(a); }
inline __nv_bfloat16 operator+(const __nv_bfloat16& a) { return a; }
inline __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return {__hneg(a.x), __hneg(a.y)}; }
inline __nv_bfloat162 __habs2(__nv_bfloat162 a) { return {__habs(a.x), __habs(a.y)}; }
inline __nv_bfloat162 operator-(const __nv_bfloat162& a) { return __hneg2(a); }
/// a * b + c, rounded once: the product is exact in double, the sum is rounded to odd on the way.
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    return __nv_bfloat16(
        simt::add_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline bool __hisnan(__nv_bfloat16 a) { return isnan(static_cast<float>(a)); }
inline int __hisinf(__nv_bfloat16 a) {
    const float f = a;
    return isinf(f) ? (f > 0 ? 1 : -1) : 0;
}
/// The larger; a NaN loses against a number.
inline __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(fmaxf(a, b)); }
inline __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(fminf(a, b)); }
inline __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
inline __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
inline __nv_bfloat16 __hadd_sat(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat16(__saturatef(static_cast<float>(a) + static_cast<float>(b)));
}
inline bool __heq(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) == static_cast<float>(b); }
inline bool operator==(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __heq(a, b); }
inline bool __hbeq2(__nv_bfloat162 a, __nv_bfloat162 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
inline bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) != static_cast<float>(b); }
inline bool operator!=(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hne(a, b); }
inline bool __hbne2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
inline bool __hlt(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) < static_cast<float>(b); }
inline bool operator<(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hlt(a, b); }
inline bool __hblt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
inline bool __hle(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) <= static_cast<float>(b); }
inline bool operator<=(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hle(a, b); }
inline bool __hble2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
inline bool __hgt(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) > static_cast<float>(b); }
inline bool operator>(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hgt(a, b); }
inline bool __hbgt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
inline bool __hge(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) >= static_cast<float>(b); }
inline bool operator>=(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hge(a, b); }
inline bool __hbge2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
inline __nv_bfloat16 hsqrt(__nv_bfloat16 a) { return __nv_bfloat16(sqrtf(a)); }
inline __nv_bfloat162 h2sqrt(__nv_bfloat162 a) { return {hsqrt(a.x), hsqrt(a.y)}; }
inline __nv_bfloat16 hrsqrt(__nv_bfloat16 a) { return __nv_bfloat16(rsqrtf(a)); }
inline __nv_bfloat162 h2rsqrt(__nv_bfloat162 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }
inline __nv_bfloat16 hexp(__nv_bfloat16 a) { return __nv_bfloat16(expf(a)); }
inline __nv_bfloat162 h2exp(__nv_bfloat162 a) { return {hexp(a.x), hexp(a.y)}; }
inline __nv_bfloat16 hexp2(__nv_bfloat16 a) { return __nv_bfloat16(exp2f(a)); }
inline __nv_bfloat162 h2exp2(__nv_bfloat162 a) { return {hexp2(a.x), hexp2(a.y)}; }
inline __nv_bfloat16 hexp10(__nv_bfloat16 a) { return __nv_bfloat16(exp10f(a)); }
inline __nv_bfloat162 h2exp10(__nv_bfloat162 a) { return {hexp10(a.x), hexp10(a.y)}; }
inline __nv_bfloat16 hlog(__nv_bfloat16 a) { return __nv_bfloat16(logf(a)); }
inline __nv_bfloat162 h2log(__nv_bfloat162 a) { return {hlog(a.x), hlog(a.y)}; }
inline __nv_bfloat16 hlog2(__nv_bfloat16 a) { return __nv_bfloat16(log2f(a)); }
inline __nv_bfloat162 h2log2(__nv_bfloat162 a) { return {hlog2(a.x), hlog2(a.y)}; }
inline __nv_bfloat16 hlog10(__nv_bfloat16 a) { return __nv_bfloat16(log10f(a)); }
inline __nv_bfloat162 h2log10(__nv_bfloat162 a) { return {hlog10(a.x), hlog10(a.y)}; }
inline __nv_bfloat16 htanh(__nv_bfloat16 a) { return __nv_bfloat16(tanhf(a)); }
inline __nv_bfloat162 h2tanh(__nv_bfloat162 a) { return {htanh(a.x), htanh(a.y)}; }
inline __nv_bfloat16 htanh_approx(__nv_bfloat16 a) { return htanh(a); }
inline __nv_bfloat162 h2tanh_approx(__nv_bfloat162 a) { return h2tanh(a); }
inline __nv_bfloat16 hsin(__nv_bfloat16 a) { return __nv_bfloat16(sinf(a)); }
inline __nv_bfloat162 h2sin(__nv_bfloat162 a) { return {hsin(a.x), hsin(a.y)}; }
inline __nv_bfloat16 hcos(__nv_bfloat16 a) { return __nv_bfloat16(cosf(a)); }
inline __nv_bfloat162 h2cos(__nv_bfloat162 a) { return {hcos(a.x), hcos(a.y)}; }
inline __nv_bfloat16 hfloor(__nv_bfloat16 a) { return __nv_bfloat16(floorf(a)); }
inline __nv_bfloat162 h2floor(__nv_bfloat162 a) { return {hfloor(a.x), hfloor(a.y)}; }
inline __nv_bfloat16 hceil(__nv_bfloat16 a) { return __nv_bfloat16(ceilf(a)); }
inline __nv_bfloat162 h2ceil(__nv_bfloat162 a) { return {hceil(a.x), hceil(a.y)}; }
inline __nv_bfloat16 htrunc(__nv_bfloat16 a) { return __nv_bfloat16(truncf(a)); }
inline __nv_bfloat162 h2trunc(__nv_bfloat162 a) { return {htrunc(a.x), htrunc(a.y)}; }
inline __nv_bfloat16 hrint(__nv_bfloat16 a) { return __nv_bfloat16(rintf(a)); }
inline __nv_bfloat162 h2rint(__nv_bfloat162 a) { return {hrint(a.x), hrint(a.y)}; }
inline __nv_bfloat16 hrcp(__nv_bfloat16 a) { return __nv_bfloat16(1.0f / static_cast<float>(a)); }
inline __nv_bfloat162 h2rcp(__nv_bfloat162 a) { return {hrcp(a.x), hrcp(a.y)}; }

#define SIMT_ATOMIC_HALF(T)                                                      \
    SIMT_DEVICE T atomicAdd(T* address, T value) {                               \
        return simt::atomic_update(address, [=](T old) { return old + value; }); \
    }
SIMT_ATOMIC_HALF(__half)
SIMT_ATOMIC_HALF(__half2)
SIMT_ATOMIC_HALF(__nv_bfloat16)
SIMT_ATOMIC_HALF(__nv_bfloat162)
#undef SIMT_ATOMIC_HALF

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

namespace simt {
template <>
struct Shuffles<__half> : std::true_type {};
template <>
struct Shuffles<__half2> : std::true_type {};
template <>
struct Shuffles<__nv_bfloat16> : std::true_type {};
template <>
struct Shuffles<__nv_bfloat162> : std::true_type {};
}  // namespace simt
