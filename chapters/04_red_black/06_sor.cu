// Successive over-relaxation: every point goes omega times as far as Gauss-Seidel would take it. With the
// right omega the number of iterations grows with n, not with n^2.

#include <cmath>

#include "red_black.cuh"
#include "split.cuh"

/// The relaxation factor with the fastest convergence for n^3 unknowns.
static double best_omega(int n) {
    double omega = 1.0;
    // TODO 6.1 (about 2 lines): from Jacobi's convergence factor rho = cos(pi h), h = 1 / (n + 1), by Young's
    // formula 2 / (1 + sqrt(1 - rho^2)). For large n, 1 - rho^2 is a difference of two nearly equal numbers:
    // which one number is its root?
    return omega;
}

/// A thread owns four elements m, ... m + 3 of a row of its colour. The squares of `share` times the residual
/// before the update are added to *total, unless that is null.
template <class T>
__global__ void sor_kernel(const T* b, const T* other, T* own, double* total, int n, int colour, T omega,
                           T share) {
    const int m = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z;
    double squares = 0;
    if (j < n && 2 * m < n) {  // no early return: all threads add up their squares below
        const int parity = (i + j + colour) & 1;
        const std::size_t c = (static_cast<std::size_t>(i) * n + j) * red_black::half_row(n) + m;
        const red_black::Four<T> sum = red_black::four_neighbours(other, c, i, j, m, parity, n);
        const red_black::Four<T> rhs = red_black::four(b, c);
        red_black::Four<T> mine = red_black::four(own, c);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            if (2 * (m + v) + parity >= n) continue;
            const T residual = (rhs.v[v] - T(6) * mine.v[v]) + sum.v[v];
            // TODO 6.2 (1 line): Gauss-Seidel would add residual / 6 to the point. Go omega times as far.
            squares += (share * residual) * (share * residual);
        }
        *reinterpret_cast<red_black::Four<T>*>(own + c) = mine;
    }
    if (total) red_black::add_over_block(squares, total);
}

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   double omega, cudaStream_t stream) {
    const dim3 block(32, 8), grid((red_black::half_row(n) + 127) / 128, (n + 7) / 8, n);
    const red_black::Split<T> halves(work, n);
    if (omega == 0) omega = best_omega(n);

    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    red_black::split(start, halves.u, n, stream);
    red_black::split(b, halves.b, n, stream);
    for (int t = 0; t < iterations; ++t) {
        // A red half-sweep sees what the iterate before had left at the red points.
        sor_kernel<<<grid, block, 0, stream>>>(halves.b[0], halves.u[1], halves.u[0],
                                               t > 0 ? norms + t - 1 : nullptr, n, 0, T(omega), T(1));
        CUDA_CHECK(cudaGetLastError());
        double share = 0;
        // TODO 6.3 (1 line): a black point goes too far, so a part of its residual is left, and no later update
        // of this iteration changes that. Which part?
        sor_kernel<<<grid, block, 0, stream>>>(halves.b[1], halves.u[0], halves.u[1], norms + t, n, 1,
                                               T(omega), T(share));
        CUDA_CHECK(cudaGetLastError());
    }
    if (iterations > 0) red_black::add_red_residual(halves, norms + iterations - 1, n, stream);
    red_black::merge(halves.u, u, n, stream);
    red_black::take_roots(norms, iterations, stream);
}

void red_black::sor(const float* start, const float* b, float* u, double* norms, float* work, int n,
                    int iterations, double omega, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, omega, stream);
}

void red_black::sor(const double* start, const double* b, double* u, double* norms, double* work, int n,
                    int iterations, double omega, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, omega, stream);
}
