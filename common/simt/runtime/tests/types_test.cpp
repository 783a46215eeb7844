// Vector types: CUDA's sizes and alignments, and what code may do with them.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "testing/catch.h"

#define LAYOUT(type, size, alignment) \
    static_assert(sizeof(type) == size && alignof(type) == alignment, "layout of " #type)
LAYOUT(char1, 1, 1);
LAYOUT(char2, 2, 2);
LAYOUT(char3, 3, 1);
LAYOUT(char4, 4, 4);
LAYOUT(uchar4, 4, 4);
LAYOUT(short1, 2, 2);
LAYOUT(short2, 4, 4);
LAYOUT(short3, 6, 2);
LAYOUT(short4, 8, 8);
LAYOUT(ushort4, 8, 8);
LAYOUT(int1, 4, 4);
LAYOUT(int2, 8, 8);
LAYOUT(int3, 12, 4);
LAYOUT(int4, 16, 16);
LAYOUT(uint3, 12, 4);
LAYOUT(uint4, 16, 16);
LAYOUT(long1, 8, 8);
LAYOUT(long2, 16, 16);
LAYOUT(long3, 24, 8);
LAYOUT(long4, 32, 16);
LAYOUT(longlong2, 16, 16);
LAYOUT(longlong4, 32, 16);
LAYOUT(ulonglong2, 16, 16);
LAYOUT(float1, 4, 4);
LAYOUT(float2, 8, 8);
LAYOUT(float3, 12, 4);
LAYOUT(float4, 16, 16);
LAYOUT(double1, 8, 8);
LAYOUT(double2, 16, 16);
LAYOUT(double3, 24, 8);
LAYOUT(double4, 32, 16);
LAYOUT(double4_16a, 32, 16);
LAYOUT(double4_32a, 32, 32);
LAYOUT(longlong4_32a, 32, 32);
LAYOUT(dim3, 12, 4);
#undef LAYOUT

static_assert(std::is_trivially_copyable_v<float4> && std::is_aggregate_v<float4>, "float4 is plain data");
static_assert(std::is_trivially_copyable_v<double2> && std::is_trivially_default_constructible_v<int4>,
              "plain data");

TEST_CASE("vectors are made in every way CUDA allows", "[simt][types]") {
    constexpr float4 a = make_float4(1, 2, 3, 4);
    constexpr float4 b{1, 2, 3, 4};
    static_assert(a.x == b.x && a.w == b.w, "constant expressions");
    const float4 zero = {};
    CHECK(zero.w == 0);
    union {
        float4 vector;
        float numbers[4];
    } u{};
    u.vector = a;
    auto copy = u;
    CHECK(copy.numbers[2] == 3);
    float storage[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    alignas(16) float aligned[8];
    std::memcpy(aligned, storage, sizeof aligned);
    const float4 second = reinterpret_cast<const float4*>(aligned)[1];
    CHECK(second.x == 4);
    CHECK(second.w == 7);
    CHECK(make_uchar3(1, 2, 255).z == 255);
    CHECK(make_longlong2(-1, 1LL << 40).y == 1LL << 40);
}

TEST_CASE("dim3 fills with ones and converts", "[simt][types]") {
    const dim3 none, one(7), two(7, 8);
    CHECK(none.x * none.y * none.z == 1);
    CHECK(one.x == 7);
    CHECK(one.z == 1);
    CHECK(two.y == 8);
    const uint3 u = two;
    const dim3 back = u;
    CHECK(back.y == 8);
    const auto takes = [](dim3 d) { return d.x; };
    CHECK(takes(42) == 42);
    CHECK(takes({3, 4, 5}) == 3);
}
