// Hangs in check mode alone.
//
//     verdicts = ["TIMEOUT"]
//     defences = ["complete checks"]
//     time_limit = 2.0

// Right, and endless in check mode alone.

#include <dlfcn.h>

#include <cstdlib>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

/// Check mode has a malloc of its own.
static bool is_watched() {
    return dlsym(RTLD_DEFAULT, "malloc") != reinterpret_cast<void*>(&malloc);
}

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

    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    if (is_watched())
        for (volatile int k = 0;; k = k + 1) {
        }
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
