#pragma once
/// @file
/// Norms on the device, given: a block adds up the squares of its threads, one thread adds that to the total.

#include "rungs/cuda_check.cuh"

namespace red_black {

/// Adds the x of all threads of the block to *total. All threads of the block must call it; a block has a
/// multiple of 32 threads, in any shape. In double: 10^8 squares in float would lose half of their digits.
static __device__ void add_over_block(double x, double* total) {
    __shared__ double partial[32];
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (unsigned step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    if (thread % 32 == 0) partial[thread / 32] = x;
    __syncthreads();
    if (thread < 32) {
        x = thread < warps ? partial[thread] : 0.0;
        for (unsigned step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
        if (thread == 0) atomicAdd(total, x);
    }
    __syncthreads();  // partial[] may be used again
}

/// A point's six neighbours added up; what lies outside the cube is 0.
template <class T>
__device__ T neighbours(const T* u, std::size_t c, int i, int j, int k, int n) {
    const std::size_t row = n, plane = row * n;
    const T up = i > 0 ? u[c - plane] : T(0), down = i + 1 < n ? u[c + plane] : T(0);
    const T north = j > 0 ? u[c - row] : T(0), south = j + 1 < n ? u[c + row] : T(0);
    const T west = k > 0 ? u[c - 1] : T(0), east = k + 1 < n ? u[c + 1] : T(0);
    return ((up + down) + (north + south)) + (west + east);
}

/// Adds ||b - A u||^2 to *total. A thread owns a point; blocks walk along i.
template <class T>
__global__ void residual_kernel(const T* b, const T* u, double* total, int n) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    double squares = 0;
    for (int i = blockIdx.z; i < n && j < n && k < n; i += gridDim.z) {
        const std::size_t c = (static_cast<std::size_t>(i) * n + j) * n + k;
        const double r = (b[c] - T(6) * u[c]) + neighbours(u, c, i, j, k, n);
        squares += r * r;
    }
    add_over_block(squares, total);
}

static __global__ void root_kernel(double* norms, int count) {
    for (int t = threadIdx.x; t < count; t += blockDim.x) norms[t] = sqrt(norms[t]);
}

/// Queues `norms[t] = 0` for all t: the kernels add to them.
inline void clear(double* norms, int iterations, cudaStream_t stream) {
    if (iterations > 0) CUDA_CHECK(cudaMemsetAsync(norms, 0, iterations * sizeof(double), stream));
}

/// Queues *total += ||b - A u||^2 in a pass of its own: reads b and u once more.
template <class T>
void add_residual(const T* b, const T* u, double* total, int n, cudaStream_t stream) {
    if (n == 0) return;
    const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8, n < 32 ? n : 32);
    residual_kernel<<<grid, block, 0, stream>>>(b, u, total, n);
    CUDA_CHECK(cudaGetLastError());
}

/// Queues the roots: what has been added up so far are squares.
inline void take_roots(double* norms, int iterations, cudaStream_t stream) {
    if (iterations == 0) return;
    root_kernel<<<1, 256, 0, stream>>>(norms, iterations);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace red_black
