// Conjugate gradients as in the textbook: a kernel for each line of the algorithm. Scalars stay on
// the device; the host queues all iterations, and what comes after the last one that was
// needed returns at once.

#include "textbook.cuh"

using namespace pcg;

// TODO 4.1: the kernels of an iteration: product_kernel, w = A p and the sum p.Ap; cg_kernel, the step of x and
// r and the sum of the new r.r; direction_kernel, the next p. A kernel has nothing to do once the solve is
// finished, and no step is made where p.Ap is not in range.
// BEGIN SOLUTION
/// A thread owns a point: w = A p, and its part of p.Ap.
template <class T, int d>
__global__ void product_kernel(const T* p, T* w, Scalars* s, int side, long long n) {
    if (s->finished) return;
    const long long i = thread_number();
    double term = 0;
    if (i < n) {
        w[i] = laplace_at(p, Point<d>(i, side), side);
        term = double(p[i]) * w[i];
    }
    add_block_sum(term, &s->pAp);
}

/// A thread owns a point: a step along p, and its part of the new r.r.
template <class T>
__global__ void cg_kernel(const T* p, const T* w, T* x, T* r, Scalars* s, long long n) {
    if (s->finished || !s->in_range()) return;
    const long long i = thread_number();
    double square = 0;
    if (i < n) {
        const T alpha = static_cast<T>(s->rr / s->pAp);
        x[i] += alpha * p[i];
        r[i] -= alpha * w[i];
        square = double(r[i]) * r[i];
    }
    add_block_sum(square, &s->next);
}

/// A thread owns a point: the next direction.
template <class T>
__global__ void direction_kernel(const T* r, T* p, const Scalars* s, long long n) {
    if (s->finished) return;
    const long long i = thread_number();
    if (i < n) p[i] = r[i] + static_cast<T>(s->beta) * p[i];
}
// END SOLUTION

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int dimensions, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [=](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        const TextbookWork<T> work(n, stream);
        textbook_start(b, x, history, outcome, work, n, limit, tolerance, stream);

        // TODO 4.2: `limit` iterations, each your kernels and textbook.cuh's renew_kernel<T, d> and
        // record_kernel, in the order in which one needs what another leaves. Check the launches.
        // BEGIN SOLUTION
        Scalars* const s = work.scalars;
        T *const r = work.r, *const p = work.p, *const w = work.w;
        const unsigned blocks = textbook_blocks(n);
        constexpr int block_size = textbook_block;
        for (int k = 1; k <= limit; ++k) {
            product_kernel<T, d><<<blocks, block_size, 0, stream>>>(p, w, s, side, n);
            cg_kernel<<<blocks, block_size, 0, stream>>>(p, w, x, r, s, n);
            renew_kernel<T, d><<<blocks, block_size, 0, stream>>>(b, x, r, s, side, n, tolerance);
            record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
            direction_kernel<<<blocks, block_size, 0, stream>>>(r, p, s, n);
        }
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}

void pcg::cg(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
             double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}

void pcg::cg(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
             double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}
