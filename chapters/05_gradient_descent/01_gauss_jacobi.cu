// Gauss-Jacobi with one thread a row. Right, and slow: in every step of the inner loop the 32 threads of a
// warp read 32 different rows, n floats apart.

#include "solver.cuh"

using gradient_descent::Scalars;

/// A thread owns one row: it forms r_i = b_i - (A x)_i and y_i = x_i + r_i / a_ii.
// [kernel]
__global__ void gauss_jacobi_kernel(const float* a, const float* b, const float* x, float* y, Scalars* s,
                                    int n) {
    if (s->finished) return;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float r = 0;
    if (i < n) {  // no early return: all threads take part in the sum below
        const float* const row = a + std::size_t(i) * n;
        r = b[i];
        for (int j = 0; j < n; ++j) r -= row[j] * x[j];
        if (row[i] == 0) atomicExch(&s->broken, 1);
        y[i] = x[i] + r / row[i];
    }
    gradient_descent::add_block_sum(double(r) * r, &s->next);
}
// [kernel]

/// One thread: records ||r||, and decides whether the next sweep has anything to do.
static __global__ void record_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    if (!s->finished) gradient_descent::record(s, s->next, history, outcome, limit, tolerance);
}

/// x_k stands in x if k is even, else in y.
static __global__ void deliver_kernel(const float* y, float* x, const int* outcome, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && outcome[1] % 2 == 1) x[i] = y[i];
}

void gradient_descent::gauss_jacobi(const float* a, const float* b, float* x, double* history, int* outcome,
                                    int n, int limit, double tolerance, cudaStream_t stream) {
    constexpr int block = 128;
    const int blocks = n > 0 ? (n + block - 1) / block : 1;
    const Workspace work(n, 1, stream);
    clear_history(history, limit, stream);
    float* const y = work.vectors;

    if (n > 0) CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    // Sweeps are queued without looking: what comes after the last one that was needed returns at once.
    for (int k = 0; k <= limit; ++k) {
        gauss_jacobi_kernel<<<blocks, block, 0, stream>>>(a, b, k % 2 ? y : x, k % 2 ? x : y, work.scalars,
                                                          n);
        record_kernel<<<1, 1, 0, stream>>>(work.scalars, history, outcome, limit, tolerance);
    }
    deliver_kernel<<<blocks, block, 0, stream>>>(y, x, outcome, n);
    CUDA_CHECK(cudaGetLastError());
    work.clear(stream);
}
