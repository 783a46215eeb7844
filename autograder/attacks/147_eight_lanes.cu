// Honest, with shuffles of eight lanes, of which the upper ones get values that nobody promised or uses.
//
//     rung = "09_warp_shuffle"
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Eight lanes add up what the warps left, with a mask of their own. The upper ones read from lanes that take
// no part, and nobody uses what they get.

#include <algorithm>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr unsigned warps = block_size / 32;
static constexpr std::size_t most_blocks = 2048;  // enough to fill any GPU

/// The sum of x over the warp, in lane 0. All 32 lanes must call it.
static __device__ float warp_sum(float x) {
    for (unsigned step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

template <class Terms>
__global__ void warp_shuffle_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[warps];
    const std::size_t first = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * block_size;
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;

    float mine = 0.0f;
    for (std::size_t i = first; i < n; i += threads) mine += terms(i);

    mine = warp_sum(mine);
    if (lane == 0) partial[warp] = mine;
    __syncthreads();
    if (threadIdx.x < warps) {
        mine = partial[lane];
        for (unsigned step = warps / 2; step > 0; step /= 2) mine += __shfl_down_sync(0xffu, mine, step);
    }

    if (threadIdx.x == 0) atomicAdd(sum, mine);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const std::size_t blocks = std::min((n + block_size - 1) / block_size, most_blocks);

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    warp_shuffle_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::warp_shuffle(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::warp_shuffle(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
