// The same tree, one for each block, in shared memory: a barrier separates two steps instead of a
// launch. Blocks of 256 threads; a block adds its sum to *sum with one atomicAdd.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

// TODO 3.1: the kernel, shared_tree_kernel, over any terms.
// BEGIN SOLUTION
static constexpr unsigned block_size = 256;

/// A block owns 256 terms in a row, a thread one of them.
template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;

    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();  // reached by all threads, the idle ones too
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}
// END SOLUTION

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 3.2: the launch, for any n.
    // BEGIN SOLUTION
    const std::size_t blocks = (n + block_size - 1) / block_size;

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    shared_tree_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
