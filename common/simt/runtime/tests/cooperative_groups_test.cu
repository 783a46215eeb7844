// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "runtime/tests/simt_tools.h"

namespace cg = cooperative_groups;
using namespace simt_tools;

namespace {

__global__ void ranks(unsigned* out) {
    cg::thread_block block = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    auto tile = cg::tiled_partition<8>(block);
    cg::thread_block_tile<8> forgotten = tile;
    unsigned* mine = out + 8 * grid.thread_rank();
    mine[0] = block.thread_rank();
    mine[1] = block.size();
    mine[2] = static_cast<unsigned>(grid.size());
    mine[3] = tile.thread_rank();
    mine[4] = static_cast<unsigned>(tile.meta_group_rank());
    mine[5] = static_cast<unsigned>(tile.meta_group_size());
    mine[6] = static_cast<unsigned>(grid.block_rank());
    mine[7] = forgotten.size();
}

template <unsigned Size>
__global__ void tile_operations(const int* in, int* out) {
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    const int v = in[threadIdx.x];
    int* mine = out + 12 * threadIdx.x;
    mine[0] = tile.shfl(v, 1);
    mine[1] = tile.shfl_up(v, 1);
    mine[2] = tile.shfl_down(v, 1);
    mine[3] = tile.shfl_xor(v, 1);
    mine[4] = static_cast<int>(tile.ballot(v % 2));
    mine[5] = tile.any(v % 2);
    mine[6] = tile.all(v % 2);
    mine[7] = cg::reduce(tile, v, cg::plus<int>());
    mine[8] = cg::reduce(tile, v, cg::less<int>());
    mine[9] = cg::reduce(tile, v, cg::greater<int>());
    mine[10] = cg::inclusive_scan(tile, v);
    mine[11] = cg::exclusive_scan(tile, v, cg::plus<int>());
    tile.sync();
}

// What each thread of a tile of several warps gets, and how often its tile has met.
template <unsigned Size>
__global__ void wide_tile_operations(const int* in, int* out) {
    __shared__ cg::block_tile_memory<1024> memory;
    cg::thread_block block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<Size>(block);
    cg::thread_block_tile<Size> forgotten = tile;
    auto warp = cg::tiled_partition<32>(tile);
    const int v = in[block.thread_rank()];
    int* mine = out + 16 * block.thread_rank();
    mine[0] = tile.shfl(v, 1);
    mine[1] = tile.shfl(v, Size - 1);
    mine[2] = tile.any(v == 9) != 0;
    mine[3] = tile.all(v != 9) != 0;
    mine[4] = cg::reduce(tile, v, cg::plus<int>());
    mine[5] = cg::reduce(tile, v, cg::less<int>());
    mine[6] = cg::reduce(tile, v, cg::greater<int>());
    mine[7] = cg::inclusive_scan(tile, v);
    mine[8] = cg::exclusive_scan(tile, v, cg::plus<int>());
    mine[9] = static_cast<int>(tile.thread_rank());
    mine[10] = static_cast<int>(tile.num_threads() + tile.size());
    mine[11] = static_cast<int>(tile.meta_group_rank());
    mine[12] = static_cast<int>(tile.meta_group_size());
    mine[13] = static_cast<int>(forgotten.meta_group_rank());
    mine[14] = static_cast<int>(warp.meta_group_rank());
    mine[15] = static_cast<int>(warp.meta_group_size());
}

// The tiles of a block go round as often as their rank says, without waiting for each other.
template <unsigned Size>
__global__ void pass_on(int* out) {
    __shared__ int s[1024];
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    const unsigned rank = tile.thread_rank(), first = threadIdx.x - rank;
    s[threadIdx.x] = static_cast<int>(threadIdx.x);
    for (unsigned round = 0; round <= tile.meta_group_rank(); ++round) {
        tile.sync();
        const int next = s[first + (rank + 33) % Size];
        cg::sync(tile);
        s[threadIdx.x] = next;
    }
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void nested_tiles(double* out) {
    auto outer = cg::tiled_partition<256>(cg::this_thread_block());
    auto inner = cg::tiled_partition<64>(outer);
    const double sum = cg::reduce(inner, threadIdx.x / 2.0, cg::plus<double>());
    out[threadIdx.x] = cg::reduce(outer, sum, cg::greater<double>()) * 10 + inner.meta_group_rank() +
                       inner.meta_group_size() / 8.0;
}

struct Pair {
    double value;
    int index;
};
struct Largest {
    __device__ Pair operator()(const Pair& a, const Pair& b) const { return b.value > a.value ? b : a; }
};
__global__ void arg_max(const double* in, int* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const Pair best = cg::reduce(tile, Pair{in[threadIdx.x], static_cast<int>(threadIdx.x)}, Largest());
    out[threadIdx.x] = best.index;
}

__global__ void coalesced(int* out, int modulus) {
    out[threadIdx.x] = -1;
    if (threadIdx.x % modulus == 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        const int rank = static_cast<int>(group.thread_rank());
        const int sum = cg::reduce(group, rank, cg::plus<int>());
        const int first = group.shfl(static_cast<int>(threadIdx.x), 0);
        group.sync();
        out[threadIdx.x] =
            sum * 10000 + static_cast<int>(group.size()) * 100 + first % 32 + (rank == 0 ? 50 : 0);
    }
}

__global__ void dynamic_tiles(unsigned* out, unsigned size) {
    cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), size);
    tile.sync();
    out[threadIdx.x] = static_cast<unsigned>(tile.size() * 100 + tile.thread_rank());
}

__global__ void parity(int* out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto half = cg::binary_partition(warp, threadIdx.x % 4 == 0);
    auto label = cg::labeled_partition(warp, static_cast<int>(threadIdx.x) % 5);
    out[threadIdx.x] = static_cast<int>(half.size() * 100 + label.size());
}

__global__ void copy(const int* in, int* out, int n) {
    extern __shared__ int staged[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, staged, in, sizeof(int) * static_cast<size_t>(n));
    cg::wait(block);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = staged[n - 1 - i];
}

__global__ void once(int* out) {
    cg::invoke_one(cg::this_thread_block(), [=] { atomicAdd(out, 1); });
}

// Each round every thread reads what another block wrote in the round before.
__global__ void rounds(int* even, int* odd, int count) {
    cg::grid_group grid = cg::this_grid();
    const auto i = static_cast<int>(grid.thread_rank()), n = static_cast<int>(grid.size());
    for (int r = 0; r < count; ++r) {
        const int* from = r % 2 ? odd : even;
        int* to = r % 2 ? even : odd;
        to[i] = from[(i + static_cast<int>(blockDim.x)) % n] + 1;
        grid.sync();
    }
}
__global__ void count_block(int* runs) {
    if (threadIdx.x == 0) ++runs[blockIdx.x];
}

__global__ void lonely_sync() { cg::this_grid().sync(); }

}  // namespace

TEST_CASE("ranks and sizes", "[simt][cg]") {
    Orders orders;
    const unsigned blocks = 3, lanes = 4 * 5 * 2;
    Managed<unsigned> out(8 * blocks * lanes);
    ranks<<<blocks, dim3(4, 5, 2)>>>(out.get());
    REQUIRE_LAUNCHED();
    for (unsigned i = 0; i < blocks * lanes; ++i) {
        const unsigned t = i % lanes;
        const unsigned expected[] = {t, lanes, blocks * lanes, t % 8, t / 8, 5, i / lanes, 8};
        for (unsigned k = 0; k < 8; ++k) REQUIRE(out[8 * i + k] == expected[k]);
    }
}

TEMPLATE_TEST_CASE_SIG("operations of tiles", "[simt][cg]", ((unsigned Size), Size), 1, 2, 4, 8, 16, 32) {
    Orders orders;
    Managed<int> in(96), out(96 * 12);
    for (int i = 0; i < 96; ++i) in[static_cast<size_t>(i)] = (i * 37) % 23 - 5;
    tile_operations<Size><<<1, 96>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    const int size = static_cast<int>(Size);
    for (int i = 0; i < 96; ++i) {
        const int first = i / size * size, rank = i % size;
        const auto at = [&](int k) { return in[static_cast<size_t>(first + k)]; };
        int ballot = 0, sum = 0, low = at(0), high = at(0), before = 0;
        for (int k = 0; k < size; ++k) {
            ballot |= static_cast<int>(static_cast<unsigned>(at(k) % 2 != 0) << k);
            sum += at(k), low = std::min(low, at(k)), high = std::max(high, at(k));
            if (k < rank) before += at(k);
        }
        const int whole = static_cast<int>(size == 32 ? ~0u : (1u << size) - 1);
        const int expected[] = {at(1 % size),
                                at(rank > 0 ? rank - 1 : rank),
                                at(rank + 1 < size ? rank + 1 : rank),
                                at((rank ^ 1) < size ? rank ^ 1 : rank),
                                ballot,
                                ballot != 0,
                                ballot == whole,
                                sum,
                                low,
                                high,
                                before + at(rank),
                                before};
        for (int k = 0; k < 12; ++k) {
            if (size == 1 && k == 3) continue;  // a lane of another tile: undefined, and others on a device
            CAPTURE(i, k);
            REQUIRE(out[static_cast<size_t>(i * 12 + k)] == expected[k]);
        }
    }
}

TEMPLATE_TEST_CASE_SIG("operations of tiles of several warps", "[simt][cg]", ((unsigned Size), Size), 64, 128,
                       256, 512) {
    Orders orders;
    const unsigned tiles = GENERATE(1u, 2u, 3u), lanes = tiles * Size;
    if (lanes > 1024) return;
    Managed<int> in(lanes), out(16 * lanes);
    for (unsigned i = 0; i < lanes; ++i) in[i] = static_cast<int>((i * 37) % 23) - 5;
    for (unsigned i = 0; i < Size; ++i)
        if (in[i] == 9) in[i] = 8;
    wide_tile_operations<Size><<<1, dim3(4, 8, lanes / 32)>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    for (unsigned i = 0; i < lanes; ++i) {
        const unsigned first = i / Size * Size;
        int sum = 0, low = in[first], high = in[first], before = 0;
        bool nine = false;
        for (unsigned k = first; k < first + Size; ++k) {
            sum += in[k], low = std::min(low, in[k]), high = std::max(high, in[k]), nine |= in[k] == 9;
            if (k < i) before += in[k];
        }
        REQUIRE(nine == (first != 0));
        const int tile = static_cast<int>(i / Size), size = static_cast<int>(Size);
        const int expected[] = {in[first + 1],
                                in[first + Size - 1],
                                nine,
                                !nine,
                                sum,
                                low,
                                high,
                                before + in[i],
                                before,
                                static_cast<int>(i - first),
                                2 * size,
                                tile,
                                static_cast<int>(tiles),
                                tile,
                                static_cast<int>(i - first) / 32,
                                size / 32};
        for (unsigned k = 0; k < 16; ++k) {
            CAPTURE(i, k);
            REQUIRE(out[16 * i + k] == expected[k]);
        }
    }
}

TEMPLATE_TEST_CASE_SIG("the barriers of tiles of several warps", "[simt][cg]", ((unsigned Size), Size), 64,
                       128, 256, 512) {
    Orders orders;
    const unsigned lanes = GENERATE(512u, 1024u);
    Managed<int> out(lanes);
    pass_on<Size><<<1, lanes>>>(out.get());
    REQUIRE_LAUNCHED();
    for (unsigned i = 0; i < lanes; ++i) {
        const unsigned first = i / Size * Size, rounds = i / Size + 1;
        REQUIRE(out[i] == static_cast<int>(first + (i - first + 33 * rounds) % Size));
    }
}

TEST_CASE("tiles of several warps within tiles", "[simt][cg]") {
    Orders orders;
    Managed<double> out(512);
    nested_tiles<<<1, 512>>>(out.get());
    REQUIRE_LAUNCHED();
    for (unsigned i = 0; i < 512; ++i) {
        // Of the last 64 of the 256.
        const unsigned from = i / 256 * 256 + 192, to = from + 63;
        REQUIRE(out[i] == 64 * (from + to) / 4.0 * 10 + i % 256 / 64 + 4 / 8.0);
    }
}

TEST_CASE("a reduction of structures with an operator of one's own", "[simt][cg]") {
    Orders orders;
    Managed<double> in(64);
    Managed<int> out(64);
    for (int i = 0; i < 64; ++i) in[static_cast<size_t>(i)] = (i * 29) % 32 + i / 32 * 0.5;
    arg_max<<<1, 64>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 64; ++i) {
        const int first = i / 32 * 32;
        int best = first;
        for (int k = first; k < first + 32; ++k)
            if (in[static_cast<size_t>(k)] > in[static_cast<size_t>(best)]) best = k;
        REQUIRE(out[static_cast<size_t>(i)] == best);
    }
}

TEST_CASE("coalesced threads", "[simt][cg]") {
    Orders orders;
    const int modulus = GENERATE(1, 2, 3, 7, 31);
    Managed<int> out(64);
    coalesced<<<1, 64>>>(out.get(), modulus);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 64; ++i) {
        if (i % modulus != 0) {
            REQUIRE(out[static_cast<size_t>(i)] == -1);
            continue;
        }
        int size = 0, first = -1;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k)
            if (k % modulus == 0) {
                if (first < 0) first = k;
                ++size;
            }
        REQUIRE(out[static_cast<size_t>(i)] ==
                size * (size - 1) / 2 * 10000 + size * 100 + first % 32 + (i == first ? 50 : 0));
    }
}

TEST_CASE("tiles whose size is chosen at run time, and partitions", "[simt][cg]") {
    Orders orders;
    const unsigned size = GENERATE(1u, 4u, 32u);
    Managed<unsigned> out(64);
    dynamic_tiles<<<1, 64>>>(out.get(), size);
    REQUIRE_LAUNCHED();
    for (unsigned i = 0; i < 64; ++i) REQUIRE(out[i] == size * 100 + i % size);
    Managed<int> parts(32);
    parity<<<1, 32>>>(parts.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 32; ++i)
        REQUIRE(parts[static_cast<size_t>(i)] == (i % 4 == 0 ? 8 : 24) * 100 + (i % 5 < 2 ? 7 : 6));
}

TEST_CASE("memcpy_async and invoke_one", "[simt][cg]") {
    Orders orders;
    const int n = GENERATE(1, 31, 1000);
    Managed<int> in(static_cast<size_t>(n)), out(static_cast<size_t>(n)), calls(1);
    for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = i;
    copy<<<1, 96, sizeof(int) * static_cast<size_t>(n)>>>(in.get(), out.get(), n);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) REQUIRE(out[static_cast<size_t>(i)] == n - 1 - i);
    once<<<5, 40>>>(calls.get());
    REQUIRE_LAUNCHED();
    CHECK(calls[0] == 5);
}

TEST_CASE("the barrier of a grid", "[simt][cg][grid]") {
    Orders orders;
    const unsigned blocks = GENERATE(1u, 2u, 7u, 64u), lanes = GENERATE(1u, 33u, 128u);
    const int n = static_cast<int>(blocks * lanes), count = 12;
    Managed<int> even(static_cast<size_t>(n)), odd(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) even[static_cast<size_t>(i)] = i;
    int *e = even.get(), *o = odd.get(), rounds_ = count;
    void* arguments[] = {&e, &o, &rounds_};
    REQUIRE(cudaLaunchCooperativeKernel(rounds, dim3(blocks), dim3(lanes), arguments, 0, nullptr) ==
            cudaSuccess);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i)
        REQUIRE(even[static_cast<size_t>(i)] == (i + count * static_cast<int>(lanes)) % n + count);
}

TEST_CASE("every block of a cooperative grid runs, also when none waits", "[simt][cg][grid]") {
    // Blocks that end at once may all be done before a helper thread has woken up to take its share.
    constexpr unsigned blocks = 7;
    Managed<int> runs(blocks);
    for (unsigned i = 0; i < blocks; ++i) runs[i] = 0;
    int* counters = runs.get();
    void* arguments[] = {&counters};
    for (int repeat = 1; repeat <= 200; ++repeat) {
        REQUIRE(cudaLaunchCooperativeKernel(count_block, dim3(blocks), dim3(256), arguments, 0, nullptr) ==
                cudaSuccess);
        REQUIRE_LAUNCHED();
        for (unsigned i = 0; i < blocks; ++i) REQUIRE(runs[i] == repeat);
    }
}

TEST_CASE("a cooperative grid that is too large", "[simt][cg][grid]") {
    CHECK(cudaLaunchCooperativeKernel(lonely_sync, dim3(100000), dim3(1024), nullptr, 0, nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
}

TEST_CASE("grid.sync() in an ordinary launch is reported", "[simt][cg][grid]") {
    ExpectFailure quiet;
    lonely_sync<<<2, 32>>>();
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK_THAT(simt::last_report(), Catch::Matchers::ContainsSubstring("cudaLaunchCooperativeKernel"));
}
