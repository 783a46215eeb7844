// A block adds up its terms as a tree in shared memory, neighbours first, and asks for one atomicAdd.
// Where it loses: in each step the working threads lie further apart, so that every warp stays busy for
// a few of its lanes.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;

/// A block owns 256 terms in a row, a thread one of them.
template <class Terms>
__global__ void interleaved_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;  // no early return: every word must be set

    for (unsigned stride = 1; stride < block_size; stride *= 2) {
        __syncthreads();  // the partner's value must have been written
        if (threadIdx.x % (2 * stride) == 0) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const std::size_t blocks = (n + block_size - 1) / block_size;

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    interleaved_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::interleaved(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::interleaved(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
