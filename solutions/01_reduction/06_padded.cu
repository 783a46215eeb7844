// The tree of rung 05 without its bank conflicts: an unused word after every 32 moves the words that met
// in one bank into different ones.
//
// TODO 6.1: on a CPU the sums come out right, and check mode finds a fault in the kernel all the same. Mend it.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;

/// Where word `word` of the tree lies.
static __device__ unsigned padded(unsigned word) { return word + word / 32; }

/// A block owns 256 terms in a row, a thread one of them.
template <class Terms>
__global__ void padded_kernel(Terms terms, float* sum, std::size_t n) {
    // BEGIN SOLUTION
    //~ __shared__ float partial[block_size];
    __shared__ float partial[block_size + block_size / 32];
    // END SOLUTION
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[padded(threadIdx.x)] = i < n ? terms(i) : 0.0f;

    for (unsigned stride = 1; stride < block_size; stride *= 2) {
        __syncthreads();
        const unsigned own = 2 * stride * threadIdx.x;
        if (own < block_size) partial[padded(own)] += partial[padded(own + stride)];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const std::size_t blocks = (n + block_size - 1) / block_size;

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    padded_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::padded(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::padded(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
