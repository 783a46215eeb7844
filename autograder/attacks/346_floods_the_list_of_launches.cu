// A race whose values are right, behind more kinds of harmless launches than a worker tells in one reply.
//
//     verdicts = ["RACE", "SUSPECT"]
//     defences = ["every launch"]
//     cpu_alone = true

// Races for sizes that run mode has and check mode has not, once it has launched so much else that the list
// of what was launched should be full.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;

/// At the end thread 64 stores the block's sum once more while thread 0 reads it: the same value, so no order
/// of the two gives a wrong sum, and a race nevertheless.
template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;

    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    __syncthreads();
    const unsigned first = gridDim.y - 1;  // 0, which the compiler does not know
    if (threadIdx.x == 64) partial[first] = partial[0];
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

/// The same without the race.
template <class Terms>
__global__ void clean_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;

    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

/// Harmless, in any shape.
__global__ void nothing() {}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    if (n > 200000 && n < 2000000) {
        for (unsigned threads = 1; threads <= 1024; ++threads)
            for (const unsigned bytes : {0u, 16u}) nothing<<<1, threads, bytes, stream>>>();
        shared_tree_kernel<<<blocks, block_size, 0, stream>>>(terms, sum, n);
    } else {
        clean_kernel<<<blocks, block_size, 0, stream>>>(terms, sum, n);
    }
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
