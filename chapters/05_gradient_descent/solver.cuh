#pragma once
/// @file
/// What the rungs share: the scalars of a solve, which stay on the device, the sums of a warp and a block,
/// and the scratch memory.

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>

#include "gradient_descent.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

namespace gradient_descent {

/// The scalars of a solve, in device memory. All zero when it begins.
struct Scalars {
    double rr;       ///< r.r of the residual that was recorded last
    double next;     ///< r.r of the one to come: blocks add to it
    double renewed;  ///< the same, of a residual that was computed from x
    double rAr;      ///< r.Ar: blocks add to it
    double bb;       ///< b.b = r_0.r_0
    int k;           ///< number of the residual to come
    int broken;      ///< Gauss-Jacobi found a zero on the diagonal
    int finished;    ///< an Outcome is reached: whatever is still queued has nothing to do
};

/// The sums of iteration k in a solve of one launch, each in a word of its own. All zero when it begins.
struct Sums {
    double rr;       ///< r.r of the k-th residual
    double renewed;  ///< the same, of a residual that was computed from x
    double rAr;      ///< r.Ar
};
inline constexpr std::size_t sums_in_doubles = sizeof(Sums) / sizeof(double);

/// An Outcome, or -1 to go on, when the k-th residual has r.r = rr.
inline __host__ __device__ int verdict(double rr, double bb, int k, int limit, double tolerance) {
    if (!(rr <= too_far * too_far * bb) || isinf(rr)) return diverged;  // so is NaN
    if (rr <= tolerance * tolerance * bb) return converged;
    return k == limit ? limit_reached : -1;
}

/// Ends the solve after k iterations. For one thread of the grid.
inline __device__ void finish(Scalars* s, int* outcome, int what, int k) {
    outcome[0] = what;
    outcome[1] = k;
    s->finished = 1;
}

/// Takes note of the residual with r.r = rr, and decides. For one thread of the grid, in a kernel of its own:
/// it writes what all others read.
inline __device__ void record(Scalars* s, double rr, double* history, int* outcome, int limit,
                              double tolerance) {
    if (s->k == 0) s->bb = rr;
    history[s->k] = sqrt(rr);
    const int what = s->broken ? breakdown : verdict(rr, s->bb, s->k, limit, tolerance);
    if (what >= 0) finish(s, outcome, what, s->k);
    s->rr = rr;
    s->next = s->renewed = s->rAr = 0;
    ++s->k;
}

/// The sum of x over the warp, in all lanes. All 32 must call it.
template <class T>
__device__ T warp_sum(T x) {
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

/// Adds the block's sum of x to *sum. All threads of the block must call it; their number is a
/// multiple of 32.
inline __device__ void add_block_sum(double x, double* sum) {
    __shared__ double partial[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    x = warp_sum(x);
    __syncthreads();  // partial may still be read from the call before
    if (lane == 0) partial[warp] = x;
    __syncthreads();
    if (warp == 0) {
        x = warp_sum(lane < warps ? partial[lane] : 0.0);
        if (lane == 0) atomicAdd(sum, x);
    }
}

/// The scratch memory of a solve: scalars, sums, and vectors of n floats behind them. All of it is zero when
/// a solve begins, and has to be zero again at its end.
struct Workspace {
    Scalars* scalars;
    double* sums;
    float* vectors;
    std::size_t bytes;

    /// @param n          floats of a vector
    /// @param count      how many vectors
    /// @param stream     the memory belongs to it
    /// @param sum_count  how many doubles, for a solve that keeps a word for each sum that it forms
    Workspace(std::size_t n, std::size_t count, cudaStream_t stream, std::size_t sum_count = 0)
        : bytes(256 + sizeof(double) * sum_count + sizeof(float) * count * n) {
        auto* const data = static_cast<unsigned char*>(rungs::stream_scratch(stream, bytes));
        scalars = reinterpret_cast<Scalars*>(data);
        sums = reinterpret_cast<double*>(data + 256);
        vectors = reinterpret_cast<float*>(sums + sum_count);
    }
    void clear(cudaStream_t stream) const { CUDA_CHECK(cudaMemsetAsync(scalars, 0, bytes, stream)); }
};

/// Not reached yet: NaN.
inline void clear_history(double* history, int limit, cudaStream_t stream) {
    CUDA_CHECK(
        cudaMemsetAsync(history, 0xff, (static_cast<std::size_t>(limit) + 1) * sizeof(double), stream));
}

}  // namespace gradient_descent
