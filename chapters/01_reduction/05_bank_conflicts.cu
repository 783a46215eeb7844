// The tree of rung 04 with its work packed: threads 0, 1, 2, ... add, each at word 2 * stride * thread.
// No warp diverges until the last steps. Where it loses: the words of a warp's lanes lie in
// the same few banks.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;

/// A block owns 256 terms in a row, a thread one of them.
template <class Terms>
__global__ void bank_conflicts_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;

    for (unsigned stride = 1; stride < block_size; stride *= 2) {
        __syncthreads();
        const unsigned own = 2 * stride * threadIdx.x;
        if (own < block_size) partial[own] += partial[own + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const std::size_t blocks = (n + block_size - 1) / block_size;

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    bank_conflicts_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::bank_conflicts(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::bank_conflicts(const float* v, const float* w, float* sum, std::size_t n,
                               cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
