// Few blocks, each with much to do: a thread adds up many terms in a register before the tree begins.
// The tree, its barriers and the atomicAdd are then paid once for thousands of terms instead
// of once for 256.

#include <algorithm>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr std::size_t most_blocks = 2048;  // enough to fill any GPU

// TODO 8.1: the kernel, grid_stride_kernel. In every round, neighbouring
// threads read neighbouring terms.
// BEGIN SOLUTION
/// The grid owns all terms; a thread owns every term whose index is its own plus a multiple
/// of the grid's threads.
template <class Terms>
__global__ void grid_stride_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t first = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * block_size;

    float mine = 0.0f;
    for (std::size_t i = first; i < n; i += threads) mine += terms(i);

    partial[threadIdx.x] = mine;
    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}
// END SOLUTION

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 8.2: the launch: as many blocks as n needs, but never more than most_blocks.
    // BEGIN SOLUTION
    const std::size_t blocks = std::min((n + block_size - 1) / block_size, most_blocks);

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    grid_stride_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}

void reduction::grid_stride(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::grid_stride(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
