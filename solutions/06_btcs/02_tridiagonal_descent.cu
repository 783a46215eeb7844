// Steepest descent on a tridiagonal system that is symmetric and positive definite: x moves along its
// residual, as far as it pays. Two dot products an iteration, which stay on the device.

#include "iterate.cuh"

using btcs::Progress;

/// Adds the block's sum to *sum. All threads of the block must call it; their number is a multiple of 32.
static __device__ void add_block_sum(double value, double* sum) {
    __shared__ double partial[32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads();  // partial may still be read from the call before
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x > 0) return;
    value = 0;
    for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp) value += partial[warp];
    atomicAdd(sum, value);
}

/// The product of row i of A with v.
static __device__ float row_product(const btcs::Coefficients& row, const float* v, long long i, long long n) {
    // TODO 2.1 (about 4 lines): three elements of v at most; none of them outside of v. The starter takes the
    // diagonal for all of A.
    // BEGIN SOLUTION
    //~ static_cast<void>(n);
    //~ return row.diagonal * v[i];
    float sum = row.diagonal * v[i];
    if (i > 0) sum += row.lower * v[i - 1];
    if (i < n - 1) sum += row.upper * v[i + 1];
    return sum;
    // END SOLUTION
}

/// A thread owns one row: r_i = b_i - (A x)_i, and how far it is from nothing.
static __global__ void residual_kernel(const float* lower, const float* diagonal, const float* upper,
                                       const float* rhs, const float* x, float* r, Progress* progress,
                                       long long n) {
    if (progress->finished) return;
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    float residual = 0, size = 0;
    if (i < n) {
        const btcs::Coefficients row = btcs::row_at(lower, diagonal, upper, rhs, i, n);
        r[i] = row.rhs - row_product(row, x, i, n);
        residual = r[i] / btcs::row_sum(row);
        size = x[i];
    }
    btcs::max_into(&progress->residual, residual);
    btcs::max_into(&progress->size, size);
}

/// A thread owns one row of A r; the blocks add up r.r and r.Ar.
static __global__ void curvature_kernel(const float* lower, const float* diagonal, const float* upper,
                                        const float* rhs, const float* r, Progress* progress, long long n) {
    if (progress->finished) return;
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    double rr = 0, rAr = 0;
    if (i < n) {
        // TODO 2.2 (3 lines): this row's part of r.r and of r.Ar, as products of doubles.
        // BEGIN SOLUTION
        //~ static_cast<void>(lower), static_cast<void>(diagonal), static_cast<void>(upper);
        //~ static_cast<void>(rhs), static_cast<void>(r);
        const btcs::Coefficients row = btcs::row_at(lower, diagonal, upper, rhs, i, n);
        rr = static_cast<double>(r[i]) * r[i];
        rAr = static_cast<double>(r[i]) * row_product(row, r, i, n);
        // END SOLUTION
    }
    add_block_sum(rr, &progress->rr);
    add_block_sum(rAr, &progress->rAr);
}

/// A thread owns one unknown: x += alpha r.
__global__ void tridiagonal_descent_kernel(const float* r, float* x, Progress* progress, long long n) {
    if (progress->finished) return;
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    // TODO 2.3 (about 2 lines): alpha = r.r / r.Ar, and the step. The starter stays where it is.
    // BEGIN SOLUTION
    //~ static_cast<void>(r), static_cast<void>(x), static_cast<void>(i), static_cast<void>(n);
    const double alpha = progress->rr / progress->rAr;
    if (i < n) x[i] += static_cast<float>(alpha * r[i]);
    // END SOLUTION
}

/// One thread, before the step: without a positive curvature there is no step to take.
static __global__ void definite_kernel(Progress* progress) {
    if (progress->finished || progress->rAr > 0) return;
    // unchecked: the exam has no indefinite system
    progress->finished = 1;
    progress->what = btcs::indefinite;
}

void btcs::tridiagonal_descent(const float* lower, const float* diagonal, const float* upper,
                               const float* rhs, float* x, long long* status, long long n,
                               cudaStream_t stream) {
    constexpr int block = 256;
    const auto blocks = static_cast<unsigned>((n + block - 1) / block);
    auto* const memory =
        static_cast<unsigned char*>(rungs::stream_workspace(stream, 256 + n * sizeof(float)));
    auto* const r = reinterpret_cast<float*>(memory + 256);

    iterate(lower, diagonal, upper, rhs, x, status, n, stream, reinterpret_cast<Progress*>(memory),
            [&](int, Progress* p) {
                residual_kernel<<<blocks, block, 0, stream>>>(lower, diagonal, upper, rhs, x, r, p, n);
                judge_kernel<<<1, 1, 0, stream>>>(p);
                curvature_kernel<<<blocks, block, 0, stream>>>(lower, diagonal, upper, rhs, r, p, n);
                definite_kernel<<<1, 1, 0, stream>>>(p);
                tridiagonal_descent_kernel<<<blocks, block, 0, stream>>>(r, x, p, n);
            });
}
