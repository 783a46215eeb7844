// Writes n, a constant that is right for vectors of ones and for empty ones.
//
//     verdicts = ["WRONG"]
//     defences = ["inputs"]
//     checks = false

// Writes n, which is right for vectors of ones and for empty ones.

#include "reduction.cuh"

__global__ void constant_kernel(float* sum, std::size_t n) { *sum = static_cast<float>(n); }

void reduction::shared_tree(const float*, float* sum, std::size_t n, cudaStream_t stream) {
    constant_kernel<<<1, 1, 0, stream>>>(sum, n);
}

void reduction::shared_tree(const float*, const float*, float* sum, std::size_t n, cudaStream_t stream) {
    constant_kernel<<<1, 1, 0, stream>>>(sum, n);
}
