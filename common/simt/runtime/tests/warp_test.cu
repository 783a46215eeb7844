// Shuffles, votes, matches, reductions of a warp.
#include <cstring>
#include <limits>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

template <class T>
__global__ void shuffles(const T* in, T* out, int parameter, int width) {
    const T v = in[threadIdx.x];
    out[threadIdx.x] = __shfl_sync(0xffffffffu, v, parameter, width);
    out[32 + threadIdx.x] = __shfl_up_sync(0xffffffffu, v, parameter, width);
    out[64 + threadIdx.x] = __shfl_down_sync(0xffffffffu, v, parameter, width);
    out[96 + threadIdx.x] = __shfl_xor_sync(0xffffffffu, v, parameter, width);
}

__global__ void votes(unsigned* out, unsigned bits, unsigned mask) {
    const unsigned lane = threadIdx.x;
    if (!(mask >> lane & 1)) return;
    const int p = bits >> lane & 1;
    out[lane * 4] = __ballot_sync(mask, p);
    out[lane * 4 + 1] = __all_sync(mask, p);
    out[lane * 4 + 2] = __any_sync(mask, p);
    out[lane * 4 + 3] = __uni_sync(mask, p);
}

__global__ void reductions(const int* in, long long* out) {
    const int v = in[threadIdx.x];
    const unsigned u = static_cast<unsigned>(v), mask = 0xffffffffu;
    long long* mine = out + 9 * threadIdx.x;
    mine[0] = __reduce_add_sync(mask, v);
    mine[1] = __reduce_min_sync(mask, v);
    mine[2] = __reduce_max_sync(mask, v);
    mine[3] = __reduce_add_sync(mask, u);
    mine[4] = __reduce_min_sync(mask, u);
    mine[5] = __reduce_max_sync(mask, u);
    mine[6] = __reduce_and_sync(mask, u);
    mine[7] = __reduce_or_sync(mask, u);
    mine[8] = __reduce_xor_sync(mask, u);
}

template <class T>
__global__ void matches(const T* in, unsigned* out) {
    int same = -1;
    out[threadIdx.x] = __match_any_sync(0xffffffffu, in[threadIdx.x]);
    out[32 + threadIdx.x] = __match_all_sync(0xffffffffu, in[threadIdx.x], &same);
    out[64 + threadIdx.x] = static_cast<unsigned>(same);
}

// The two halves of the warp work at different rates; each has its own mask.
__global__ void divergent_halves(int* out) {
    const int lane = threadIdx.x;
    int v = lane;
    if (lane < 16) {
        for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(0x0000ffffu, v, d);
    } else {
        for (int round = 0; round < 5; ++round) v = __shfl_sync(0xffff0000u, v, 16 + (lane + 1) % 16);
    }
    __syncwarp();
    out[lane] = v;
}

__global__ void warp_sums(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0 && i < n) out[i / 32] = v;
}

__global__ void exited_lanes(unsigned* out) {
    if (threadIdx.x >= 20) return;
    out[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
}

__global__ void stray(int* out) {
    if (threadIdx.x >= 20) return;
    out[threadIdx.x] = __shfl_sync(0xffffffffu, 5, 25);
}

__global__ void active(unsigned* out) {
    if (threadIdx.x % 3 == 0)
        out[threadIdx.x] = __activemask();
    else
        out[threadIdx.x] = 1;
}

// Aggregated increments: one atomic for all lanes that come here together.
__global__ void aggregate(int* counter, int* slot, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || i % 5 == 0) return;
    const unsigned together = __activemask();
    const int leader = __ffs(static_cast<int>(together)) - 1;
    int base = 0;
    if (threadIdx.x % 32 == leader) base = atomicAdd(counter, __popc(together));
    base = __shfl_sync(together, base, leader);
    slot[base + __popc(together & ((1u << threadIdx.x % 32) - 1))] = i;
}

/// The first warp waits for what the second one does last.
__global__ void wait_in_shuffles(int* out) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        while (__shfl_sync(0xffffffffu, flag, 0) == 0) {
        }
    } else {
        for (int i = 0; i < 1000; ++i) __syncwarp();
        flag = 1;
    }
    out[threadIdx.x] = flag;
}

__global__ void not_named(int* out) { out[0] = __shfl_sync(0x0000fffeu, 1, 1); }

}  // namespace

TEMPLATE_TEST_CASE("shuffles follow the specification", "[simt][shuffle]", int, unsigned, long, unsigned long,
                   long long, unsigned long long, float, double) {
    using T = TestType;
    Orders orders;
    const int width = GENERATE(1, 2, 8, 16, 32), parameter = GENERATE(0, 1, 5, 16, 31);
    Managed<T> in(32), out(128);
    for (int i = 0; i < 32; ++i) in[static_cast<size_t>(i)] = static_cast<T>(i * 1000003 - 77);
    shuffles<<<1, 32>>>(in.get(), out.get(), parameter, width);
    REQUIRE_LAUNCHED();
    for (int lane = 0; lane < 32; ++lane) {
        const int first = lane / width * width, rank = lane % width;
        const int down = rank + parameter < width ? lane + parameter : lane;
        const int up = rank >= parameter ? lane - parameter : lane;
        const int across = (lane ^ parameter) < first + width ? lane ^ parameter : lane;
        const auto at = [&](int i) { return in[static_cast<size_t>(i)]; };
        REQUIRE(out[static_cast<size_t>(lane)] == at(first + parameter % width));
        REQUIRE(out[static_cast<size_t>(32 + lane)] == at(up));
        REQUIRE(out[static_cast<size_t>(64 + lane)] == at(down));
        REQUIRE(out[static_cast<size_t>(96 + lane)] == at(across));
    }
}

TEST_CASE("votes", "[simt][vote]") {
    Orders orders;
    const unsigned mask = GENERATE(1u, 0xffffffffu, 0x0000ffffu, 0x80000001u, 0x55555555u);
    const unsigned bits = GENERATE(0u, 0xffffffffu, 0x00000001u, 0x0f0f0f0fu);
    Managed<unsigned> out(128);
    votes<<<1, 32>>>(out.get(), bits, mask);
    REQUIRE_LAUNCHED();
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        REQUIRE(out[lane * 4] == (bits & mask));
        REQUIRE(out[lane * 4 + 1] == ((bits & mask) == mask));
        REQUIRE(out[lane * 4 + 2] == ((bits & mask) != 0));
        REQUIRE(out[lane * 4 + 3] == ((bits & mask) == mask || (bits & mask) == 0));
    }
}

TEST_CASE("reductions of a warp", "[simt][reduce]") {
    Orders orders;
    Managed<int> in(32);
    Managed<long long> out(9 * 32);
    const int kind = GENERATE(0, 1, 2);
    for (int i = 0; i < 32; ++i)
        in[static_cast<size_t>(i)] = kind == 0 ? i
                                     : kind == 1
                                         ? static_cast<int>(2654435761u * static_cast<unsigned>(i + 1))
                                         : std::numeric_limits<int>::max();
    reductions<<<1, 32>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    unsigned sum = 0, low = ~0u, high = 0, all = ~0u, any = 0, odd = 0;
    int least = in[0], most = in[0];
    for (int v : in) {
        const auto u = static_cast<unsigned>(v);
        sum += u, low = std::min(low, u), high = std::max(high, u), all &= u, any |= u, odd ^= u;
        least = std::min(least, v), most = std::max(most, v);
    }
    const long long expected[] = {static_cast<int>(sum), least, most, sum, low, high, all, any, odd};
    for (size_t i = 0; i < 9 * 32; ++i) REQUIRE(out[i] == expected[i % 9]);
}

TEMPLATE_TEST_CASE("matches compare bits", "[simt][match]", int, unsigned long long, float, double) {
    using T = TestType;
    Orders orders;
    Managed<T> in(32);
    Managed<unsigned> out(96);
    const int groups = GENERATE(1, 2, 7, 32);
    for (int i = 0; i < 32; ++i) in[static_cast<size_t>(i)] = static_cast<T>(i % groups);
    matches<<<1, 32>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 32; ++i) {
        unsigned same = 0;
        for (int j = 0; j < 32; ++j) same |= static_cast<unsigned>(i % groups == j % groups) << j;
        REQUIRE(out[static_cast<size_t>(i)] == same);
        REQUIRE(out[static_cast<size_t>(32 + i)] == (groups == 1 ? 0xffffffffu : 0));
        REQUIRE(out[static_cast<size_t>(64 + i)] == (groups == 1));
    }
}

TEST_CASE("halves of a warp go their own ways", "[simt][shuffle]") {
    Orders orders;
    Managed<int> out(32);
    divergent_halves<<<1, 32>>>(out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 32; ++i) REQUIRE(out[static_cast<size_t>(i)] == (i < 16 ? 120 : 16 + (i + 5) % 16));
}

TEST_CASE("warp sums of several warps and blocks", "[simt][shuffle]") {
    Orders orders;
    const int n = GENERATE(32, 64, 992, 1024, 10016);
    Managed<float> in(static_cast<size_t>(n)), out(static_cast<size_t>(n / 32));
    for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = static_cast<float>(i % 17);
    warp_sums<<<static_cast<unsigned>(n + 127) / 128, 128>>>(in.get(), out.get(), n);
    REQUIRE_LAUNCHED();
    for (int w = 0; w < n / 32; ++w) {
        float expected = 0;
        for (int i = 0; i < 32; ++i) expected += in[static_cast<size_t>(w * 32 + i)];
        REQUIRE(out[static_cast<size_t>(w)] == expected);
    }
}

TEST_CASE("exited lanes are not waited for", "[simt][vote]") {
    Orders orders;
    Managed<unsigned> out(32);
    exited_lanes<<<1, 32>>>(out.get());
    REQUIRE_LAUNCHED();
    for (size_t i = 0; i < 32; ++i) REQUIRE(out[i] == (i < 20 ? 0xfffffu : 0));
    exited_lanes<<<1, 23>>>(out.get());  // a partial warp: lanes that never were
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 0xfffffu);
}

TEST_CASE("a shuffle from a lane that takes no part gives poison", "[simt][shuffle]") {
    ExpectFailure quiet;
    Managed<int> out(32);
    stray<<<1, 32>>>(out.get());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (size_t i = 0; i < 20; ++i) REQUIRE(out[i] == -1);
}

TEST_CASE("__activemask is the lanes that come to the call", "[simt][activemask]") {
    Orders orders;
    Managed<unsigned> out(32);
    active<<<1, 32>>>(out.get());
    REQUIRE_LAUNCHED();
    for (size_t i = 0; i < 32; ++i) REQUIRE(out[i] == (i % 3 == 0 ? 0x49249249u : 1));
}

TEST_CASE("aggregated atomics fill every slot once", "[simt][activemask]") {
    Orders orders;
    const int n = GENERATE(1, 33, 1000);
    Managed<int> counter(1), slot(static_cast<size_t>(n) + 1);
    for (int& s : slot) s = -1;
    aggregate<<<static_cast<unsigned>(n + 95) / 96, 96>>>(counter.get(), slot.get(), n);
    REQUIRE_LAUNCHED();
    int expected = 0;
    for (int i = 0; i < n; ++i) expected += i % 5 != 0;
    REQUIRE(counter[0] == expected);
    std::vector<int> seen(static_cast<size_t>(n));
    for (int i = 0; i < expected; ++i) ++seen.at(static_cast<size_t>(slot[static_cast<size_t>(i)]));
    for (int i = 0; i < n; ++i) REQUIRE(seen[static_cast<size_t>(i)] == (i % 5 != 0));
}

TEST_CASE("a warp that waits in its own operations lets others run", "[simt][shuffle]") {
    Orders orders;
    Managed<int> out(64);
    wait_in_shuffles<<<1, 64>>>(out.get());
    REQUIRE_LAUNCHED();
    for (size_t i = 0; i < 64; ++i) REQUIRE(out[i] == 1);
}

TEST_CASE("a mask that does not name its caller is reported", "[simt][shuffle]") {
    ExpectFailure quiet;
    Managed<int> out(1);
    not_named<<<1, 32>>>(out.get());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK_THAT(simt::last_report(), Catch::Matchers::ContainsSubstring("does not name its caller"));
    CHECK_THAT(simt::last_report(), Catch::Matchers::ContainsSubstring("kernel not_named"));
}
