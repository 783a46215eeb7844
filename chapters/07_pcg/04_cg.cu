// Conjugate gradients as they stand in the textbook: a kernel for each line of the algorithm. Scalars stay on
// the device; the host queues all iterations, and what comes after the last one that was needed returns at
// once.

#include "solver.cuh"

using pcg::Cell;

static constexpr int block_size = 256;

/// The scalars of a solve, in device memory.
struct Scalars {
    double rr;       ///< r.r of the residual that was recorded last
    double next;     ///< r.r of the one to come: blocks add to it
    double renewed;  ///< the same, of b - A x: blocks add to it
    double pAp;      ///< blocks add to it
    double bb;       ///< b.b
    double beta;
    int k;         ///< iterations done
    int finished;  ///< an Outcome is reached: whatever is still queued has nothing to do
};

/// Adds the block's sum of x to *sum.
static __device__ void add_block_sum(double x, double* sum) {
    pcg::Sums<1> sums;
    sums.of[0] = x;
    sums = pcg::block_sums(sums);
    if (threadIdx.x == 0) atomicAdd(sum, sums.of[0]);
}

static __device__ long long thread_number() {
    return blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
}

/// A thread owns a cell: x = 0, r = p = b, and its part of r.r.
template <class T>
__global__ void start_kernel(const T* b, T* x, T* r, T* p, Scalars* s, long long n) {
    const long long i = thread_number();
    double square = 0;
    if (i < n) {
        x[i] = 0, r[i] = p[i] = b[i];
        square = double(b[i]) * b[i];
    }
    add_block_sum(square, &s->next);
}

/// A thread owns a cell: w = A p, and its part of p.Ap.
template <class T, int d>
__global__ void product_kernel(const T* p, T* w, Scalars* s, int side, long long n) {
    if (s->finished) return;
    const long long i = thread_number();
    double term = 0;
    if (i < n) {
        w[i] = pcg::laplace_at(p, Cell<d>(i, side), side);
        term = double(p[i]) * w[i];
    }
    add_block_sum(term, &s->pAp);
}

/// Whether p.Ap is what it is for a positive definite A.
static __device__ bool in_range(double pAp) { return pAp > 0 && !isinf(pAp); }

/// A thread owns a cell: steps along p, and sets `square` to its part of the new r.r.
template <class T>
__global__ void cg_kernel(const T* p, const T* w, T* x, T* r, Scalars* s, long long n) {
    if (s->finished || !in_range(s->pAp)) return;
    const long long i = thread_number();
    double square = 0;
    // TODO 4.1 (about 6 lines): alpha = r.r / p.Ap, then x and r.
    add_block_sum(square, &s->next);
}

/// Whether r, which is only carried along, seems to be small enough: then b - A x has to be.
static __device__ bool seems_solved(const Scalars* s, double tolerance) {
    return !s->finished && s->k > 0 && s->next <= tolerance * tolerance * s->bb;
}

/// A thread owns a cell: r = b - A x, and its part of r.r, if that seems to be the end.
template <class T, int d>
__global__ void renew_kernel(const T* b, const T* x, T* r, Scalars* s, int side, long long n,
                             double tolerance) {
    if (!seems_solved(s, tolerance) || !in_range(s->pAp)) return;
    const long long i = thread_number();
    double square = 0;
    if (i < n) {
        r[i] = b[i] - pcg::laplace_at(x, Cell<d>(i, side), side);
        square = double(r[i]) * r[i];
    }
    add_block_sum(square, &s->renewed);
}

/// One thread: takes note of r_k, and decides.
static __global__ void record_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    if (s->finished) return;
    int what = pcg::breakdown;
    if (s->k > 0 && !in_range(s->pAp)) {
        --s->k;  // the step was not made
    } else {
        const double rr = seems_solved(s, tolerance) ? s->renewed : s->next;
        if (s->k == 0) s->bb = rr;
        history[s->k] = sqrt(rr);
        what = pcg::verdict(rr, s->bb, s->k, limit, tolerance);
        // TODO 4.2 (1 line): the beta of the next direction, from the new r.r and the old.
        s->rr = rr;
    }
    if (what >= 0) {
        outcome[0] = what, outcome[1] = s->k;
        s->finished = 1;
    }
    s->next = s->renewed = s->pAp = 0;
    ++s->k;
}

/// A thread owns a cell: the next direction.
template <class T>
__global__ void direction_kernel(const T* r, T* p, const Scalars* s, long long n) {
    if (s->finished) return;
    const long long i = thread_number();
    // TODO 4.3 (1 line): from r, and from the direction before.
}

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    pcg::with_dimensions(d, side, [=](auto dimensions) {
        constexpr int most = decltype(dimensions)::value;
        const long long n = pcg::cells(most, side);
        const auto blocks = static_cast<unsigned>(n > 0 ? (n - 1) / block_size + 1 : 1);
        pcg::clear_history(history, limit, stream);
        auto* const s = static_cast<Scalars*>(rungs::stream_workspace(stream, 256 + 3 * n * sizeof(T)));
        T *const r = reinterpret_cast<T*>(s) + 256 / sizeof(T), *const p = r + n, *const w = p + n;
        CUDA_CHECK(cudaMemsetAsync(s, 0, sizeof(Scalars), stream));

        start_kernel<<<blocks, block_size, 0, stream>>>(b, x, r, p, s, n);
        record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
        for (int k = 1; k <= limit; ++k) {
            product_kernel<T, most><<<blocks, block_size, 0, stream>>>(p, w, s, side, n);
            cg_kernel<<<blocks, block_size, 0, stream>>>(p, w, x, r, s, n);
            renew_kernel<T, most><<<blocks, block_size, 0, stream>>>(b, x, r, s, side, n, tolerance);
            record_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);
            direction_kernel<<<blocks, block_size, 0, stream>>>(r, p, s, n);
        }
        CUDA_CHECK(cudaGetLastError());
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
