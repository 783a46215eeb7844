// Copies to shared memory that run beside the thread: sizes, zeros at the end, several batches on the way.
#include <cuda_pipeline.h>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

// A thread brings element after element, two ahead of the one that it needs.
__global__ void two_ahead(const int4* in, int4* out, int n) {
    __shared__ int4 stages[3][32];
    const int lane = threadIdx.x;
    for (int i = 0; i < 2; ++i) {
        if (i < n) __pipeline_memcpy_async(&stages[i][lane], in + i * 32 + lane, 16);
        __pipeline_commit();
    }
    for (int i = 0; i < n; ++i) {
        if (i + 2 < n) __pipeline_memcpy_async(&stages[(i + 2) % 3][lane], in + (i + 2) * 32 + lane, 16);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        out[i * 32 + lane] = stages[i % 3][31 - lane];
        __syncthreads();
    }
}

template <int bytes, int zeros>
__global__ void cut_short(const int* in, int* out) {
    __shared__ int4 place;
    __pipeline_memcpy_async(&place, in, bytes, zeros);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < bytes / 4; ++i) out[i] = reinterpret_cast<const int*>(&place)[i];
}

}  // namespace

TEST_CASE("copies that run ahead arrive in their batches", "[simt][pipeline]") {
    Orders orders;
    const int n = GENERATE(1, 2, 9);
    Managed<int4> in(static_cast<size_t>(n) * 32), out(static_cast<size_t>(n) * 32);
    for (int i = 0; i < n * 32; ++i) in[static_cast<size_t>(i)] = {i, -i, 2 * i, 7};
    two_ahead<<<1, 32>>>(in.get(), out.get(), n);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n * 32; ++i) {
        const int from = i / 32 * 32 + 31 - i % 32;
        const int4 got = out[static_cast<size_t>(i)];
        REQUIRE(got.x == from);
        REQUIRE(got.y == -from);
        REQUIRE(got.z == 2 * from);
        REQUIRE(got.w == 7);
    }
}

TEST_CASE("copies of 4, 8 and 16 bytes end with the zeros asked for", "[simt][pipeline]") {
    Managed<int> in(4), out(4);
    const auto is = [&](int a, int b, int c, int d) {
        CHECK(out[0] == a);
        CHECK(out[1] == b);
        CHECK(out[2] == c);
        CHECK(out[3] == d);
    };
    for (int i = 0; i < 4; ++i)
        in[static_cast<size_t>(i)] = 0x01010101 * (i + 1), out[static_cast<size_t>(i)] = -1;
    cut_short<4, 0><<<1, 1>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    is(0x01010101, -1, -1, -1);
    cut_short<8, 0><<<1, 1>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    is(0x01010101, 0x02020202, -1, -1);
    cut_short<16, 8><<<1, 1>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    is(0x01010101, 0x02020202, 0, 0);
    cut_short<16, 16><<<1, 1>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    is(0, 0, 0, 0);
    cut_short<4, 1><<<1, 1>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 0x00010101);
}
