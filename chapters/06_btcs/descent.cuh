#pragma once
/// @file
/// What descent needs besides an iteration: sums over the grid, and the end where there is no step to take.

#include <cuda_runtime.h>

#include "iterate.cuh"

namespace btcs {

/// Adds the block's sum to *sum. All threads of the block must call it; their number is a multiple of 32.
static __device__ void add_block_sum(double value, double* sum) {
    __shared__ double partial[32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads();  // partial may still be read from the call before
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x > 0) return;
    value = 0;
    for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp) value += partial[warp];
    atomicAdd(sum, value);
}

/// One thread, before a step of descent: without a positive curvature there is no step to take.
static __global__ void definite_kernel(Progress* progress) {
    if (progress->finished || progress->rAr > 0) return;
    progress->finished = 1;
    progress->what = indefinite;
}

}  // namespace btcs
