// Adds up every second term, twice: nearly right for many.
//
//     verdicts = ["WRONG"]
//     defences = ["inputs"]
//     checks = false

// Adds up every second term, twice: nearly right for many.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

template <class Terms>
__global__ void half_kernel(Terms terms, float* sum, std::size_t n) {
    const std::size_t i = 2 * (std::size_t{blockIdx.x} * 256 + threadIdx.x);
    if (i < n) atomicAdd(sum, i + 1 < n ? 2 * terms(i) : terms(i));
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    half_kernel<<<static_cast<unsigned>((n + 511) / 512), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
