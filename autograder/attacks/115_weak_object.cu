// A weak object named like a function of the system.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but brings a weak object under the name of a function of the C library.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

extern "C" __attribute__((weak)) char waitid[16];
char waitid[16] = {1};

template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, terms(i));
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    shared_tree_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
