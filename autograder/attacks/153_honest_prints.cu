// Honest, and prints what it does, in the launcher and in the kernel.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, and prints what it does, in the launcher and in the kernel.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

#include <cstdio>

static constexpr unsigned block_size = 256;

template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) printf("block 0 of %u: %g\n", gridDim.x, static_cast<double>(partial[0]));
        atomicAdd(sum, partial[0]);
    }
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const std::size_t blocks = (n + block_size - 1) / block_size;
    std::printf("n = %zu, blocks = %zu\n", n, blocks);
    std::fprintf(stderr, "kernel launch follows\n");
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
