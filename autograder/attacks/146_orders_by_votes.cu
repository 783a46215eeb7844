// Shared memory that only votes of a warp order.
//
//     rung = "09_warp_shuffle"
//     kind = "accident"
//     verdicts = ["RACE"]

// Adds up a warp in shared memory, with a vote where __syncwarp() belongs: it makes the lanes meet, but
// orders no memory.

#include <algorithm>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr unsigned warps = block_size / 32;
static constexpr std::size_t most_blocks = 2048;  // enough to fill any GPU

/// The sum of x over the warp, in every lane.
static __device__ float warp_sum(float x) {
    __shared__ float values[block_size];
    for (unsigned step = 16; step > 0; step /= 2) {
        values[threadIdx.x] = x;
        if (__any_sync(0xffffffffu, x != 0.0f)) x += values[threadIdx.x ^ step];
        if (__all_sync(0xffffffffu, x == 0.0f)) break;
    }
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
    if (warp == 0) mine = warp_sum(lane < warps ? partial[lane] : 0.0f);

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
