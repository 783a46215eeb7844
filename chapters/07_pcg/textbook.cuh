#pragma once
/// @file
/// What surrounds the iterations of rung 04: the scalars of a solve in device memory, how it begins, and how
/// it is decided whether it goes on. The host queues all iterations; what comes after the last one that was
/// needed returns at once.
///
/// An iteration is five kernels on one stream: w = A p with p.Ap, the step,
/// renew_kernel, record_kernel, the direction.

#include "solver.cuh"

namespace pcg {

inline constexpr int textbook_block = 256;  ///< threads of a block in all kernels

/// The scalars of a solve, in device memory.
struct Scalars {
    double rr;       ///< r.r of the residual that was recorded last
    double next;     ///< r.r of the one to come: blocks add to it
    double renewed;  ///< the same, of b - A x: blocks add to it
    double pAp;      ///< blocks add to it
    double bb;       ///< b.b
    double beta;     ///< of the next direction: the new r.r over the old one
    int k;           ///< iterations done
    int finished;    ///< an Outcome is reached: whatever is still queued has nothing to do

    /// Whether p.Ap is what it is for a positive definite A. If not, no step is made.
    __device__ bool in_range() const { return pAp > 0 && !isinf(pAp); }
    /// Whether r, which is only carried along, seems to be small enough: then b - A x has to be.
    __device__ bool seems_solved(double tolerance) const {
        return !finished && k > 0 && next <= tolerance * tolerance * bb;
    }
};

/// Adds the block's sum of x to *sum. All threads of the block must call it.
inline __device__ void add_block_sum(double x, double* sum) {
    Sums<1> sums;
    sums.of[0] = x;
    sums = block_sums(sums);
    if (threadIdx.x == 0) atomicAdd(sum, sums.of[0]);
}

inline __device__ long long thread_number() {
    return blockIdx.x * static_cast<long long>(textbook_block) + threadIdx.x;
}

/// A thread owns a point: x = 0, r = p = b, and its part of r.r.
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

/// A thread owns a point: r = b - A x, and its part of r.r, if that seems to be the end.
template <class T, int d>
__global__ void renew_kernel(const T* b, const T* x, T* r, Scalars* s, int side, long long n,
                             double tolerance) {
    if (!s->seems_solved(tolerance) || !s->in_range()) return;
    const long long i = thread_number();
    double square = 0;
    if (i < n) {
        r[i] = b[i] - laplace_at(x, Point<d>(i, side), side);
        square = double(r[i]) * r[i];
    }
    add_block_sum(square, &s->renewed);
}

/// One thread: takes note of r_k, decides, finds beta, and clears the sums for the next iteration.
static __global__ void record_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    if (s->finished) return;
    int what = breakdown;
    if (s->k > 0 && !s->in_range()) {
        --s->k;  // the step was not made
    } else {
        const double rr = s->seems_solved(tolerance) ? s->renewed : s->next;
        if (s->k == 0) s->bb = rr;
        history[s->k] = sqrt(rr);
        what = verdict(rr, s->bb, s->k, limit, tolerance);
        s->beta = rr / s->rr;
        s->rr = rr;
    }
    if (what >= 0) {
        outcome[0] = what, outcome[1] = s->k;
        s->finished = 1;
    }
    s->next = s->renewed = s->pAp = 0;
    ++s->k;
}

/// What a solve has in memory that belongs to the stream.
template <class T>
struct TextbookWork {
    Scalars* scalars;
    T *r, *p, *w;

    TextbookWork(long long n, cudaStream_t stream) {
        constexpr std::size_t before = 256;  // bytes
        auto* const memory =
            static_cast<unsigned char*>(rungs::stream_workspace(stream, before + 3 * n * sizeof(T)));
        scalars = reinterpret_cast<Scalars*>(memory);
        r = reinterpret_cast<T*>(memory + before), p = r + n, w = p + n;
    }
};

/// The blocks that n points need for one thread each; one if there is no point, since sums are cleared and
/// recorded all the same.
inline unsigned textbook_blocks(long long n) {
    return static_cast<unsigned>(n > 0 ? (n - 1) / textbook_block + 1 : 1);
}

/// Clears the scalars, sets x = 0, r = p = b, and records k = 0.
template <class T>
void textbook_start(const T* b, T* x, double* history, int* outcome, const TextbookWork<T>& work, long long n,
                    int limit, double tolerance, cudaStream_t stream) {
    clear_history(history, limit, stream);
    CUDA_CHECK(cudaMemsetAsync(work.scalars, 0, sizeof(Scalars), stream));
    start_kernel<<<textbook_blocks(n), textbook_block, 0, stream>>>(b, x, work.r, work.p, work.scalars, n);
    record_kernel<<<1, 1, 0, stream>>>(work.scalars, history, outcome, limit, tolerance);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace pcg
