// Barriers and warp operations that not everybody comes to.
#include <cooperative_groups.h>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

template <bool repaired>
__global__ void two_barriers(int* out) {
    __shared__ int s[64];
    if (repaired) {
        s[threadIdx.x] = 1;
        __syncthreads();
    } else if (threadIdx.x < 32) {
        s[threadIdx.x] = 1;
        __syncthreads();  // bad: two_barriers
    } else {
        s[threadIdx.x] = 2;
        __syncthreads();  // bad: two_barriers
    }
    out[threadIdx.x] = s[63 - threadIdx.x];
}
template <bool repaired>
void run_two_barriers() {
    Device<int> out("out", 64);
    two_barriers<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(two_barriers, "synccheck", "divergent-barrier", "");

template <bool repaired>
__global__ void early_return(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int i = static_cast<int>(threadIdx.x);
    if (!repaired && i >= n) return;
    s[i] = i < n ? in[i] : 0;
    __syncthreads();  // bad: early_return
    if (i < n) out[i] = s[n - 1 - i];
}
template <bool repaired>
void run_early_return() {
    Device<int> in("in", 50, 1), out("out", 50);
    early_return<repaired><<<1, 64>>>(in.get(), out.get(), 50);
}
CORPUS_CASE(early_return, "synccheck", "exited-threads", "");

template <bool repaired>
__global__ void barrier_in_branch(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (repaired) __syncthreads();
    if (threadIdx.x < 32) {
        if (!repaired) __syncthreads();  // bad: barrier_in_branch
        out[threadIdx.x] = s[threadIdx.x];
    }
}
template <bool repaired>
void run_barrier_in_branch() {
    Device<int> out("out", 64);
    barrier_in_branch<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(barrier_in_branch, "synccheck", "exited-threads", "");

template <bool repaired>
__global__ void barrier_in_loop(int* out, int n) {
    __shared__ int s[64];
    const int i = static_cast<int>(threadIdx.x);
    const int rounds = repaired ? 2 : (i < 32 ? n : n + 1);
    for (int k = 0; k < rounds; ++k) {
        s[i] = k;
        __syncthreads();  // bad: barrier_in_loop
    }
    out[i] = s[i];
}
template <bool repaired>
void run_barrier_in_loop() {
    Device<int> out("out", 64);
    barrier_in_loop<repaired><<<1, 64>>>(out.get(), 2);
}
CORPUS_CASE(barrier_in_loop, "synccheck", "exited-threads", "");

/// Half a warp has exited; a tile waits for the other half.
template <bool repaired>
__global__ void return_before_tile(int* out) {
    auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    if (!repaired && threadIdx.x >= 48) return;
    tile.sync();  // bad: return_before_tile
    out[threadIdx.x] = 1;
}
template <bool repaired>
void run_return_before_tile() {
    Device<int> out("out", 64);
    return_before_tile<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(return_before_tile, "synccheck", "exited-threads", "");

template <bool repaired>
__global__ void half_a_tile(int* out) {
    auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    if (repaired || threadIdx.x % 64 < 32) tile.sync();
    out[threadIdx.x] = 1;
    __syncthreads();
}
template <bool repaired>
void run_half_a_tile() {
    Device<int> out("out", 128);
    half_a_tile<repaired><<<1, 128>>>(out.get());
}
CORPUS_CASE(half_a_tile, "synccheck", "deadlock", "");

template <bool repaired>
__global__ void mask_without_caller(int* out) {
    int v = static_cast<int>(threadIdx.x);
    v += __shfl_xor_sync(repaired ? 0xffffffffu : 0x0000ffffu, v, 1);  // bad: mask_without_caller
    out[threadIdx.x] = v;
}
template <bool repaired>
void run_mask_without_caller() {
    Device<int> out("out", 32);
    mask_without_caller<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(mask_without_caller, "synccheck", "wrong-mask", "");

template <bool repaired>
__global__ void shuffle_from_nobody(int* out) {
    int v = static_cast<int>(threadIdx.x);
    if (threadIdx.x < 16) {
        v += __shfl_down_sync(0x0000ffffu, v, 8, repaired ? 16 : 32);  // bad: shuffle_from_nobody
        out[threadIdx.x] = v;
    }
}
template <bool repaired>
void run_shuffle_from_nobody() {
    Device<int> out("out", 32);
    shuffle_from_nobody<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(shuffle_from_nobody, "synccheck", "inactive-lane", "");

template <bool repaired>
__global__ void half_a_shuffle(int* out) {
    int v = static_cast<int>(threadIdx.x);
    if (threadIdx.x < 16) v += __shfl_xor_sync(repaired ? 0x0000ffffu : 0xffffffffu, v, 1);
    __syncthreads();
    out[threadIdx.x] = v;
}
template <bool repaired>
void run_half_a_shuffle() {
    Device<int> out("out", 32);
    half_a_shuffle<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(half_a_shuffle, "synccheck", "deadlock", "");

template <bool repaired>
__global__ void two_kinds_of_barrier(int* out) {
    int count = 0;
    if (repaired || threadIdx.x < 32)
        count = __syncthreads_count(1);
    else
        __syncthreads();
    out[threadIdx.x] = count;
}
template <bool repaired>
void run_two_kinds_of_barrier() {
    Device<int> out("out", 64);
    two_kinds_of_barrier<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(two_kinds_of_barrier, "synccheck", "deadlock", "");

template <bool repaired>
__global__ void masks_differ(int* out) {
    int v = static_cast<int>(threadIdx.x);
    const unsigned mask = repaired ? 0xffffffffu : threadIdx.x < 16 ? 0xffffffffu : 0xfffffffeu;
    v += __shfl_xor_sync(mask, v, 1);
    __syncthreads();
    out[threadIdx.x] = v;
}
template <bool repaired>
void run_masks_differ() {
    Device<int> out("out", 32);
    masks_differ<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(masks_differ, "synccheck", "deadlock", "");

template <bool repaired>
__global__ void part_of_the_grid(int* out) {
    if (repaired || blockIdx.x == 0) cooperative_groups::this_grid().sync();
    if (!repaired && blockIdx.x != 0) __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
template <bool repaired>
void run_part_of_the_grid() {
    Device<int> out("out", 64);
    int* p = out;
    void* arguments[] = {&p};
    cudaLaunchCooperativeKernel((void*)part_of_the_grid<repaired>, dim3(2), dim3(32), arguments, 0, nullptr);
}
CORPUS_CASE(part_of_the_grid, "synccheck", "deadlock", "");

}  // namespace
