// The kernel of rung 01, without a host that asks: all sweeps are queued at once, the decision is made on the
// device, and what comes after the last sweep that was needed returns at once.

#include "steps.cuh"

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

void gradient_descent::gauss_jacobi(const float* a, const float* b, float* x, double* history, int* outcome,
                                    int n, int limit, double tolerance, cudaStream_t stream) {
    constexpr int block = 128;
    const int blocks = n > 0 ? (n + block - 1) / block : 1;
    const Workspace work(n, 1, stream);
    clear_history(history, limit, stream);
    float* const y = work.vectors;

    if (n > 0) CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    for (int k = 0; k <= limit; ++k) {
        gauss_jacobi_kernel<<<blocks, block, 0, stream>>>(a, b, k % 2 ? y : x, k % 2 ? x : y, work.scalars,
                                                          n);
        CUDA_CHECK(cudaGetLastError());
        queue_record(work.scalars, history, outcome, limit, tolerance, false, stream);
    }
    queue_delivery(y, x, outcome, n, stream);
    work.clear(stream);
}
