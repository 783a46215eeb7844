// Takes the first element for all of them.
//
//     verdicts = ["WRONG"]
//     defences = ["inputs"]
//     checks = false

// Takes the first element for all of them.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

template <class Terms>
__global__ void first_kernel(Terms terms, float* sum, std::size_t n) {
    *sum = n > 0 ? terms(0) * static_cast<float>(n) : 0.0f;
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    first_kernel<<<1, 1, 0, stream>>>(terms, sum, n);
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
