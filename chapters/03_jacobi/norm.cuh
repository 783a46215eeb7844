#pragma once
// The sum of a block, for the rungs whose norm stays on the device. Given: sums are the subject of chapter 1.

#include <cuda_runtime.h>

namespace jacobi {

/// Adds the sum of all threads' `square` to `*total`, which may be everybody's: float within a warp, then
/// double, which keeps the range that the contract promises. All `threads` threads of the block call it, once
/// in a kernel, with 0 where a thread has nothing to add. There is a barrier inside.
template <int threads>
__device__ __forceinline__ void add_block_sum(float square, double* total) {
    __shared__ float partial[threads / 32];
    const unsigned thread = threadIdx.x + blockDim.x * threadIdx.y;
    for (unsigned step = 16; step > 0; step /= 2) square += __shfl_down_sync(0xffffffffu, square, step);
    if (thread % 32 == 0) partial[thread / 32] = square;
    __syncthreads();
    if (thread == 0) {
        double sum = 0;
        for (const float one : partial) sum += one;
        atomicAdd(total, sum);
    }
}

}  // namespace jacobi
