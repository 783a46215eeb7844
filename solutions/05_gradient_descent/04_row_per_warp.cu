// Gauss-Jacobi with one warp per row: its 32 lanes read 128 bytes side by side, and n warps are 32 times as
// many threads. Sweeps are queued as in rung 02.

#include "steps.cuh"

using gradient_descent::Scalars;

// TODO 4.1 (about 22 lines): the kernel of one sweep, row_per_warp_kernel. It also adds r.r to s->next, and
// tells s->broken of a zero on the diagonal.
// BEGIN SOLUTION
static constexpr int block_size = 256;
static constexpr int rows_of_block = block_size / 32;

/// A warp owns one row: it forms r_i = b_i - (A x)_i and y_i = x_i + r_i / a_ii.
__global__ void row_per_warp_kernel(const float* a, const float* b, const float* x, float* y, Scalars* s,
                                    int n) {
    if (s->finished) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32, lane = threadIdx.x % 32;
    double square = 0;
    if (i < n) {
        const float* const row = a + std::size_t(i) * n;
        float sum = 0;
        for (int j = lane; j < n; j += 32) sum += row[j] * x[j];
        sum = gradient_descent::warp_sum(sum);
        if (lane == 0) {
            const float r = b[i] - sum;
            if (row[i] == 0) atomicExch(&s->broken, 1);
            y[i] = x[i] + r / row[i];
            square = double(r) * r;
        }
    }
    gradient_descent::add_block_sum(square, &s->next);
}
// END SOLUTION

void gradient_descent::row_per_warp(const float* a, const float* b, float* x, double* history, int* outcome,
                                    int n, int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 1, stream);
    clear_history(history, limit, stream);
    // TODO 4.2 (about 9 lines): x_0, the sweeps, and x.
    // BEGIN SOLUTION
    const int blocks = n > 0 ? (n + rows_of_block - 1) / rows_of_block : 1;
    float* const y = work.vectors;
    if (n > 0) CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    for (int k = 0; k <= limit; ++k) {
        row_per_warp_kernel<<<blocks, block_size, 0, stream>>>(a, b, k % 2 ? y : x, k % 2 ? x : y,
                                                               work.scalars, n);
        CUDA_CHECK(cudaGetLastError());
        queue_record(work.scalars, history, outcome, limit, tolerance, false, stream);
    }
    queue_delivery(y, x, outcome, n, stream);
    // END SOLUTION
    work.clear(stream);
}
