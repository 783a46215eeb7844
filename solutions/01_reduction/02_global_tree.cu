// A tree in device memory: every step is a launch of its own, in which the lower half of what is left
// adds the upper half. Nothing is shared and nobody queues, but each step goes through memory.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 2.1: the kernel of one step, global_tree_kernel, over any terms: it folds n of them into half as
// many words, rounded up. Each word has one thread that writes it.
// BEGIN SOLUTION
static constexpr unsigned block_size = 256;

/// A thread owns one word of the lower half, and adds the term `half` further on where there is one.
template <class Terms>
__global__ void global_tree_kernel(Terms terms, float* partial, std::size_t n, std::size_t half) {
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    if (i >= half) return;
    float mine = terms(i);
    if (i + half < n) mine += terms(i + half);
    partial[i] = mine;
}

template <class Terms>
static void fold(Terms terms, float* partial, std::size_t n, std::size_t half, cudaStream_t stream) {
    const std::size_t blocks = (half + block_size - 1) / block_size;
    global_tree_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, partial, n, half);
    CUDA_CHECK(cudaGetLastError());
}
// END SOLUTION

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 2.2: the launches, one for each step, and the sum of no terms. The input must stay as it is:
    // partial sums go to memory from rungs::stream_workspace(stream, bytes), a void*, which holds
    // anything at first.
    // BEGIN SOLUTION
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    std::size_t half = (n + 1) / 2;
    auto* const partial = static_cast<float*>(rungs::stream_workspace(stream, half * sizeof(float)));
    fold(terms, partial, n, half, stream);
    for (std::size_t left = half; left > 1; left = half) {
        half = (left + 1) / 2;
        fold(reduction::Values{partial}, partial, left, half, stream);
    }
    CUDA_CHECK(cudaMemcpyAsync(sum, partial, sizeof(float), cudaMemcpyDeviceToDevice, stream));
    // END SOLUTION
}

void reduction::global_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::global_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
