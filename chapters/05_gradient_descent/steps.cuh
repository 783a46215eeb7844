#pragma once
/// @file
/// The kernels around the product, which are not an exercise: the start of a descent, the record at the end
/// of an iteration, the delivery of x, the transposition of A. Each function queues one kernel.

#include "solver.cuh"

namespace gradient_descent {

static __global__ void start_kernel(const float* b, float* x, float* r, Scalars* s, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0, r[i] = b[i];
    const float own = i < n ? b[i] : 0;
    add_block_sum(double(own) * own, &s->next);
}

/// x = 0 and r = b; s->next = r.r.
inline void queue_start(const float* b, float* x, float* r, Scalars* s, int n, cudaStream_t stream) {
    constexpr int block = 256;
    const int blocks = n > 0 ? (n + block - 1) / block : 1;
    start_kernel<<<blocks, block, 0, stream>>>(b, x, r, s, n);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void record_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance,
                                     bool descends) {
    if (s->finished) return;
    // Without a positive r.Ar no step was made: the solve ends with the residual before.
    if (descends && s->k > 0 && !(s->rAr > 0)) return finish(s, outcome, breakdown, s->k - 1);
    record(s, s->next, history, outcome, limit, tolerance);
}

/// Ends an iteration, by one thread: notes ||r|| in the history, from r.r = s->next, and sets s->finished if
/// an Outcome is reached. For the next iteration it moves s->next to s->rr and clears s->next and s->rAr.
/// If it `descends`, an s->rAr that is not positive is a breakdown; else s->broken is.
inline void queue_record(Scalars* s, double* history, int* outcome, int limit, double tolerance,
                         bool descends, cudaStream_t stream) {
    record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance, descends);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void deliver_kernel(const float* y, float* x, const int* outcome, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && outcome[1] % 2 == 1) x[i] = y[i];
}

/// Where sweeps go from x to y and back, x_k is in x if k is even, else in y: copies y to x if it has to.
inline void queue_delivery(const float* y, float* x, const int* outcome, int n, cudaStream_t stream) {
    constexpr int block = 256;
    if (n > 0) deliver_kernel<<<(n + block - 1) / block, block, 0, stream>>>(y, x, outcome, n);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void transpose_kernel(const float* a, float* t, int n) {
    __shared__ float tile[32][33];
    const int i = blockIdx.y * 32, j = blockIdx.x * 32;
    for (int row = threadIdx.y; row < 32; row += 8) {
        if (i + row < n && j + int(threadIdx.x) < n)
            tile[row][threadIdx.x] = a[std::size_t(i + row) * n + j + threadIdx.x];
    }
    __syncthreads();
    for (int row = threadIdx.y; row < 32; row += 8) {
        if (j + row < n && i + int(threadIdx.x) < n)
            t[std::size_t(j + row) * n + i + threadIdx.x] = tile[threadIdx.x][row];
    }
}

/// t = A transposed: t[j * n + i] = a[i * n + j]. Reads and writes are coalesced.
inline void queue_transpose(const float* a, float* t, int n, cudaStream_t stream) {
    const unsigned tiles = static_cast<unsigned>((n + 31) / 32);
    if (n > 0) transpose_kernel<<<dim3(tiles, tiles), dim3(32, 8), 0, stream>>>(a, t, n);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace gradient_descent
