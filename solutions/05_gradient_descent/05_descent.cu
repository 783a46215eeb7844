// Descent as the textbook has it: the step length from two dot products, then b - A x computed again. The
// host queues kernels and never asks for a number: alpha is computed where it is used.

#include "steps.cuh"

using gradient_descent::Scalars;

// TODO 5.1 (about 15 lines): q = A r, and r.Ar, in one kernel: descent_kernel.
// BEGIN SOLUTION
static constexpr int block_size = 256;
static constexpr int rows_of_block = block_size / 32;

/// Row i of A times v, by one warp, in all lanes.
static __device__ float row_product(const float* a, const float* v, int i, int n) {
    const float* const row = a + std::size_t(i) * n;
    float sum = 0;
    for (int j = threadIdx.x % 32; j < n; j += 32) sum += row[j] * v[j];
    return gradient_descent::warp_sum(sum);
}

/// A warp owns one row: q_i = (A r)_i, and its term of r.Ar.
__global__ void descent_kernel(const float* a, const float* r, float* q, Scalars* s, int n) {
    if (s->finished) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double term = 0;
    if (i < n) {
        const float product = row_product(a, r, i, n);
        if (threadIdx.x % 32 == 0) {
            q[i] = product;
            term = double(r[i]) * product;
        }
    }
    gradient_descent::add_block_sum(term, &s->rAr);
}
// END SOLUTION

// TODO 5.2 (about 6 lines): the step. Without a positive r.Ar there is none.
// BEGIN SOLUTION
/// A thread owns one element: x += alpha r.
static __global__ void step_kernel(const float* r, float* x, const Scalars* s, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (s->finished || !(s->rAr > 0) || i >= n) return;
    const float alpha = static_cast<float>(s->rr / s->rAr);
    x[i] += alpha * r[i];
}
// END SOLUTION

// TODO 5.3 (about 11 lines): r = b - A x, and its r.r in s->next.
// BEGIN SOLUTION
/// A warp owns one row: r_i = b_i - (A x)_i, and r.r.
static __global__ void residual_kernel(const float* a, const float* b, const float* x, float* r, Scalars* s,
                                       int n) {
    if (s->finished || !(s->rAr > 0)) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double square = 0;
    if (i < n) {
        const float own = b[i] - row_product(a, x, i, n);
        if (threadIdx.x % 32 == 0) r[i] = own, square = double(own) * own;
    }
    gradient_descent::add_block_sum(square, &s->next);
}
// END SOLUTION

void gradient_descent::descent(const float* a, const float* b, float* x, double* history, int* outcome, int n,
                               int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    queue_start(b, x, r, s, n, stream);
    queue_record(s, history, outcome, limit, tolerance, true, stream);
    // TODO 5.4 (about 11 lines): the iterations.
    // BEGIN SOLUTION
    const int elements = n > 0 ? (n + block_size - 1) / block_size : 1;
    const int rows = n > 0 ? (n + rows_of_block - 1) / rows_of_block : 1;
    for (int k = 1; k <= limit; ++k) {
        descent_kernel<<<rows, block_size, 0, stream>>>(a, r, q, s, n);
        CUDA_CHECK(cudaGetLastError());
        step_kernel<<<elements, block_size, 0, stream>>>(r, x, s, n);
        CUDA_CHECK(cudaGetLastError());
        residual_kernel<<<rows, block_size, 0, stream>>>(a, b, x, r, s, n);
        CUDA_CHECK(cudaGetLastError());
        queue_record(s, history, outcome, limit, tolerance, true, stream);
    }
    // END SOLUTION
    work.clear(stream);
}
