// Honest, with a butterfly of __shfl_xor_sync, after which every lane has the sum of its warp.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with a butterfly of __shfl_xor_sync, after which every lane has the sum of its warp.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 128;

static __device__ float sum_of_warp(float x) {
#pragma unroll
    for (int mask = 1; mask < 32; mask <<= 1) x += __shfl_xor_sync(0xffffffffu, x, mask);
    return x;
}

template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size / 32];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    const float mine = sum_of_warp(i < n ? terms(i) : 0.0f);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, (partial[0] + partial[1]) + (partial[2] + partial[3]));
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const std::size_t blocks = (n + block_size - 1) / block_size;
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    shared_tree_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
