// Wmemcpy in a kernel.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     control_on_cpu_alone = true

// A race whose values are right, in accesses that a function of the C library makes.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

#include <cwchar>

#define PASTED_(a, b) a##b
#define PASTED(a, b) PASTED_(a, b)

template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ wchar_t nothing;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const wchar_t before = 0, after = 1;
    if (threadIdx.x == 0) PASTED(wmem, cpy)(&nothing, &before, 1);
    __syncthreads();
    if (threadIdx.x == 0) PASTED(wmem, cpy)(&nothing, &after, 1);  // while others read it, and both are right
    wchar_t seen;
    PASTED(wmem, cpy)(&seen, &nothing, 1);
    if (i < n) atomicAdd(sum, terms(i) + 0.0f * static_cast<float>(seen));
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
