// A warning about a line of another file.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "secret"
//     defences = ["words", "includes", "tool files"]
//     checks = false

// Right, but its #line has the compiler quote somebody else's file in a warning.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

#line 1 "../../planted"
#warning what stands here?

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
