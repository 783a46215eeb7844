// Descent as the textbook has it: the step length from two dot products, then the residual b - A x anew. The
// host queues kernels and never asks for a number: alpha is computed where it is used.

#include "solver.cuh"

using gradient_descent::Scalars;

static constexpr int block_size = 256;
static constexpr int rows_of_block = block_size / 32;

/// x = 0, r = b, and r.r.
static __global__ void start_kernel(const float* b, float* x, float* r, Scalars* s, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) x[i] = 0, r[i] = b[i];
    const float own = i < n ? b[i] : 0;
    gradient_descent::add_block_sum(double(own) * own, &s->next);
}

/// A warp owns one row: q_i = (A r)_i, and its term of r.Ar.
__global__ void descent_kernel(const float* a, const float* r, float* q, Scalars* s, int n) {
    if (s->finished) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double term = 0;
    // TODO 3.1 (about 7 lines): for a row below n, form (A r)_i with row_product(); lane 0 stores it in q[i] and
    // sets `term` to what row i adds to r.Ar. Multiply in double.
    // BEGIN SOLUTION
    if (i < n) {
        const float product = gradient_descent::row_product(a, r, i, n);
        if (threadIdx.x % 32 == 0) {
            q[i] = product;
            term = double(r[i]) * product;
        }
    }
    // END SOLUTION
    gradient_descent::add_block_sum(term, &s->rAr);
}

/// x += alpha r, for a thread an element.
static __global__ void step_kernel(const float* r, float* x, const Scalars* s, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (s->finished || !(s->rAr > 0) || i >= n) return;
    // TODO 3.2 (about 2 lines): compute alpha from the scalars, in double, and step.
    // BEGIN SOLUTION
    const float alpha = static_cast<float>(s->rr / s->rAr);
    x[i] += alpha * r[i];
    // END SOLUTION
}

/// A warp owns one row: r_i = b_i - (A x)_i, and r.r.
static __global__ void residual_kernel(const float* a, const float* b, const float* x, float* r, Scalars* s,
                                       int n) {
    if (s->finished || !(s->rAr > 0)) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double square = 0;
    if (i < n) {
        const float own = b[i] - gradient_descent::row_product(a, x, i, n);
        if (threadIdx.x % 32 == 0) r[i] = own, square = double(own) * own;
    }
    gradient_descent::add_block_sum(square, &s->next);
}

/// One thread: ends the iteration.
static __global__ void record_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    if (s->finished) return;
    // TODO 3.3 (1 line): a breakdown is found after residual k - 1, when no step can be made.
    // BEGIN SOLUTION
    if (s->k > 0 && !(s->rAr > 0))
        return gradient_descent::finish(s, outcome, gradient_descent::breakdown, s->k - 1);
    // END SOLUTION
    gradient_descent::record(s, s->next, history, outcome, limit, tolerance);
}

void gradient_descent::descent(const float* a, const float* b, float* x, double* history, int* outcome, int n,
                               int limit, double tolerance, cudaStream_t stream) {
    const int elements = n > 0 ? (n + block_size - 1) / block_size : 1;
    const int rows = n > 0 ? (n + rows_of_block - 1) / rows_of_block : 1;
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    start_kernel<<<elements, block_size, 0, stream>>>(b, x, r, s, n);
    record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
    for (int k = 1; k <= limit; ++k) {
        descent_kernel<<<rows, block_size, 0, stream>>>(a, r, q, s, n);
        step_kernel<<<elements, block_size, 0, stream>>>(r, x, s, n);
        residual_kernel<<<rows, block_size, 0, stream>>>(a, b, x, r, s, n);
        record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
    }
    CUDA_CHECK(cudaGetLastError());
    work.clear(stream);
}
