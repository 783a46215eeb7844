// One atomicAdd for every term. Right, and slow: there is one word of memory, and all threads queue for it.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

/// A thread owns one term.
// [kernel]
template <class Terms>
__global__ void atomic_kernel(Terms terms, float* sum, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;  // the last block may reach past the end
    atomicAdd(sum, terms(i));
}
// [kernel]

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    constexpr unsigned block = 256;
    const std::size_t blocks = (n + block - 1) / block;

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;  // a grid of no blocks is an error
    atomic_kernel<<<static_cast<unsigned>(blocks), block, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::atomic(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::atomic(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
