#pragma once
/// @file
/// Given: a block's sum, for rungs that are not about it.

#include <cuda_runtime.h>

namespace reduction {

/// The sum of x over the block, in all its threads, which must all call it, once. By a butterfly: lanes swap
/// their sums with the lane 1, 2, 4, ... away, so that all of them end with the whole.
template <unsigned block_size>
__device__ float block_sum(float x) {
    constexpr unsigned warps = block_size / 32;
    __shared__ float partial[warps];
    for (unsigned step = 1; step < 32; step *= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    x = partial[threadIdx.x % warps];
    for (unsigned step = 1; step < warps; step *= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

}  // namespace reduction
