#pragma once
/// @file
/// What the two iterations share: when they stop, and who looks.

#include <cuda_runtime.h>

#include <cfloat>
#include <cstddef>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

namespace btcs {

/// The magnitudes of a row of A together, by which its residual is measured. Finite.
inline __device__ float row_sum(const Coefficients& row) {
    return fminf(fabsf(row.lower) + fabsf(row.diagonal) + fabsf(row.upper), FLT_MAX);
}

/// What an iteration knows of itself, in device memory.
struct Progress {
    double rr, rAr;     ///< descent: blocks add to them
    unsigned size;      ///< max |x_i| and
    unsigned residual;  ///< max |r_i| / row_sum, as bits: those of floats from 0 up have their order
    int k;              ///< iterations done
    int finished;       ///< whatever is still queued has nothing to do
    int what;           ///< a Status, once finished
};

/// Takes the largest of all threads' values. All threads of a warp must call it.
inline __device__ void max_into(unsigned* largest, float value) {
    unsigned bits = __float_as_uint(fabsf(value));
    for (int step = 16; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(0xffffffffu, bits, step));
    if (threadIdx.x % 32 == 0 && bits > 0) atomicMax(largest, bits);
}

/// One thread: is x good enough? Begins the next iteration, if not.
static __global__ void judge_kernel(Progress* progress) {
    if (progress->finished) return;
    const float residual = __uint_as_float(progress->residual), size = __uint_as_float(progress->size);
    const bool good = residual <= 0.75f * tolerance * size;  // r itself is rounded
    const bool hopeless = !(residual < INFINITY) || progress->k == iteration_limit;
    if (good || hopeless) {
        progress->what = good ? solved : not_converged;
        progress->finished = 1;
        return;
    }
    ++progress->k;
    progress->size = progress->residual = 0;
    progress->rr = progress->rAr = 0;
}

static __global__ void dominance_kernel(const float* lower, const float* diagonal, const float* upper,
                                        const float* rhs, unsigned long long* first, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const Coefficients row = row_at(lower, diagonal, upper, rhs, i, n);
    if (!dominated(row.lower, row.diagonal, row.upper)) atomicMin(first, static_cast<unsigned long long>(i));
}

/// Refuses a system that is not dominated. Else x begins as `start`, and this calls sweep(k, progress) for k
/// = 0, 1, 2 ... until the iteration is finished: it has to queue one iteration, from iterate k to k + 1,
/// whose kernels return at once when the progress is finished already. Waits for the stream after
/// every 32 of them.
/// @returns the number of the iterate that is the answer
template <class Sweep>
int iterate(const float* lower, const float* diagonal, const float* upper, const float* rhs,
            const float* start, float* x, long long* status, long long n, cudaStream_t stream,
            Progress* progress, const Sweep& sweep) {
    constexpr int block = 256;
    CUDA_CHECK(
        cudaMemsetAsync(status, 0xff, sizeof *status, stream));  // -1: solved, and the largest unsigned
    if (n == 0) return 0;
    dominance_kernel<<<static_cast<unsigned>((n + block - 1) / block), block, 0, stream>>>(
        lower, diagonal, upper, rhs, reinterpret_cast<unsigned long long*>(status), n);
    CUDA_CHECK(cudaGetLastError());
    long long bad = 0;
    CUDA_CHECK(cudaMemcpyAsync(&bad, status, sizeof bad, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    if (bad >= 0) {
        CUDA_CHECK(cudaMemsetAsync(x, 0xff, n * sizeof *x, stream));  // NaN
        return 0;
    }
    CUDA_CHECK(cudaMemsetAsync(progress, 0, sizeof *progress, stream));
    CUDA_CHECK(cudaMemcpyAsync(x, start, n * sizeof *x, cudaMemcpyDeviceToDevice, stream));
    Progress seen{};
    for (int k = 0; !seen.finished;) {
        for (const int until = k + 32; k < until; ++k) {
            sweep(k, progress);
            CUDA_CHECK(cudaGetLastError());
        }
        CUDA_CHECK(cudaMemcpyAsync(&seen, progress, sizeof seen, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    const long long what = seen.what;
    CUDA_CHECK(cudaMemcpyAsync(status, &what, sizeof what, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));  // `what` ends here
    return seen.k;
}

}  // namespace btcs
