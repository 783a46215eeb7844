// Steepest descent on a tridiagonal system that is symmetric and positive definite: x moves along its
// residual, as far as it pays. Two dot products an iteration, which stay on the device.

#include "descent.cuh"

using btcs::Progress;

/// The product of row i of A with v.
static __device__ float row_product(const btcs::Coefficients& row, const float* v, long long i, long long n) {
    // TODO 4.1 (about 4 lines): at most three elements of v, none of them outside of it.
    // BEGIN SOLUTION
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
    // TODO 4.2 (about 8 lines): add this row's part of r.r and of r.Ar to progress->rr and progress->rAr, in
    // double. btcs::add_block_sum() adds up a block; all of its threads must call it.
    // BEGIN SOLUTION
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    double rr = 0, rAr = 0;
    if (i < n) {
        const btcs::Coefficients row = btcs::row_at(lower, diagonal, upper, rhs, i, n);
        rr = static_cast<double>(r[i]) * r[i];
        rAr = static_cast<double>(r[i]) * row_product(row, r, i, n);
    }
    btcs::add_block_sum(rr, &progress->rr);
    btcs::add_block_sum(rAr, &progress->rAr);
    // END SOLUTION
}

// TODO 4.3 (about 6 lines): the kernel of the step, tridiagonal_descent_kernel. It does nothing once
// progress->finished is set.
// BEGIN SOLUTION
/// A thread owns one unknown: x += alpha r.
__global__ void tridiagonal_descent_kernel(const float* r, float* x, Progress* progress, long long n) {
    if (progress->finished) return;
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    const double alpha = progress->rr / progress->rAr;
    if (i < n) x[i] += static_cast<float>(alpha * r[i]);
}
// END SOLUTION

void btcs::tridiagonal_descent(const float* lower, const float* diagonal, const float* upper,
                               const float* rhs, const float* start, float* x, long long* status, long long n,
                               cudaStream_t stream) {
    constexpr int block = 256;
    const auto blocks = static_cast<unsigned>((n + block - 1) / block);
    auto* const memory =
        static_cast<unsigned char*>(rungs::stream_workspace(stream, 256 + n * sizeof(float)));
    auto* const r = reinterpret_cast<float*>(memory + 256);

    iterate(lower, diagonal, upper, rhs, start, x, status, n, stream, reinterpret_cast<Progress*>(memory),
            [&](int, Progress* p) {
                residual_kernel<<<blocks, block, 0, stream>>>(lower, diagonal, upper, rhs, x, r, p, n);
                judge_kernel<<<1, 1, 0, stream>>>(p);
                // TODO 4.4 (3 lines): the launches that are left; definite_kernel(p), of one
                // thread, before the step.
                // BEGIN SOLUTION
                curvature_kernel<<<blocks, block, 0, stream>>>(lower, diagonal, upper, rhs, r, p, n);
                definite_kernel<<<1, 1, 0, stream>>>(p);
                tridiagonal_descent_kernel<<<blocks, block, 0, stream>>>(r, x, p, n);
                // END SOLUTION
            });
}
