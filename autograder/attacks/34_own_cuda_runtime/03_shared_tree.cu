// Defines a function of the CUDA runtime.

#include "reduction.cuh"

cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
