// Accesses that nothing orders.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstring>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

constexpr int n = 128;

/// Runs `kernel(in, out)` with one block of n threads.
void run_block(void (*kernel)(const int*, int*)) {
    Device<int> in("in", n, 1), out("out", n, 0);
    kernel<<<1, n>>>(in.get(), out.get());
}
/// The same with four blocks of 32.
void run_blocks(void (*kernel)(const int*, int*)) {
    Device<int> in("in", n, 1), out("out", n, 0);
    kernel<<<4, n / 4>>>(in.get(), out.get());
}

// ---- Shared memory, block --------------------------------------------------------------------------------

template <bool repaired>
__global__ void after_load(const int* in, int* out) {
    __shared__ int tile[n];
    tile[threadIdx.x] = in[threadIdx.x];  // bad: after_load
    if (repaired) __syncthreads();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];  // bad: after_load
}
template <bool repaired>
void run_after_load() {
    run_block(after_load<repaired>);
}
CORPUS_CASE(after_load, "racecheck", "read-write", "tile");

__shared__ int outside[n];

template <bool repaired>
__global__ void outside_functions(const int* in, int* out) {
    outside[threadIdx.x] = in[threadIdx.x];  // bad: outside_functions
    if (repaired) __syncthreads();
    out[threadIdx.x] = outside[n - 1 - threadIdx.x];  // bad: outside_functions
}
template <bool repaired>
void run_outside_functions() {
    run_block(outside_functions<repaired>);
}
CORPUS_CASE(outside_functions, "racecheck", "read-write", "outside");

template <bool repaired>
__global__ void before_reload(const int* in, int* out) {
    __shared__ int tile[n];
    int sum = 0;
    for (int round = 0; round < 2; ++round) {
        tile[threadIdx.x] = in[threadIdx.x] + round;  // bad: before_reload
        __syncthreads();
        sum += tile[(threadIdx.x + 40) % n];  // bad: before_reload
        if (repaired) __syncthreads();
    }
    out[threadIdx.x] = sum;
}
template <bool repaired>
void run_before_reload() {
    run_block(before_reload<repaired>);
}
CORPUS_CASE(before_reload, "racecheck", "read-write", "tile");

template <bool repaired>
__global__ void tree(const int* in, int* out) {
    __shared__ int s[n];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned step = n / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];  // bad: tree
        if (repaired) __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
}
template <bool repaired>
void run_tree() {
    run_block(tree<repaired>);
}
CORPUS_CASE(tree, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void shift(const int* in, int* out) {
    __shared__ int s[n + 1];
    s[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x == 0) s[n] = 0;
    __syncthreads();
    const int next = s[threadIdx.x + 1];  // bad: shift
    if (repaired) __syncthreads();
    s[threadIdx.x] = next;  // bad: shift
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
template <bool repaired>
void run_shift() {
    run_block(shift<repaired>);
}
CORPUS_CASE(shift, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void scan_in_place(const int* in, int* out) {
    __shared__ int s[n];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned step = 1; step < n; step *= 2) {
        int add = 0;
        if (threadIdx.x >= step) add = s[threadIdx.x - step];  // bad: scan_in_place
        if (repaired) __syncthreads();
        s[threadIdx.x] += add;  // bad: scan_in_place
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}
template <bool repaired>
void run_scan_in_place() {
    run_block(scan_in_place<repaired>);
}
CORPUS_CASE(scan_in_place, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void broadcast(const int* in, int* out) {
    __shared__ int first;
    if (threadIdx.x == 5) first = in[0];  // bad: broadcast
    if (repaired) __syncthreads();
    out[threadIdx.x] = first;  // bad: broadcast
}
template <bool repaired>
void run_broadcast() {
    Device<int> in("in", n, 1), out("out", n, 0);
    // Whoever reads before it is written reads garbage: that is found as well.
    broadcast<repaired><<<1, n>>>(in.get(), out.get());
}
CORPUS_CASE(broadcast, "racecheck", "read-write", "first");

template <bool repaired>
__global__ void histogram_shared(const int* in, int* out) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    if (repaired)
        atomicAdd(&bins[in[threadIdx.x]], 1);
    else
        bins[in[threadIdx.x]]++;  // bad: histogram_shared
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}
template <bool repaired>
void run_histogram_shared() {
    run_block(histogram_shared<repaired>);
}
CORPUS_CASE(histogram_shared, "racecheck", "read-write write-write", "bins");

template <bool repaired>
__global__ void counter_reset(const int* in, int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, in[threadIdx.x]);  // bad: counter_reset
    if (repaired) __syncthreads();
    if (threadIdx.x == 0) out[0] = count;  // bad: counter_reset
}
template <bool repaired>
void run_counter_reset() {
    run_block(counter_reset<repaired>);
}
CORPUS_CASE(counter_reset, "racecheck", "atomic-read", "count");

// The barrier orders the read before the adding of its own block, not of the other.
template <bool repaired>
__global__ void look_then_add(int* counter, int* out) {
    const int before = repaired ? atomicAdd(counter, 0) : *counter;  // bad: look_then_add
    __syncthreads();
    atomicAdd(counter, 1);  // bad: look_then_add
    out[blockIdx.x * blockDim.x + threadIdx.x] = before;
}
template <bool repaired>
void run_look_then_add() {
    Device<int> counter("counter", 1, 0), out("out", 2 * n, 0);
    look_then_add<repaired><<<2, n>>>(counter.get(), out.get());
}
CORPUS_CASE(look_then_add, "racecheck", "atomic-read", "counter");

/// A first guess may be out of date if compare-and-swap finds that out.
template <bool repaired>
__global__ void first_guess(int* sum, int* out) {
    int guess = *sum;  // bad: first_guess
    const int add = guess < 0 ? 2 : 1;
    if (repaired) {
        for (int old = guess; (old = atomicCAS(sum, guess, guess + 1)) != guess; guess = old) {
        }
    } else {
        atomicAdd(sum, add);  // bad: first_guess
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = guess;
}
template <bool repaired>
void run_first_guess() {
    Device<int> sum("sum", 1, 0), out("out", 2 * n, 0);
    first_guess<repaired><<<2, n>>>(sum.get(), out.get());
}
CORPUS_CASE(first_guess, "racecheck", "atomic-read", "sum");

template <bool repaired>
__global__ void counter_clear(const int* in, int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, in[threadIdx.x]);  // bad: counter_clear
    if (repaired) __syncthreads();
    if (threadIdx.x == 32) count = 0;  // bad: counter_clear
    __syncthreads();
    if (threadIdx.x == 0) out[0] = count;
}
template <bool repaired>
void run_counter_clear() {
    run_block(counter_clear<repaired>);
}
CORPUS_CASE(counter_clear, "racecheck", "atomic-write", "count");

template <bool repaired>
__global__ void same_value(const int* in, int* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (repaired ? threadIdx.x == 7 : in[threadIdx.x] == 1) found = 1;  // bad: same_value
    __syncthreads();
    if (threadIdx.x == 0) out[0] = found;
}
template <bool repaired>
void run_same_value() {
    run_block(same_value<repaired>);
}
CORPUS_CASE(same_value, "racecheck", "write-write", "found");

template <bool repaired>
__device__ int block_sum(int x) {
    __shared__ int partial[n / 32];
    for (unsigned step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    if (repaired) __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;  // bad: reused
    __syncthreads();
    int sum = 0;
    for (int w = 0; w < n / 32; ++w) sum += partial[w];  // bad: reused
    return sum;
}
template <bool repaired>
__global__ void reused(const int* in, int* out) {
    out[threadIdx.x] = block_sum<repaired>(in[threadIdx.x]) + block_sum<repaired>(2);
}
template <bool repaired>
void run_reused() {
    run_block(reused<repaired>);
}
CORPUS_CASE(reused, "racecheck", "read-write", "partial");

template <bool repaired>
__global__ void double_buffer(const int* in, int* out) {
    __shared__ int buffer[2][n];
    buffer[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 3; ++k) {
        const int other = buffer[k & 1][(threadIdx.x + 33) % n];  // bad: double_buffer
        buffer[(k + 1) & 1][threadIdx.x] = other + 1;             // bad: double_buffer
        if (repaired || k == 1) __syncthreads();
    }
    out[threadIdx.x] = buffer[1][threadIdx.x];
}
template <bool repaired>
void run_double_buffer() {
    run_block(double_buffer<repaired>);
}
CORPUS_CASE(double_buffer, "racecheck", "read-write", "buffer");

// ---- Tiles of several warps -----------------------------------------------------------------------------

namespace cg = cooperative_groups;

template <bool repaired>
__global__ void within_tile(const int* in, int* out) {
    __shared__ int s[n];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    const unsigned first = threadIdx.x / 64 * 64;
    int sum = 0;
    for (int round = 0; round < 3; ++round) {
        s[threadIdx.x] = in[threadIdx.x] + round;  // bad: within_tile
        tile.sync();
        sum += s[first + (threadIdx.x + 40) % 64];  // bad: within_tile
        if (repaired) tile.sync();
    }
    out[threadIdx.x] = sum;
}
template <bool repaired>
void run_within_tile() {
    run_block(within_tile<repaired>);
}
CORPUS_CASE(within_tile, "racecheck", "read-write", "s");

/// The other tile's threads have not been waited for.
template <bool repaired>
__global__ void beyond_tile(const int* in, int* out) {
    __shared__ int s[n];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    s[threadIdx.x] = in[threadIdx.x];  // bad: beyond_tile
    if (repaired)
        __syncthreads();
    else
        tile.sync();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];  // bad: beyond_tile
}
template <bool repaired>
void run_beyond_tile() {
    run_block(beyond_tile<repaired>);
}
CORPUS_CASE(beyond_tile, "racecheck", "read-write", "s");

/// A shuffle hands over its value, and nothing in memory.
template <bool repaired>
__global__ void tile_shuffle(const int* in, int* out) {
    __shared__ int s[n];
    auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    s[threadIdx.x] = tile.shfl(in[threadIdx.x], 5);  // bad: tile_shuffle
    const int all = tile.all(1);
    if (repaired) tile.sync();
    out[threadIdx.x] = s[n - 1 - threadIdx.x] + all;  // bad: tile_shuffle
}
template <bool repaired>
void run_tile_shuffle() {
    run_block(tile_shuffle<repaired>);
}
CORPUS_CASE(tile_shuffle, "racecheck", "read-write", "s");

/// Eight warps read; the one that writes has met the three others of its tile only.
template <bool repaired>
__global__ void readers_beyond_tile(int* value, int* out) {
    auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    out[threadIdx.x] = *value;  // bad: readers_beyond_tile
    tile.sync();
    if (repaired) __syncthreads();
    __nanosleep(1);                     // until all have read
    if (threadIdx.x == 40) *value = 2;  // bad: readers_beyond_tile
}
template <bool repaired>
void run_readers_beyond_tile() {
    Device<int> value("value", 1, 1), out("out", 256, 0);
    readers_beyond_tile<repaired><<<1, 256>>>(value.get(), out.get());
}
CORPUS_CASE(readers_beyond_tile, "racecheck", "read-write", "value");

/// Each warp meets its neighbour, and then what both have left with the other pair: the small tiles' order
/// holds in the large one.
template <bool repaired>
__global__ void tiles_of_tiles(const int* in, int* out) {
    __shared__ int s[n];
    auto large = cg::tiled_partition<128>(cg::this_thread_block());
    auto small = cg::tiled_partition<64>(large);
    s[threadIdx.x] = in[threadIdx.x];  // bad: tiles_of_tiles
    small.sync();
    const int near = s[threadIdx.x ^ 32];
    if (repaired) large.sync();
    const int far = s[threadIdx.x ^ 64];  // bad: tiles_of_tiles
    out[threadIdx.x] = near + far;
}
template <bool repaired>
void run_tiles_of_tiles() {
    run_block(tiles_of_tiles<repaired>);
}
CORPUS_CASE(tiles_of_tiles, "racecheck", "read-write", "s");

/// Every thread of a tile writes and one fences: what it releases is the tile's, once the tile has met. What
/// one thread of another tile acquires is the tile's, once that has met.
template <bool repaired>
__global__ void fence_of_tile(const int* in, int* partial, unsigned* ticket, int* out) {
    __shared__ bool last[2];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    const unsigned mine = tile.meta_group_rank();
    partial[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];  // bad: fence_of_tile
    if (repaired) tile.sync();
    if (tile.thread_rank() == 0) {
        __threadfence();
        last[mine] = atomicAdd(ticket, 1u) == 2 * gridDim.x - 1;
    }
    tile.sync();
    if (!last[mine]) return;
    int sum = 0;
    for (unsigned i = tile.thread_rank(); i < gridDim.x * blockDim.x; i += 64)
        sum += partial[(i + 1) % (gridDim.x * blockDim.x)];  // bad: fence_of_tile
    atomicAdd(out, sum);
}
template <bool repaired>
void run_fence_of_tile() {
    Device<int> in("in", n, 1), partial("partial", 4 * n), out("out", 1, 0);
    Device<unsigned> ticket("ticket", 1, 0u);
    fence_of_tile<repaired><<<4, n>>>(in.get(), partial.get(), ticket.get(), out.get());
}
CORPUS_CASE(fence_of_tile, "racecheck", "read-write", "partial");

/// A warp's product of matrices orders no memory either.
template <bool repaired>
__global__ void stored_product(float* out) {
    using namespace nvcuda::wmma;
    __shared__ __half factor[256];
    __shared__ float product[256];
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    fragment<matrix_b, 16, 16, 16, __half, col_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    for (unsigned i = threadIdx.x; i < 256; i += 32) factor[i] = __float2half(1.0f);
    __syncwarp();
    load_matrix_sync(a, factor, 16);
    load_matrix_sync(b, factor, 16);
    fill_fragment(c, 0.0f);
    mma_sync(c, a, b, c);
    store_matrix_sync(product, c, 16, mem_row_major);  // bad: stored_product
    if (repaired) __syncwarp();
    for (unsigned i = threadIdx.x; i < 256; i += 32) out[i] = product[i];  // bad: stored_product
}
template <bool repaired>
void run_stored_product() {
    Device<float> out("out", 256);
    stored_product<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(stored_product, "racecheck", "read-write", "product");

// ---- Shared memory, warp ---------------------------------------------------------------------------------

template <bool repaired>
__global__ void missing_syncwarp(const int* in, int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];  // bad: missing_syncwarp
    if (repaired) __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];  // bad: missing_syncwarp
}
template <bool repaired>
void run_missing_syncwarp() {
    Device<int> in("in", 32, 1), out("out", 32, 0);
    missing_syncwarp<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(missing_syncwarp, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void warp_tail(const int* in, int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    s[threadIdx.x + 32] = in[threadIdx.x + 32];
    __syncthreads();
    for (unsigned step = 32; step > 0; step /= 2) {
        int other = 0;
        if (threadIdx.x < step) other = s[threadIdx.x + step];  // bad: warp_tail
        if (repaired) __syncwarp();
        if (threadIdx.x < step) s[threadIdx.x] += other;  // bad: warp_tail
        if (repaired) __syncwarp();
    }
    if (threadIdx.x == 0) *out = s[0];
}
template <bool repaired>
void run_warp_tail() {
    Device<int> in("in", 64, 1), out("out", 1, 0);
    warp_tail<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(warp_tail, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void volatile_tail(const int* in, int* out) {
    __shared__ int s[64];
    volatile int* v = s;
    v[threadIdx.x] = in[threadIdx.x];
    v[threadIdx.x + 32] = in[threadIdx.x + 32];
    __syncthreads();
    for (unsigned step = 32; step > 0; step /= 2) {
        const int sum = v[threadIdx.x] + v[(threadIdx.x + step) % 64];  // bad: volatile_tail
        if (repaired) __syncwarp();
        v[threadIdx.x] = sum;  // bad: volatile_tail
        if (repaired) __syncwarp();
    }
    if (threadIdx.x == 0) *out = v[0];
}
template <bool repaired>
void run_volatile_tail() {
    Device<int> in("in", 64, 1), out("out", 1, 0);
    volatile_tail<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(volatile_tail, "racecheck", "read-write", "s");

/// A shuffle, like a vote, exchanges values of registers; it orders no memory.
template <bool repaired>
__global__ void shuffle_between(const int* in, int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];  // bad: shuffle_between
    const int next = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), (threadIdx.x + 1) % 32);
    if (repaired) __syncwarp();
    out[threadIdx.x] = s[next];  // bad: shuffle_between
}
template <bool repaired>
void run_shuffle_between() {
    Device<int> in("in", 32, 1), out("out", 32, 0);
    shuffle_between<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(shuffle_between, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void votes_between(const int* in, int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];  // bad: votes_between
    int votes = __any_sync(0xffffffffu, in[threadIdx.x] > 0) + __all_sync(0xffffffffu, in[threadIdx.x] > 0);
    votes += static_cast<int>(__ballot_sync(0xffffffffu, in[threadIdx.x] > 0) & 1);
    votes += static_cast<int>(__match_any_sync(0xffffffffu, in[threadIdx.x]) & 1);
    votes += __reduce_max_sync(0xffffffffu, in[threadIdx.x]);
    if (repaired) __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1] + votes;  // bad: votes_between
}
template <bool repaired>
void run_votes_between() {
    Device<int> in("in", 32, 1), out("out", 32, 0);
    votes_between<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(votes_between, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void wrong_half(const int* in, int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];  // bad: wrong_half
    const unsigned half = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    __syncwarp(repaired ? 0xffffffffu : half);
    out[threadIdx.x] = s[threadIdx.x ^ 16];  // bad: wrong_half
}
template <bool repaired>
void run_wrong_half() {
    Device<int> in("in", 32, 1), out("out", 32, 0);
    wrong_half<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(wrong_half, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void across_tiles(const int* in, int* out) {
    __shared__ int s[32];
    const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    s[threadIdx.x] = in[threadIdx.x];  // bad: across_tiles
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ (repaired ? 7 : 8)];  // bad: across_tiles
}
template <bool repaired>
void run_across_tiles() {
    Device<int> in("in", 32, 1), out("out", 32, 0);
    across_tiles<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(across_tiles, "racecheck", "read-write", "s");

template <bool repaired>
__global__ void warp_for_block(const int* in, int* out) {
    __shared__ int s[n];
    s[threadIdx.x] = in[threadIdx.x];  // bad: warp_for_block
    if (repaired)
        __syncthreads();
    else
        __syncwarp();
    out[threadIdx.x] = s[(threadIdx.x + 32) % n];  // bad: warp_for_block
}
template <bool repaired>
void run_warp_for_block() {
    run_block(warp_for_block<repaired>);
}
CORPUS_CASE(warp_for_block, "racecheck", "read-write", "s");

// ---- Small types -----------------------------------------------------------------------------------------

template <bool repaired>
__global__ void bytes(const int* in, int* out) {
    __shared__ char s[n];
    s[repaired ? threadIdx.x : threadIdx.x & ~1u] =
        static_cast<char>(in[threadIdx.x] + threadIdx.x);  // bad: bytes
    __syncthreads();
    out[threadIdx.x] = s[repaired ? threadIdx.x : threadIdx.x & ~1u];
}
template <bool repaired>
void run_bytes() {
    run_block(bytes<repaired>);
}
CORPUS_CASE(bytes, "racecheck", "write-write", "s");

template <bool repaired>
__global__ void byte_collision(const int* in, char* out) {
    out[repaired ? threadIdx.x : threadIdx.x / 2] =
        static_cast<char>(in[threadIdx.x] + threadIdx.x);  // bad: byte_collision
}
template <bool repaired>
void run_byte_collision() {
    Device<int> in("in", n, 1);
    Device<char> out("out", n, 0);
    byte_collision<repaired><<<1, n>>>(in.get(), out.get());
}
CORPUS_CASE(byte_collision, "racecheck", "write-write", "out");

template <bool repaired>
__global__ void halves(const int* in, short* out) {
    const unsigned i = 2 * threadIdx.x;
    out[i] = static_cast<short>(in[threadIdx.x]);                                     // bad: halves
    out[i + (repaired ? 1 : 2)] = static_cast<short>(in[threadIdx.x] + threadIdx.x);  // bad: halves
}
template <bool repaired>
void run_halves() {
    Device<int> in("in", n, 1);
    Device<short> out("out", 2 * n + 2, 0);
    halves<repaired><<<1, n>>>(in.get(), out.get());
}
CORPUS_CASE(halves, "racecheck", "write-write", "out");

template <bool repaired>
__global__ void vector_overlap(const float* in, float* out) {
    const unsigned i = repaired ? 4 * threadIdx.x : 2 * (threadIdx.x & ~1u);
    const float4 v = *reinterpret_cast<const float4*>(in + i);
    *reinterpret_cast<float4*>(out + i) =
        float4{v.x + static_cast<float>(threadIdx.x), v.y, v.z, v.w};  // bad: vector_overlap
}
template <bool repaired>
void run_vector_overlap() {
    Device<float> in("in", 4 * n, 1), out("out", 4 * n, 0);
    vector_overlap<repaired><<<1, n>>>(in.get(), out.get());
}
CORPUS_CASE(vector_overlap, "racecheck", "write-write", "out");

// ---- Global memory ---------------------------------------------------------------------------------------

template <bool repaired>
__global__ void histogram_global(const int* in, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (repaired)
        atomicAdd(&out[in[i]], 1);
    else
        out[in[i]] += 1;  // bad: histogram_global
}
template <bool repaired>
void run_histogram_global() {
    run_blocks(histogram_global<repaired>);
}
CORPUS_CASE(histogram_global, "racecheck", "read-write write-write", "out");

template <bool repaired>
__global__ void between_blocks(const int* in, int* out) {
    const unsigned i = repaired ? blockIdx.x : blockIdx.x / 2;
    if (threadIdx.x == 0) out[i] = in[i] + static_cast<int>(blockIdx.x);  // bad: between_blocks
}
template <bool repaired>
void run_between_blocks() {
    run_blocks(between_blocks<repaired>);
}
CORPUS_CASE(between_blocks, "racecheck", "write-write", "out");

template <bool repaired>
__global__ void stencil_in_place(const int* in, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const int* from = repaired ? in : out;
    const int left = i > 0 ? from[i - 1] : 0;  // bad: stencil_in_place
    __syncthreads();
    out[i] = left + 1;  // bad: stencil_in_place
}
template <bool repaired>
void run_stencil_in_place() {
    run_blocks(stencil_in_place<repaired>);
}
CORPUS_CASE(stencil_in_place, "racecheck", "read-write", "out");

template <bool repaired>
__global__ void transpose_in_place(const int* in, int* m) {
    const unsigned row = threadIdx.y, column = threadIdx.x;
    const int v = m[row * 8 + column];  // bad: transpose_in_place
    if (repaired) __syncthreads();
    m[column * 8 + row] = v + in[0];  // bad: transpose_in_place
}
template <bool repaired>
void run_transpose_in_place() {
    Device<int> in("in", 1, 0), m("m", 64, 1);
    transpose_in_place<repaired><<<1, dim3(8, 8)>>>(in.get(), m.get());
}
CORPUS_CASE(transpose_in_place, "racecheck", "read-write", "m");

__device__ int visits;
template <bool repaired>
__global__ void plain_counter(int* out) {
    if (threadIdx.x == 0) {
        if (repaired)
            atomicAdd(&visits, 1);
        else
            visits = visits + 1;  // bad: plain_counter
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
template <bool repaired>
void run_plain_counter() {
    Device<int> out("out", n);
    plain_counter<repaired><<<4, 32>>>(out.get());
}
CORPUS_CASE(plain_counter, "racecheck", "read-write write-write", "visits");

/// The block that finishes last adds up what all have left behind. `fence`: 0 none, 1 right, 2 too late, 3
/// for the block only.
template <int fence>
__global__ void last_block_kernel(const int* in, int* partial, unsigned* ticket, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];  // bad: fence_missing fence_late fence_of_block
        if (fence == 1) __threadfence();
        if (fence == 3) __threadfence_block();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        if (fence == 2) __threadfence();
    }
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        sum += partial[b];  // bad: fence_missing fence_late fence_of_block
    atomicAdd(out, sum);
}
template <int fence>
void run_last_block() {
    Device<int> in("in", 8, 1), partial("partial", 8), out("out", 1, 0);
    Device<unsigned> ticket("ticket", 1, 0u);
    last_block_kernel<fence><<<8, 64>>>(in.get(), partial.get(), ticket.get(), out.get());
}
template <bool repaired>
void run_fence_missing() {
    run_last_block<repaired ? 1 : 0>();
}
CORPUS_CASE(fence_missing, "racecheck", "read-write", "partial");
template <bool repaired>
void run_fence_late() {
    run_last_block<repaired ? 1 : 2>();
}
CORPUS_CASE(fence_late, "racecheck", "read-write", "partial");
template <bool repaired>
void run_fence_of_block() {
    run_last_block<repaired ? 1 : 3>();
}
CORPUS_CASE(fence_of_block, "racecheck", "read-write", "partial");

/// The last block clears the ticket for the next launch with a plain store: all other blocks' atomics come
/// before the one by which it saw that it was the last. `clears`: 0 the last block, 1 another one, 2 every
/// block before its own atomic, 3 the last block, but without fences.
template <int clears>
__global__ void cleared_ticket_kernel(const int* in, volatile int* partial, unsigned* ticket, int* out) {
    __shared__ bool clearing;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        if (clears == 2) *ticket = 0;  // bad: cleared_by_all
        if (clears != 3) __threadfence();
        const unsigned mine = atomicAdd(ticket, 1u);  // bad: cleared_too_soon cleared_by_all cleared_unfenced
        clearing = mine == (clears == 1 ? gridDim.x / 2 : gridDim.x - 1);
    }
    __syncthreads();
    if (!clearing) return;
    int sum = 0;
    if (clears == 0)
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += partial[b];
    atomicAdd(out, sum);
    if (clears != 2 && threadIdx.x == 7) *ticket = 0;  // bad: cleared_too_soon cleared_unfenced
}
template <int clears>
void run_cleared_ticket() {
    Device<int> in("in", 8, 1), partial("partial", 8), out("out", 1, 0);
    Device<unsigned> ticket("ticket", 1, 0u);
    for (int launch = 0; launch < (clears == 0 ? 2 : 1); ++launch)
        cleared_ticket_kernel<clears><<<8, 64>>>(in.get(), partial.get(), ticket.get(), out.get());
}
template <bool repaired>
void run_cleared_too_soon() {
    run_cleared_ticket<repaired ? 0 : 1>();
}
CORPUS_CASE(cleared_too_soon, "racecheck", "atomic-write", "ticket");
template <bool repaired>
void run_cleared_by_all() {
    run_cleared_ticket<repaired ? 0 : 2>();
}
CORPUS_CASE(cleared_by_all, "racecheck", "atomic-write write-write", "ticket");
template <bool repaired>
void run_cleared_unfenced() {
    run_cleared_ticket<repaired ? 0 : 3>();
}
CORPUS_CASE(cleared_unfenced, "racecheck", "atomic-write", "ticket");

/// Every thread draws a ticket, and the thread that drew the last one clears them.
template <bool repaired>
__global__ void ticket_per_thread(unsigned* ticket) {
    __threadfence();
    const unsigned mine = atomicAdd(ticket, 1u);                             // bad: ticket_per_thread
    if (mine == (repaired ? gridDim.x * blockDim.x - 1 : 200)) *ticket = 0;  // bad: ticket_per_thread
}
template <bool repaired>
void run_ticket_per_thread() {
    Device<unsigned> ticket("ticket", 1, 0u);
    for (int launch = 0; launch < 2; ++launch) ticket_per_thread<repaired><<<4, 64>>>(ticket.get());
}
CORPUS_CASE(ticket_per_thread, "racecheck", "atomic-write", "ticket");

/// Every thread writes, but only one fences: its barrier has to come first.
template <bool repaired>
__global__ void fence_of_one(const int* in, int* partial, unsigned* ticket, int* out) {
    __shared__ bool last;
    partial[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];  // bad: fence_of_one
    if (repaired) __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x)
        sum += partial[(i + 1) % (gridDim.x * blockDim.x)];  // bad: fence_of_one
    atomicAdd(out, sum);
}
template <bool repaired>
void run_fence_of_one() {
    Device<int> in("in", 64, 1), partial("partial", 256), out("out", 1, 0);
    Device<unsigned> ticket("ticket", 1, 0u);
    fence_of_one<repaired><<<4, 64>>>(in.get(), partial.get(), ticket.get(), out.get());
}
CORPUS_CASE(fence_of_one, "racecheck", "read-write", "partial");

/// One block hands a value to the next by a flag.
template <bool repaired>
__global__ void flag(int* value, int* ready, int* out) {
    if (threadIdx.x != 0) return;
    if (atomicAdd(&ready[1], 1) == 0) {
        *value = 42;  // bad: flag
        if (repaired) __threadfence();
        atomicExch(&ready[0], 1);
    } else {
        while (atomicAdd(&ready[0], 0) == 0) {
        }
        *out = *value;  // bad: flag
    }
}
template <bool repaired>
void run_flag() {
    Device<int> value("value", 1), ready("ready", 2, 0), out("out", 1);
    flag<repaired><<<2, 32>>>(value.get(), ready.get(), out.get());
}
CORPUS_CASE(flag, "racecheck", "read-write", "value");

/// The same along a chain of blocks: the last one reads what the first wrote.
template <bool repaired>
__global__ void chain(int* value, int* ready, int* ticket, int* out) {
    if (threadIdx.x != 0) return;
    const int mine = atomicAdd(ticket, 1);
    if (mine == 0) *value = 42;  // bad: chain
    if (mine > 0) {
        while (atomicAdd(&ready[mine - 1], 0) == 0) {
        }
    }
    if (mine == 3) *out = *value;  // bad: chain
    if (repaired || mine != 0) __threadfence();
    atomicExch(&ready[mine], 1);
}
template <bool repaired>
void run_chain() {
    Device<int> value("value", 1), ready("ready", 4, 0), ticket("ticket", 1, 0), out("out", 1);
    chain<repaired><<<4, 32>>>(value.get(), ready.get(), ticket.get(), out.get());
}
CORPUS_CASE(chain, "racecheck", "read-write", "value");

template <bool repaired>
__global__ void volatile_flag(int* value, volatile int* ready, int* ticket, int* out) {
    if (threadIdx.x != 0) return;
    if (atomicAdd(ticket, 1) == 0) {
        *value = 42;  // bad: volatile_flag
        if (repaired) __threadfence();
        *ready = 1;
    } else {
        while (*ready == 0) {
        }
        __threadfence();
        *out = *value;  // bad: volatile_flag
    }
}
template <bool repaired>
void run_volatile_flag() {
    Device<int> value("value", 1), ready("ready", 1, 0), ticket("ticket", 1, 0), out("out", 1);
    volatile_flag<repaired><<<2, 32>>>(value.get(), ready.get(), ticket.get(), out.get());
}
CORPUS_CASE(volatile_flag, "racecheck", "read-write", "value");

/// Reads do not conflict, volatile or not.
template <bool repaired>
__global__ void volatile_readers(int* v, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!repaired && i == 5) atomicExch(v, 2);  // bad: volatile_readers
    if (blockIdx.x % 2 == 0)
        out[i] = *static_cast<volatile int*>(v);
    else
        out[i] = *v;  // bad: volatile_readers
}
template <bool repaired>
void run_volatile_readers() {
    Device<int> v("v", 1, 1), out("out", n);
    volatile_readers<repaired><<<4, n / 4>>>(v.get(), out.get());
}
CORPUS_CASE(volatile_readers, "racecheck", "atomic-read", "v");

template <bool repaired>
__global__ void plain_flag(int* value, int* out) {
    if (blockIdx.x == 0)
        atomicExch(value, 42);  // bad: plain_flag
    else
        *out = repaired ? atomicAdd(value, 0) : *value;  // bad: plain_flag
}
template <bool repaired>
void run_plain_flag() {
    Device<int> value("value", 1, 0), out("out", 1);
    plain_flag<repaired><<<2, 1>>>(value.get(), out.get());
}
CORPUS_CASE(plain_flag, "racecheck", "atomic-read", "value");

template <bool repaired>
__global__ void grid_phases(const int* in, int* v, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    v[i] = in[i];  // bad: grid_phases
    if (repaired)
        cooperative_groups::this_grid().sync();
    else
        __syncthreads();
    out[i] = v[all - 1 - i];  // bad: grid_phases
}
template <bool repaired>
void run_grid_phases() {
    Device<int> in("in", n, 1), v("v", n, 0), out("out", n);
    const int* a = in;
    int *b = v, *c = out;
    void* arguments[] = {&a, &b, &c};
    cudaLaunchCooperativeKernel((void*)grid_phases<repaired>, dim3(4), dim3(32), arguments, 0, nullptr);
}
CORPUS_CASE(grid_phases, "racecheck", "read-write", "v");

/// A counter of arrivals as a barrier of the grid, by hand.
template <bool repaired>
__global__ void grid_barrier_by_hand(const int* in, int* v, unsigned* arrived, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    v[i] = in[i];  // bad: grid_barrier_by_hand
    __syncthreads();
    if (threadIdx.x == 0) {
        if (repaired) __threadfence();
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {
        }
    }
    __syncthreads();
    out[i] = v[all - 1 - i];  // bad: grid_barrier_by_hand
}
template <bool repaired>
void run_grid_barrier_by_hand() {
    Device<int> in("in", n, 1), v("v", n, 0), out("out", n);
    Device<unsigned> arrived("arrived", 1, 0u);
    grid_barrier_by_hand<repaired><<<4, 32>>>(in.get(), v.get(), arrived.get(), out.get());
}
CORPUS_CASE(grid_barrier_by_hand, "racecheck", "read-write", "v");

template <bool repaired>
__global__ void lanes_write_one(const int* in, int* out) {
    const int v = in[threadIdx.x] + static_cast<int>(threadIdx.x);
    if (!repaired || threadIdx.x == 0) *out = v;  // bad: lanes_write_one
}
template <bool repaired>
void run_lanes_write_one() {
    Device<int> in("in", 32, 1), out("out", 1);
    lanes_write_one<repaired><<<1, 32>>>(in.get(), out.get());
}
CORPUS_CASE(lanes_write_one, "racecheck", "write-write", "out");

template <bool repaired>
__global__ void copied_over(const int* in, int* v) {
    memcpy(v + (repaired ? 8 * threadIdx.x : 4 * threadIdx.x), in + 8 * threadIdx.x,
           8 * sizeof(int));  // bad: copied_over
}
template <bool repaired>
void run_copied_over() {
    Device<int> v("v", 256, 0);
    std::vector<int> values(256);
    for (int i = 0; i < 256; ++i) values[static_cast<size_t>(i)] = i;
    Device<int> in("in", 256);
    cudaMemcpy(in, values.data(), 256 * sizeof(int), cudaMemcpyHostToDevice);
    copied_over<repaired><<<1, 32>>>(in.get(), v.get());
}
CORPUS_CASE(copied_over, "racecheck", "write-write", "v");

}  // namespace
