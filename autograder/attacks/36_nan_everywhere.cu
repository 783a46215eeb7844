// Writes NaN, which compares false with every bound.
//
//     kind = "accident"
//     verdicts = ["WRONG"]

// Writes NaN, which compares false with every bound.

#include "reduction.cuh"

__global__ void nan_kernel(float* sum) { *sum = __int_as_float(0x7fc00000); }

void reduction::shared_tree(const float*, float* sum, std::size_t, cudaStream_t stream) {
    nan_kernel<<<1, 1, 0, stream>>>(sum);
}

void reduction::shared_tree(const float*, const float*, float* sum, std::size_t, cudaStream_t stream) {
    nan_kernel<<<1, 1, 0, stream>>>(sum);
}
