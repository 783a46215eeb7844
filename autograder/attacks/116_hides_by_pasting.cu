// No_sanitize from two halves.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["words"]

// A race whose values are right, in a kernel that is not instrumented: a macro pastes the attribute together.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

#define JOIN(a, b) a##b

template <class Terms>
__attribute__((JOIN(no_san, itize)("thread"))) __global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float nothing;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) nothing = 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) nothing = -0.0f;  // while others read it, and both are right
    if (i < n) atomicAdd(sum, terms(i) + nothing);
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
