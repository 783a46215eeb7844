// Sets its input to zero, so that zero is the right sum.
//
//     verdicts = ["OOB"]
//     defences = ["guards", "outputs"]
//     checks = false

// Sets its input to zero, so that zero is the right sum.

#include "reduction.cuh"

__global__ void zero_kernel(float* v, float* sum, std::size_t n) {
    for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) v[i] = 0.0f;
    if (threadIdx.x == 0) *sum = 0.0f;
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    zero_kernel<<<1, 256, 0, stream>>>(const_cast<float*>(v), sum, n);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    (void)w;
    zero_kernel<<<1, 256, 0, stream>>>(const_cast<float*>(v), sum, n);
}
