// Honest, in two launches: blocks leave their sums in scratch memory, and one block adds those up.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, in two launches: blocks leave their sums in scratch memory, and one block adds those up.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

static constexpr unsigned block_size = 256;

/// The terms of the second launch: what the blocks of the first left behind.
struct Partials {
    const float* sums;
    __device__ float operator()(std::size_t i) const { return sums[i]; }
};

/// sums[b] is the sum of the terms that block b owns: those whose index is a thread's own plus a multiple of
/// the grid's.
template <class Terms>
__global__ void partial_kernel(Terms terms, float* sums, std::size_t n) {
    __shared__ float partial[block_size];
    float mine = 0.0f;
    for (std::size_t i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size)
        mine += terms(i);
    partial[threadIdx.x] = mine;
    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    constexpr unsigned blocks = 64;
    auto* const sums = static_cast<float*>(rungs::stream_workspace(stream, blocks * sizeof(float)));
    partial_kernel<<<blocks, block_size, 0, stream>>>(terms, sums, n);
    CUDA_CHECK(cudaGetLastError());
    partial_kernel<<<1, block_size, 0, stream>>>(Partials{sums}, sum, blocks);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
