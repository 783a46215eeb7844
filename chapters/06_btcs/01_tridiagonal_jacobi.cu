// Jacobi's iteration on a tridiagonal system: every row is solved for its own unknown, with the neighbours as
// they were. Diagonal dominance makes it converge. Right, and slow: a sweep reads all of the system to move
// what one end knows by a single row.

#include "iterate.cuh"

using btcs::Progress;

/// A thread owns one row: y_i = (b_i - lower x_{i-1} - upper x_{i+1}) / diagonal, as x_i + r_i / diagonal.
/// The residual is a sum in double. An error that changes sign from sweep to sweep shrinks slowly, and every
/// rounding feeds it: summed in float, it may stay above the tolerance for ever.
// [kernel]
__global__ void tridiagonal_jacobi_kernel(const float* lower, const float* diagonal, const float* upper,
                                          const float* rhs, const float* x, float* y, Progress* progress,
                                          long long n) {
    if (progress->finished) return;
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    float residual = 0, size = 0;
    if (i < n) {  // no early return: all lanes take part in the maxima below
        const btcs::Coefficients row = btcs::row_at(lower, diagonal, upper, rhs, i, n);
        size = x[i];
        double sum = row.rhs - static_cast<double>(row.diagonal) * size;
        if (i > 0) sum -= static_cast<double>(row.lower) * x[i - 1];
        if (i < n - 1) sum -= static_cast<double>(row.upper) * x[i + 1];
        const auto r = static_cast<float>(sum);
        y[i] = size + r / row.diagonal;
        residual = r / btcs::row_sum(row);
    }
    btcs::max_into(&progress->residual, residual);
    btcs::max_into(&progress->size, size);
}
// [kernel]

void btcs::tridiagonal_jacobi(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                              const float* start, float* x, long long* status, long long n,
                              cudaStream_t stream) {
    constexpr int block = 256;
    const auto blocks = static_cast<unsigned>((n + block - 1) / block);
    auto* const memory =
        static_cast<unsigned char*>(rungs::stream_workspace(stream, 256 + n * sizeof(float)));
    auto* const progress = reinterpret_cast<Progress*>(memory);
    auto* const y = reinterpret_cast<float*>(memory + 256);

    const int k = iterate(lower, diagonal, upper, rhs, start, x, status, n, stream, progress,
                          [&](int now, Progress* p) {
                              tridiagonal_jacobi_kernel<<<blocks, block, 0, stream>>>(
                                  lower, diagonal, upper, rhs, now % 2 ? y : x, now % 2 ? x : y, p, n);
                              judge_kernel<<<1, 1, 0, stream>>>(p);
                          });
    if (k % 2 == 1) {
        CUDA_CHECK(cudaMemcpyAsync(x, y, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    }
}
