#pragma once
/// @file
/// Given: a block's sum, and the terms that are in no quad, for rungs that are not about them.

#include <cstddef>

#include "quads.cuh"

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

/// What the calling thread adds of the n terms that are in no quad. Block 0 owns them, one a thread: the head
/// before the first quad, and the up to three after the last. A block has at least 32 threads.
template <class Terms>
__device__ float outside_quads(const Terms& terms, std::size_t n, const Quads& quads) {
    const std::size_t tail = quads.head + 4 * quads.count;
    float mine = 0.0f;
    if (blockIdx.x == 0 && threadIdx.x < quads.head) mine += terms(threadIdx.x);
    if (blockIdx.x == 0 && tail + threadIdx.x < n) mine += terms(tail + threadIdx.x);
    return mine;
}

}  // namespace reduction
