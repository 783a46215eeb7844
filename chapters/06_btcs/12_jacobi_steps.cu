// The time loop as it is written first: in every step a right-hand side is made, then Jacobi's sweeps solve
// for the new values, and they begin with the old ones, which are not far off.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

/// A thread owns one point: the right-hand side of step `step`, with the new values at the ends in it.
static __global__ void rhs_kernel(const float* u, const float* left, const float* right, float* rhs,
                                  long long n, int step, float now, float then) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const float before = i > 0 ? u[i - 1] : left[step], behind = i < n - 1 ? u[i + 1] : right[step];
    float sum = u[i] + now * ((before - u[i]) + (behind - u[i]));
    if (i == 0) sum += then * left[step + 1];
    if (i == n - 1) sum += then * right[step + 1];
    rhs[i] = sum;
}

/// A thread owns one point: its row of the matrix, solved for it.
// [kernel]
__global__ void jacobi_steps_kernel(const float* rhs, const float* v, float* w, long long n, float then) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const float before = i > 0 ? v[i - 1] : 0, behind = i < n - 1 ? v[i + 1] : 0;
    w[i] = (rhs[i] + then * (before + behind)) / (1 + 2 * then);
}
// [kernel]

/// An even number of sweeps that make an error 2^26 times smaller.
static int sweeps(double then) {
    const double factor = 2 * then / (1 + 2 * then);
    const double enough = then > 0 ? std::ceil(std::log(0x1p-26) / std::log(factor)) : 1;
    return 2 * static_cast<int>(std::clamp(std::ceil(enough / 2), 1.0, 1e6));
}

void btcs::jacobi_steps(const float* start, const float* left, const float* right, float* u, float* work,
                        long long n, int steps, double r, double theta, cudaStream_t stream) {
    if (!(r >= 0 && std::isfinite(r) && theta >= 0 && theta <= 1)) {
        throw std::invalid_argument("a step takes a finite r >= 0, and a theta from 0 to 1");
    }
    if (n == 0) return;
    const std::size_t bytes = n * sizeof(float);
    CUDA_CHECK(cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, stream));
    auto* const rhs = static_cast<float*>(rungs::stream_workspace(stream, bytes));
    const auto blocks = static_cast<unsigned>((n + 255) / 256);
    const auto now = static_cast<float>((1 - theta) * r), then = static_cast<float>(theta * r);
    for (int s = 0; s < steps; ++s) {
        rhs_kernel<<<blocks, 256, 0, stream>>>(u, left, right, rhs, n, s, now, then);
        float *from = u, *to = work;
        for (int k = sweeps(theta * r); k > 0; --k) {
            jacobi_steps_kernel<<<blocks, 256, 0, stream>>>(rhs, from, to, n, then);
            std::swap(from, to);
        }
        CUDA_CHECK(cudaGetLastError());
    }
}
