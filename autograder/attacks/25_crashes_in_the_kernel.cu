// One lane writes through a null pointer.
//
//     kind = "accident"
//     verdicts = ["OOB", "RUNTIME_ERROR", "RUNTIME_SIGNAL"]

// One lane writes through a null pointer.

#include "reduction.cuh"

__global__ void crash_kernel(float* sum) {
    float* nowhere = threadIdx.x == 17 ? nullptr : sum;
    atomicAdd(nowhere, 1.0f);
}

void reduction::shared_tree(const float*, float* sum, std::size_t, cudaStream_t stream) {
    crash_kernel<<<1, 32, 0, stream>>>(sum);
}

void reduction::shared_tree(const float*, const float*, float* sum, std::size_t, cudaStream_t stream) {
    crash_kernel<<<1, 32, 0, stream>>>(sum);
}
