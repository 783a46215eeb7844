// Half of the block waits at a barrier that the other half never reaches.
//
//     kind = "accident"
//     verdicts = ["DEADLOCK", "WRONG"]

// Half of the block waits at a barrier that the other half never reaches.

#include "reduction.cuh"

__global__ void half_kernel(float* sum) {
    __shared__ volatile float flag;
    if (threadIdx.x < 16) {
        __syncwarp(0xffffffff);
        flag = 1.0f;
    } else {
        __syncthreads();
        *sum = flag;
    }
}

void reduction::shared_tree(const float*, float* sum, std::size_t, cudaStream_t stream) {
    half_kernel<<<1, 32, 0, stream>>>(sum);
}

void reduction::shared_tree(const float*, const float*, float* sum, std::size_t, cudaStream_t stream) {
    half_kernel<<<1, 32, 0, stream>>>(sum);
}
