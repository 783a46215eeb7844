// One product an iteration. x moves by alpha r, so b - A x moves by -alpha A r, and A r is there already.
// Float by float the two drift apart; so r is computed afresh now and then, and always before it is believed.

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
static __global__ void product_kernel(const float* a, const float* r, float* q, Scalars* s, int n) {
    if (s->finished) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double term = 0;
    if (i < n) {
        const float product = gradient_descent::row_product(a, r, i, n);
        if (threadIdx.x % 32 == 0) q[i] = product, term = double(r[i]) * product;
    }
    gradient_descent::add_block_sum(term, &s->rAr);
}

/// A thread owns one element: x += alpha r, r -= alpha q, and r.r of the new r.
__global__ void recurrence_kernel(const float* q, float* x, float* r, Scalars* s, int n) {
    if (s->finished || !(s->rAr > 0)) return;
    const int i = blockIdx.x * block_size + threadIdx.x;
    double square = 0;
    // TODO 4.1 (about 6 lines): make the step, carry r along without a product, and set `square` to what element i
    // of the new residual adds to r.r. The old r is still needed for x.
    gradient_descent::add_block_sum(square, &s->next);
}

/// Whether the residual of this iteration has to be b - A x itself. The same for all who ask between
/// recurrence_kernel and record_kernel.
static __device__ bool renews(const Scalars* s, double tolerance) {
    if (s->finished || s->k == 0) return false;
    // TODO 4.2 (about 2 lines): in every iteration whose number is a multiple of renew_every, and when the carried
    // residual says that this is the end.
    return tolerance < 0;
}

/// A warp owns one row: r_i = b_i - (A x)_i, and r.r; in the iterations that renew.
static __global__ void renew_kernel(const float* a, const float* b, const float* x, float* r, Scalars* s,
                                    int n, double tolerance) {
    if (!renews(s, tolerance) || !(s->rAr > 0)) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double square = 0;
    if (i < n) {
        const float own = b[i] - gradient_descent::row_product(a, x, i, n);
        if (threadIdx.x % 32 == 0) r[i] = own, square = double(own) * own;
    }
    gradient_descent::add_block_sum(square, &s->renewed);
}

/// One thread: ends the iteration.
static __global__ void record_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    using namespace gradient_descent;
    if (s->finished) return;
    if (s->k > 0 && !(s->rAr > 0)) return finish(s, outcome, breakdown, s->k - 1);
    record(s, renews(s, tolerance) ? s->renewed : s->next, history, outcome, limit, tolerance);
}

void gradient_descent::recurrence(const float* a, const float* b, float* x, double* history, int* outcome,
                                  int n, int limit, double tolerance, cudaStream_t stream) {
    const int elements = n > 0 ? (n + block_size - 1) / block_size : 1;
    const int rows = n > 0 ? (n + rows_of_block - 1) / rows_of_block : 1;
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    start_kernel<<<elements, block_size, 0, stream>>>(b, x, r, s, n);
    record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
    for (int k = 1; k <= limit; ++k) {
        product_kernel<<<rows, block_size, 0, stream>>>(a, r, q, s, n);
        recurrence_kernel<<<elements, block_size, 0, stream>>>(q, x, r, s, n);
        renew_kernel<<<rows, block_size, 0, stream>>>(a, b, x, r, s, n, tolerance);
        record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
    }
    CUDA_CHECK(cudaGetLastError());
    work.clear(stream);
}
