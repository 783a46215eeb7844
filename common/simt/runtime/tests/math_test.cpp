// Device math: what <math.h> lacks, intrinsics, directed rounding, conversions and integer operations.
#include <cuda_runtime.h>
#include <math_constants.h>

#include <climits>
#include <cmath>
#include <limits>

#include "testing/catch.h"

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();
// |a - b| in units of the last place of b.
double ulps(double a, double b) {
    if (a == b) return 0;
    return std::fabs(a - b) / (std::nextafter(std::fabs(b), inf) - std::fabs(b));
}
}  // namespace

TEST_CASE("reciprocal roots", "[simt][math]") {
    CHECK(rsqrt(4.0) == 0.5);
    CHECK(rsqrtf(16.0f) == 0.25f);
    CHECK(rsqrt(0.0) == inf);
    CHECK(std::isnan(rsqrtf(-1.0f)));
    CHECK(rcbrt(8.0) == 0.5);
    CHECK(rcbrtf(-27.0f) == Catch::Approx(-1.0 / 3));
    CHECK(rhypot(3.0, 4.0) == Catch::Approx(0.2));
}

TEST_CASE("sinpi and cospi are exact where the result is", "[simt][math]") {
    for (int i = -8; i <= 8; ++i) {
        CHECK(sinpi(static_cast<double>(i)) == 0.0);
        CHECK(cospi(static_cast<double>(i)) == (i % 2 == 0 ? 1.0 : -1.0));
        CHECK(cospi(i + 0.5) == 0.0);
        CHECK(sinpi(2 * i + 0.5) == 1.0);
    }
    for (double x : {0.1, 0.3, 0.49, 0.51, 0.77, 1.2, -3.4, 1001.3}) {
        CAPTURE(x);
        const long double r = static_cast<long double>(x) - 2 * std::floor(x / 2);
        CHECK(std::fabs(sinpi(x) - static_cast<double>(sinl(acosl(-1.0L) * r))) < 4e-16);
        CHECK(std::fabs(cospi(x) - static_cast<double>(cosl(acosl(-1.0L) * r))) < 4e-16);
    }
    CHECK(std::isnan(sinpi(inf)));
    CHECK(std::isnan(cospi(nan_value)));
    float s = 0, c = 0;
    sincospif(0.25f, &s, &c);
    CHECK(s == Catch::Approx(std::sqrt(0.5)));
    CHECK(c == Catch::Approx(std::sqrt(0.5)));
}

TEST_CASE("inverse error functions invert", "[simt][math]") {
    for (double x : {-5.5, -3.0, -1.0, -0.3, -1e-8, 1e-8, 0.2, 0.7, 2.0, 4.0}) {
        CAPTURE(x);
        if (std::fabs(x) < 3.5) CHECK(erfinv(std::erf(x)) == Catch::Approx(x).epsilon(1e-9));
        const double epsilon = x < -2 ? 1e-2 : std::fabs(x) < 0.1 ? 1e-7 : 1e-12;
        CHECK(erfcinv(std::erfc(x)) == Catch::Approx(x).epsilon(epsilon));
    }
    for (double y : {1e-300, 1e-100, 1e-20, 1e-5, 0.3, 0.9, 1.5}) {
        CAPTURE(y);
        CHECK(std::erfc(erfcinv(y)) == Catch::Approx(y).epsilon(1e-10));
    }
    CHECK(erfinv(1.0) == inf);
    CHECK(erfinv(-1.0) == -inf);
    CHECK(std::isnan(erfinv(1.1)));
    CHECK(erfcinv(0.0) == inf);
    CHECK(erfcinv(1.0) == 0.0);
    CHECK(normcdf(0.0) == 0.5);
    CHECK(normcdfinv(0.975) == Catch::Approx(1.959963984540054));
    CHECK(normcdf(normcdfinv(1e-10)) == Catch::Approx(1e-10));
    CHECK(erfcx(0.0) == 1.0);
    CHECK(erfcx(5.0) == Catch::Approx(0.11070463773306863).epsilon(1e-13));
    CHECK(erfcx(1e8) == Catch::Approx(0.5641895835477563e-8).epsilon(1e-13));
    CHECK(cyl_bessel_i0(1.0) == Catch::Approx(1.2660658777520084));
    CHECK(cyl_bessel_i1(-1.0) == Catch::Approx(-0.5651591039924851));
}

TEST_CASE("lengths do not overflow", "[simt][math]") {
    CHECK(norm3d(1.0, 2.0, 2.0) == 3.0);
    CHECK(norm3d(3e200, 4e200, 0.0) == Catch::Approx(5e200));
    CHECK(norm4df(2.0f, 2.0f, 2.0f, 2.0f) == 4.0f);
    CHECK(norm3df(1e30f, 1e30f, 1e30f) == Catch::Approx(std::sqrt(3.0) * 1e30));
    CHECK(rnorm3d(1.0, 2.0, 2.0) == Catch::Approx(1.0 / 3));
    CHECK(norm3d(inf, nan_value, 1.0) == inf);
    CHECK(std::isnan(norm3d(1.0, nan_value, 1.0)));
    CHECK(norm3d(0.0, 0.0, 0.0) == 0.0);
}

TEST_CASE("minimum and maximum of mixed types", "[simt][math]") {
    CHECK(max(-1, 1u) == UINT_MAX);
    CHECK(min(3L, 2L) == 2);
    CHECK(max(1.5f, 2.5) == 2.5);
    CHECK(max(CUDART_NAN_F, 1.0f) == 1.0f);
    CHECK(min(2.0, nan_value) == 2.0);
    CHECK(umin(4000000000u, 5u) == 5u);
    CHECK(llmax(-5, 3) == 3);
    CHECK(abs(-2.5f) == 2.5f);
    CHECK(abs(-7) == 7);
    CHECK(isnan(nan_value));
    CHECK(isinf(CUDART_INF_F));
}

TEST_CASE("directed rounding brackets the exact result", "[simt][math]") {
    const float third_down = __fdiv_rd(1.0f, 3.0f), third_up = __fdiv_ru(1.0f, 3.0f);
    CHECK(std::nextafter(third_down, 1.0f) == third_up);
    CHECK(3.0 * static_cast<double>(third_down) < 1.0);
    CHECK(3.0 * static_cast<double>(third_up) > 1.0);
    CHECK(__fadd_rd(1.0f, 1e-20f) == 1.0f);
    CHECK(__fadd_ru(1.0f, 1e-20f) == std::nextafter(1.0f, 2.0f));
    CHECK(__fadd_rz(-1.0f, -1e-20f) == -1.0f);
    CHECK(__dadd_ru(1.0, 1e-30) == std::nextafter(1.0, 2.0));
    CHECK(__dmul_rd(0.1, 0.1) < __dmul_ru(0.1, 0.1));
    CHECK(__fsqrt_ru(2.0f) > __fsqrt_rd(2.0f));
    CHECK(__fsqrt_rn(2.0f) == std::sqrt(2.0f));
    CHECK(__frcp_rn(3.0f) == 1.0f / 3.0f);
    CHECK(__fsub_ru(1.0f, 1e-20f) == 1.0f);
    CHECK(__fsub_rz(1.0f, 1e-20f) == std::nextafter(1.0f, 0.0f));
    CHECK(__fmaf_rn(1e30f, 1e-30f, -1.0f) == std::fma(1e30f, 1e-30f, -1.0f));
    CHECK(__fma_ru(1.0, 1.0, 1e-30) == std::nextafter(1.0, 2.0));
    CHECK(1.0 / 3.0 == __ddiv_rn(1.0, 3.0));  // and the mode is what it was before
}

TEST_CASE("fast intrinsics", "[simt][math]") {
    CHECK(__expf(1.0f) == Catch::Approx(2.7182818));
    CHECK(__sinf(0.5f) == Catch::Approx(std::sin(0.5)));
    CHECK(__powf(2.0f, 10.0f) == Catch::Approx(1024));
    CHECK(__fdividef(1.0f, 0x1p127f) == 0.0f);
    CHECK(std::isnan(__fdividef(CUDART_INF_F, 0x1p127f)));
    CHECK(__fdividef(6.0f, 3.0f) == 2.0f);
    CHECK(__saturatef(-1.0f) == 0.0f);
    CHECK(__saturatef(0.25f) == 0.25f);
    CHECK(__saturatef(7.0f) == 1.0f);
    CHECK(__saturatef(CUDART_NAN_F) == 0.0f);
    CHECK(ulps(__frsqrt_rn(3.0f), 1 / std::sqrt(3.0)) < 1e9);
    CHECK(__frsqrt_rn(0.25f) == 2.0f);
}

TEST_CASE("conversions round as named and saturate", "[simt][math]") {
    CHECK(__float2int_rn(2.5f) == 2);
    CHECK(__float2int_rn(3.5f) == 4);
    CHECK(__float2int_rz(-2.7f) == -2);
    CHECK(__float2int_rd(-2.1f) == -3);
    CHECK(__float2int_ru(2.1f) == 3);
    CHECK(__float2int_rn(1e20f) == INT_MAX);
    CHECK(__float2int_rn(-1e20f) == INT_MIN);
    CHECK(__float2int_rn(CUDART_NAN_F) == 0);
    CHECK(__float2uint_rz(-5.0f) == 0u);
    CHECK(__float2uint_rz(5e9f) == UINT_MAX);
    CHECK(__double2ll_rn(1e19) == LLONG_MAX);
    CHECK(__double2ll_rn(-1e19) == LLONG_MIN);
    CHECK(__double2ull_rz(1.8e19) == 18000000000000000000ull);
    CHECK(__int2float_rn(16777217) == 16777216.0f);
    CHECK(__int2float_ru(16777217) == 16777218.0f);
    CHECK(__int2float_rz(-16777217) == -16777216.0f);
    CHECK(__int2float_rd(-16777217) == -16777218.0f);
    CHECK(__ull2float_rd(ULLONG_MAX) == std::nextafter(0x1p64f, 0.0f));
    CHECK(__ll2double_ru((1LL << 53) + 1) == 0x1p53 + 2);
    CHECK(__double2float_rd(0.1) < 0.1);
    CHECK(__double2float_ru(0.1) > 0.1);
    CHECK(__float_as_int(1.0f) == 0x3F800000);
    CHECK(__int_as_float(0x40490FDB) == CUDART_PI_F);
    CHECK(__double2hiint(1.0) == 0x3FF00000);
    CHECK(__hiloint2double(0x3FF00000, 0) == 1.0);
    CHECK(__longlong_as_double(__double_as_longlong(-0.1)) == -0.1);
}

TEST_CASE("integer operations", "[simt][math]") {
    CHECK(__popc(0xF0F0u) == 8);
    CHECK(__popcll(~0ull) == 64);
    CHECK(__clz(0) == 32);
    CHECK(__clz(1) == 31);
    CHECK(__clz(-1) == 0);
    CHECK(__clzll(1) == 63);
    CHECK(__ffs(0) == 0);
    CHECK(__ffs(8) == 4);
    CHECK(__ffsll(1LL << 40) == 41);
    CHECK(__brev(1u) == 0x80000000u);
    CHECK(__brev(0x12345678u) == 0x1E6A2C48u);
    CHECK(__brevll(1ull) == 1ull << 63);
    CHECK(__mulhi(INT_MIN, INT_MIN) == 0x40000000);
    CHECK(__umulhi(UINT_MAX, UINT_MAX) == 0xFFFFFFFEu);
    CHECK(__umul64hi(ULLONG_MAX, ULLONG_MAX) == ULLONG_MAX - 1);
    CHECK(__mul64hi(LLONG_MIN, 2) == -1);
    CHECK(__mul24(-2, 3) == -6);
    CHECK(__umul24(0xFF000002u, 3u) == 6u);
    CHECK(__sad(-5, 7, 1u) == 13u);
    CHECK(__sad(INT_MIN, INT_MAX, 0u) == UINT_MAX);
    CHECK(__usad(3u, 10u, 2u) == 9u);
    CHECK(__hadd(INT_MAX, INT_MAX) == INT_MAX);
    CHECK(__hadd(-3, 0) == -2);
    CHECK(__rhadd(-3, 0) == -1);
    CHECK(__urhadd(UINT_MAX, 0u) == 0x80000000u);
    CHECK(__byte_perm(0x03020100u, 0x07060504u, 0x7531u) == 0x07050301u);
    CHECK(__byte_perm(0x80u, 0u, 0x0008u) == 0x808080FFu);
    CHECK(__funnelshift_l(0x80000000u, 1u, 1u) == 3u);
    CHECK(__funnelshift_r(2u, 1u, 1u) == 0x80000001u);
    CHECK(__funnelshift_l(5u, 9u, 32u) == 9u);
    CHECK(__funnelshift_lc(5u, 9u, 32u) == 5u);
    CHECK(__funnelshift_rc(5u, 9u, 40u) == 9u);
    CHECK(__dp4a(0x01FF0203, 0x04050607, 10) == 1 * 4 + -1 * 5 + 2 * 6 + 3 * 7 + 10);
    CHECK(__dp4a(0xFFFFFFFFu, 0x01010101u, 0u) == 1020u);
    CHECK(__vadd4(0xFF01FF01u, 0x01010101u) == 0x00020002u);
    CHECK(__vsub4(0x00020002u, 0x01010101u) == 0xFF01FF01u);
    CHECK(__vadd2(0xFFFF0001u, 0x00010001u) == 0x00000002u);
}
