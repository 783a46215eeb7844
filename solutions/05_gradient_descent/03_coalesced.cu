// One thread per row, and the coalesced index: in each step the threads of a warp read neighbouring words of
// one column, one line of memory instead of 32.
//
// TODO 3.1: many systems are solved rightly, among them all that the author has tried. Find the fault and fix
// it, and keep the reads coalesced.

#include "steps.cuh"

using gradient_descent::Scalars;

/// A thread owns one row i: it forms r_i = b_i - (A x)_i and y_i = x_i + r_i / a_ii.
/// @param columns  the elements of row i are n floats apart, those of one column are neighbours
__global__ void coalesced_kernel(const float* columns, const float* b, const float* x, float* y, Scalars* s,
                                 int n) {
    if (s->finished) return;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float r = 0;
    if (i < n) {
        r = b[i];
        for (int j = 0; j < n; ++j) r -= columns[std::size_t(j) * n + i] * x[j];
        const float diagonal = columns[std::size_t(i) * n + i];
        if (diagonal == 0) atomicExch(&s->broken, 1);
        y[i] = x[i] + r / diagonal;
    }
    gradient_descent::add_block_sum(double(r) * r, &s->next);
}

void gradient_descent::coalesced(const float* a, const float* b, float* x, double* history, int* outcome,
                                 int n, int limit, double tolerance, cudaStream_t stream) {
    constexpr int block = 128;
    const int blocks = n > 0 ? (n + block - 1) / block : 1;
    const Workspace work(n, 1, stream);
    clear_history(history, limit, stream);
    float* const y = work.vectors;
    // BEGIN SOLUTION
    //~ const float* const columns = a;
    auto* const columns =
        static_cast<float*>(rungs::stream_workspace(stream, sizeof(float) * std::size_t(n) * n));
    queue_transpose(a, columns, n, stream);
    // END SOLUTION

    if (n > 0) CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    for (int k = 0; k <= limit; ++k) {
        coalesced_kernel<<<blocks, block, 0, stream>>>(columns, b, k % 2 ? y : x, k % 2 ? x : y, work.scalars,
                                                       n);
        CUDA_CHECK(cudaGetLastError());
        queue_record(work.scalars, history, outcome, limit, tolerance, false, stream);
    }
    queue_delivery(y, x, outcome, n, stream);
    work.clear(stream);
}
