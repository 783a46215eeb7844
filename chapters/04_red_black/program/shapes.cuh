#pragma once
// One Jacobi sweep in blocks of any shape: what the shape of a block costs, for the
// program and the benchmark.

#include "norm.cuh"
#include "red_black.cuh"
#include "rungs/timing.cuh"

namespace red_black {

/// Threads along k, j, i.
inline const dim3 shapes[] = {{32, 8, 4}, {64, 4, 4}, {128, 4, 1}, {256, 1, 1},
                              {16, 8, 8}, {8, 8, 8},  {4, 8, 32},  {1, 8, 64}};

/// The sweep of rung 01.
template <class T>
__global__ void shaped_kernel(const T* b, const T* old, T* next, int n) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= n || j >= n || k >= n) return;
    const std::size_t c = (static_cast<std::size_t>(i) * n + j) * n + k;
    next[c] = (b[c] + neighbours(old, c, i, j, k, n)) * T(1.0 / 6.0);
}

/// Milliseconds of such a sweep.
template <class T>
double shaped_milliseconds(const T* b, const T* old, T* next, int n, dim3 block,
                           rungs::TimingOptions timing) {
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y, (n + block.z - 1) / block.z);
    const auto call = [&](cudaStream_t stream) {
        shaped_kernel<<<grid, block, 0, stream>>>(b, old, next, n);
        CUDA_CHECK(cudaGetLastError());
    };
    return rungs::median_milliseconds(call, timing);
}

}  // namespace red_black
