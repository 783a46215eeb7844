// Half precision: every bit pattern there and back, rounding, arithmetic against a wider type.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "testing/catch.h"

namespace {

unsigned short bits_of(__half h) { return __half_as_ushort(h); }

// The half nearest to `value`, found by walking all finite ones: slow, and obviously right.
unsigned short nearest_half(double value) {
    unsigned short best = 0;
    double distance = std::numeric_limits<double>::infinity();
    for (unsigned b = 0; b < 0x7C00u; ++b) {
        const double candidate = __half2float(__ushort_as_half(static_cast<unsigned short>(b)));
        const double d = std::fabs(candidate - std::fabs(value));
        if (d < distance || (d == distance && b % 2 == 0)) {
            distance = d;
            best = static_cast<unsigned short>(b);
        }
    }
    if (std::fabs(value) >= 65520.0) best = 0x7C00;
    return static_cast<unsigned short>(best | (std::signbit(value) ? 0x8000u : 0u));
}

}  // namespace

static_assert(sizeof(__half) == 2 && alignof(__half2) == 4 && sizeof(__half2) == 4, "layout");
static_assert(std::is_trivially_copyable_v<__half2>, "halves are plain data");

TEST_CASE("every half survives the way through float", "[simt][half]") {
    int wrong = 0, wrong_bf = 0;
    for (unsigned b = 0; b < 0x10000u; ++b) {
        const auto u = static_cast<unsigned short>(b);
        const bool nan = (b & 0x7C00u) == 0x7C00u && (b & 0x3FFu);
        const float f = __half2float(__ushort_as_half(u));
        wrong += nan ? !std::isnan(f) || !__hisnan(__float2half(f)) : bits_of(__float2half(f)) != u;
        const bool bf_nan = (b & 0x7F80u) == 0x7F80u && (b & 0x7Fu);
        const float g = __bfloat162float(__ushort_as_bfloat16(u));
        wrong_bf += bf_nan ? !std::isnan(g) : __bfloat16_as_ushort(__float2bfloat16(g)) != u;
    }
    CHECK(wrong == 0);
    CHECK(wrong_bf == 0);
}

TEST_CASE("rounding to half is to nearest even", "[simt][half]") {
    for (double v : {0.0,
                     -0.0,
                     1.0,
                     1.0 + 0x1p-11,
                     1.0 + 3 * 0x1p-11,
                     1.0 + 0x1.8p-11,
                     0.1,
                     -0.1,
                     65504.0,
                     65519.9,
                     65520.0,
                     1e6,
                     0x1p-24,
                     0x1p-25,
                     0x1.8p-25,
                     0x1.1p-25,
                     6.1e-5,
                     0x1.ffcp-15,
                     3e-8,
                     1e-9,
                     1234.5678}) {
        CAPTURE(v);
        CHECK(bits_of(__float2half(static_cast<float>(v))) ==
              nearest_half(static_cast<double>(static_cast<float>(v))));
        CHECK(bits_of(__double2half(v)) == nearest_half(v));
    }
    // A double just above a tie: rounding through float first would give the even neighbour.
    CHECK(bits_of(__double2half(1.0 + 0x1p-11 + 0x1p-40)) == 0x3C01);
    CHECK(bits_of(__float2half(std::numeric_limits<float>::infinity())) == 0x7C00);
    CHECK(__hisnan(__float2half(NAN)));
    CHECK(__bfloat16_as_ushort(__float2bfloat16(1.0f + 0x1p-8f)) == 0x3F80);
    CHECK(__bfloat16_as_ushort(__float2bfloat16(1.0f + 3 * 0x1p-8f)) == 0x3F82);
}

TEST_CASE("arithmetic rounds once", "[simt][half]") {
    const __half a = __float2half(1.5f), b = __float2half(0.1f);
    CHECK(bits_of(__hadd(a, b)) == nearest_half(1.5 + static_cast<double>(__half2float(b))));
    CHECK(bits_of(a * b) == nearest_half(1.5 * static_cast<double>(__half2float(b))));
    CHECK(bits_of(a / b) == nearest_half(1.5 / static_cast<double>(__half2float(b))));
    CHECK(__half2float(a - a) == 0.0f);
    CHECK(bits_of(-a) == 0xBE00);
    // a * b + c where the product needs all its digits.
    const __half x = __ushort_as_half(0x3C01), y = __ushort_as_half(0x3C01), z = __float2half(-1.0f);
    const double exact = (1 + 0x1p-10) * (1 + 0x1p-10) - 1;
    CHECK(bits_of(__hfma(x, y, z)) == nearest_half(exact));
    // A tie that only the last bit of the exact sum breaks.
    CHECK(bits_of(__hfma(__ushort_as_half(0x0001), __ushort_as_half(0x0001), __half(1.0f))) == 0x3C00);
    CHECK(__half2float(__float2half(60000.0f) + __float2half(60000.0f)) ==
          std::numeric_limits<float>::infinity());
}

TEST_CASE("comparison, pairs and conversions", "[simt][half]") {
    const __half one(1.0f), two(2), nan = __float2half(NAN);
    CHECK(one < two);
    CHECK(__hge(two, one));
    CHECK_FALSE(nan == nan);
    CHECK(nan != nan);
    CHECK(__half2float(__hmax(nan, one)) == 1.0f);
    const __half2 p = __floats2half2_rn(1.0f, 2.0f), q = __float2half2_rn(3.0f);
    const float2 sum = __half22float2(__hadd2(p, q));
    CHECK(sum.x == 4.0f);
    CHECK(sum.y == 5.0f);
    CHECK(__high2float(__hfma2(p, q, p)) == 8.0f);
    CHECK(__low2float(__lowhigh2highlow(p)) == 2.0f);
    CHECK(__half2int_rn(__float2half(2.5f)) == 2);
    CHECK(__half2int_rz(__float2half(-2.9f)) == -2);
    CHECK(static_cast<float>(half(3)) == 3.0f);
    CHECK(__half2float(hsqrt(__float2half(2.25f))) == 1.5f);
    const __nv_bfloat16 b = __float2bfloat16(3.0f);
    CHECK(__bfloat162float(b * b + b) == 12.0f);
    CHECK(__bfloat162float(__hfma(b, b, b)) == 12.0f);
    __half sum_of = 0.0f;
    for (int i = 0; i < 4; ++i) sum_of += one;
    CHECK(static_cast<float>(sum_of) == 4.0f);
}
