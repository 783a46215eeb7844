// Successive over-relaxation: every point goes omega times as far as Gauss-Seidel would take it. With the
// right omega the number of iterations grows with n, not with n^2.

#include <cmath>

#include "red_black.cuh"
#include "split.cuh"

/// The relaxation factor with the fastest convergence for n^3 unknowns.
static double best_omega(int n) {
    // TODO 8.1: Young's omega for h = 1 / (n + 1). For large n, 1 - rho^2 is a difference of two nearly equal
    // numbers: which one number is its root?
    return 1;
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
