// Inside a warp, registers are exchanged directly: five shuffles add up 32 values with no shared memory
// and no barrier. A block of 8 warps then needs eight words and one barrier, where the tree took 256
// words and eight.

#include <algorithm>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr std::size_t most_blocks = 2048;  // enough to fill any GPU

// TODO 9.1: the sum over a warp, then the kernel, warp_shuffle_kernel. The terms are dealt out as in
// rung 08; the block's sum needs one word per warp.
// BEGIN SOLUTION
static constexpr unsigned warps = block_size / 32;

/// The sum of x over the warp, in lane 0. All 32 lanes must call it.
static __device__ float warp_sum(float x) {
    for (unsigned step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

/// The grid owns all terms; a thread owns every term whose index is its own plus a multiple
/// of the grid's threads.
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
// END SOLUTION

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 9.2: the launch, as in rung 08.
    // BEGIN SOLUTION
    const std::size_t blocks = std::min((n + block_size - 1) / block_size, most_blocks);

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    warp_shuffle_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}

void reduction::warp_shuffle(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::warp_shuffle(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
