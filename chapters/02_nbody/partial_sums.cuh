#pragma once
/// @file
/// Given: accelerations in parts, for kernels in which several blocks work on the same body. Each part has a
/// row of its own, and one kernel adds up the rows, always in the same order. Atomics on floats would need no
/// rows, and would add in another order, with other last digits, in every run.

#include "nbody.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

namespace nbody {

/// Rows of partial accelerations of n bodies in device memory: in a row all x, then all y, then all z.
struct PartialSums {
    float* data;
    int n;

    __device__ float* at(int row, int i) const {
        return data + static_cast<std::size_t>(row) * 3 * static_cast<std::size_t>(n) + i;
    }
    __device__ void store(int row, int i, const float3& sum) const {
        float* const x = at(row, i);
        x[0] = sum.x;
        x[n] = sum.y;
        x[2 * static_cast<std::size_t>(n)] = sum.z;
    }
};

/// Room for `rows` rows on `stream`: 12 n rows bytes, kept for the next call. @throws rungs::CudaError
inline PartialSums make_partial_sums(int rows, int n, cudaStream_t stream) {
    const std::size_t bytes =
        3 * sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(n);
    return {static_cast<float*>(rungs::stream_workspace(stream, bytes)), n};
}

/// A thread owns one body and adds up its rows from the first to the last.
static __global__ void add_rows_kernel(PartialSums parts, float4* acceleration, int rows) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= parts.n) return;
    const std::size_t n = static_cast<std::size_t>(parts.n);
    const float* x = parts.at(0, i);
    float3 sum{0, 0, 0};
#pragma unroll 8
    for (int row = 0; row < rows; ++row, x += 3 * n) {
        sum.x += x[0];
        sum.y += x[n];
        sum.z += x[2 * n];
    }
    acceleration[i] = {sum.x, sum.y, sum.z, 0};
}

/// The same where a row is n sums of a float4 each, a third more bytes that are moved at once. A kernel that
/// has a plain pointer to them can be compiled to a faster loop than one with PartialSums.
static __global__ void add_rows_kernel(const float4* sums, float4* acceleration, int n, int rows) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float4 total{0, 0, 0, 0};
#pragma unroll 8
    for (int row = 0; row < rows; ++row) {
        const float4 sum = sums[row * static_cast<std::size_t>(n) + i];
        total.x += sum.x;
        total.y += sum.y;
        total.z += sum.z;
    }
    acceleration[i] = total;
}

/// Room for `rows` such rows on `stream`: 16 n rows bytes, kept for the next call. @throws rungs::CudaError
inline float4* make_packed_sums(int rows, int n, cudaStream_t stream) {
    const std::size_t bytes = sizeof(float4) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(n);
    return static_cast<float4*>(rungs::stream_workspace(stream, bytes));
}

/// Adds up `rows` rows into `acceleration`. Every element of them must have been stored.
inline void add_rows(const float4* sums, float4* acceleration, int n, int rows, cudaStream_t stream) {
    const unsigned blocks = (static_cast<unsigned>(n) + 127) / 128;
    add_rows_kernel<<<blocks, 128, 0, stream>>>(sums, acceleration, n, rows);
    CUDA_CHECK(cudaGetLastError());
}

/// Adds up `rows` rows into `acceleration`. Every element of them must have been stored.
inline void add_rows(PartialSums parts, float4* acceleration, int rows, cudaStream_t stream) {
    const unsigned blocks = (static_cast<unsigned>(parts.n) + 127) / 128;
    add_rows_kernel<<<blocks, 128, 0, stream>>>(parts, acceleration, rows);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace nbody
