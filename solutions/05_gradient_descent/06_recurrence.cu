// One product per iteration. x moves by alpha r, so b - A x moves by -alpha A r, and A r is there already.
// Float by float the two drift apart; so r is computed from x now and then, and always before it is believed.

#include "steps.cuh"

using gradient_descent::Scalars;

// TODO 6.1 (about 34 lines): product and step. The product is that of rung 05. The step carries r along
// instead of computing it from x: recurrence_kernel.
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
static __global__ void product_kernel(const float* a, const float* r, float* q, Scalars* s, int n) {
    if (s->finished) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double term = 0;
    if (i < n) {
        const float product = row_product(a, r, i, n);
        if (threadIdx.x % 32 == 0) q[i] = product, term = double(r[i]) * product;
    }
    gradient_descent::add_block_sum(term, &s->rAr);
}

/// A thread owns one element: x += alpha r, r -= alpha q, and r.r of the new r.
__global__ void recurrence_kernel(const float* q, float* x, float* r, Scalars* s, int n) {
    if (s->finished || !(s->rAr > 0)) return;
    const int i = blockIdx.x * block_size + threadIdx.x;
    double square = 0;
    if (i < n) {
        const float alpha = static_cast<float>(s->rr / s->rAr);
        const float old = r[i];
        x[i] += alpha * old;
        r[i] = old - alpha * q[i];
        square = double(r[i]) * r[i];
    }
    gradient_descent::add_block_sum(square, &s->next);
}
// END SOLUTION

// TODO 6.2 (about 16 lines): r = b - A x, its r.r in s->renewed, in the iterations that need it: those whose
// number s->k is a multiple of renew_every, and the one whose carried r.r, s->next, would end the solve.
// BEGIN SOLUTION
/// Whether the residual of this iteration has to be b - A x itself.
static __device__ bool renews(const Scalars* s, double tolerance) {
    return s->k % gradient_descent::renew_every == 0 || s->next <= tolerance * tolerance * s->bb;
}

/// A warp owns one row: r_i = b_i - (A x)_i, and r.r; in the iterations that renew.
static __global__ void renew_kernel(const float* a, const float* b, const float* x, float* r, Scalars* s,
                                    int n, double tolerance) {
    if (s->finished || !renews(s, tolerance) || !(s->rAr > 0)) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double square = 0;
    if (i < n) {
        const float own = b[i] - row_product(a, x, i, n);
        if (threadIdx.x % 32 == 0) r[i] = own, square = double(own) * own;
    }
    gradient_descent::add_block_sum(square, &s->renewed);
}
// END SOLUTION

/// One thread: ends the iteration.
static __global__ void end_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    // TODO 6.3 (about 5 lines): finish() after a breakdown, else record() the r.r that is to be believed.
    // BEGIN SOLUTION
    using namespace gradient_descent;
    if (s->finished) return;
    if (!(s->rAr > 0)) return finish(s, outcome, breakdown, s->k - 1);
    record(s, renews(s, tolerance) ? s->renewed : s->next, history, outcome, limit, tolerance);
    // END SOLUTION
}

void gradient_descent::recurrence(const float* a, const float* b, float* x, double* history, int* outcome,
                                  int n, int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    queue_start(b, x, r, s, n, stream);
    queue_record(s, history, outcome, limit, tolerance, true, stream);
    // TODO 6.4 (about 12 lines): the iterations.
    // BEGIN SOLUTION
    const int elements = n > 0 ? (n + block_size - 1) / block_size : 1;
    const int rows = n > 0 ? (n + rows_of_block - 1) / rows_of_block : 1;
    for (int k = 1; k <= limit; ++k) {
        product_kernel<<<rows, block_size, 0, stream>>>(a, r, q, s, n);
        CUDA_CHECK(cudaGetLastError());
        recurrence_kernel<<<elements, block_size, 0, stream>>>(q, x, r, s, n);
        CUDA_CHECK(cudaGetLastError());
        renew_kernel<<<rows, block_size, 0, stream>>>(a, b, x, r, s, n, tolerance);
        CUDA_CHECK(cudaGetLastError());
        end_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
        CUDA_CHECK(cudaGetLastError());
    }
    // END SOLUTION
    work.clear(stream);
}
