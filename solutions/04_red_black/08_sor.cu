// Successive over-relaxation: every point goes omega times as far as Gauss-Seidel would take it. With the
// right omega the number of iterations grows with n, not with n^2.

#include <cmath>

#include "red_black.cuh"
#include "split.cuh"

/// The relaxation factor with the fastest convergence for n^3 unknowns.
static double best_omega(int n) {
    // TODO 8.1: Young's omega for h = 1 / (n + 1). For large n, 1 - rho^2 is a difference of two nearly equal
    // numbers: which one number is its root?
    // BEGIN SOLUTION
    //~ return 1;
    const double pi = 3.14159265358979323846;
    return 2.0 / (1.0 + std::sin(pi / (n + 1.0)));
    // END SOLUTION
}

/// A thread owns four elements m, ... m + 3 of a row of its colour. The squares of `share` times the residual
/// before the update are added to *total, unless that is null.
template <class T>
__global__ void sor_kernel(const T* b, const T* other, T* own, double* total, int n, int colour, T omega,
                           T share) {
    const int m = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z;
    // TODO 8.2: the over-relaxed update of the thread's elements, and the squares as above.
    // BEGIN SOLUTION
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
            mine.v[v] += omega * T(1.0 / 6.0) * residual;
            squares += (share * residual) * (share * residual);
        }
        *reinterpret_cast<red_black::Four<T>*>(own + c) = mine;
    }
    if (total) red_black::add_over_block(squares, total);
    // END SOLUTION
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
    // TODO 8.3: the half-sweeps of all iterations. Which share of its residual does a black point keep, and
    // which half-sweeps find what belongs to norms[t]? The red part of the last norm is found below.
    // BEGIN SOLUTION
    for (int t = 0; t < iterations; ++t) {
        // A red half-sweep sees what the iterate before had left at the red points.
        sor_kernel<<<grid, block, 0, stream>>>(halves.b[0], halves.u[1], halves.u[0],
                                               t > 0 ? norms + t - 1 : nullptr, n, 0, T(omega), T(1));
        CUDA_CHECK(cudaGetLastError());
        // A black point goes too far: (1 - omega) of its residual is left, until the next iteration.
        const double share = 1 - omega;
        sor_kernel<<<grid, block, 0, stream>>>(halves.b[1], halves.u[0], halves.u[1], norms + t, n, 1,
                                               T(omega), T(share));
        CUDA_CHECK(cudaGetLastError());
    }
    // END SOLUTION
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
