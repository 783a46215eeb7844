// #include of a macro.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "secret"
//     defences = ["includes", "tool files"]
//     checks = false

// Includes somebody else's file under a name that only the preprocessor sees: its text stands in the errors.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

#define FILE_OF_SOMEBODY "../../planted"
#include FILE_OF_SOMEBODY

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
