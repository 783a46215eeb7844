// Launches a kernel that never ends.

#include "reduction.cuh"

__global__ void spin_kernel(float* sum) {
    while (*static_cast<volatile float*>(sum) != 1.0f) {
    }
}

void reduction::shared_tree(const float*, float* sum, std::size_t, cudaStream_t stream) {
    spin_kernel<<<1, 32, 0, stream>>>(sum);
}

void reduction::shared_tree(const float*, const float*, float* sum, std::size_t, cudaStream_t stream) {
    spin_kernel<<<1, 32, 0, stream>>>(sum);
}
