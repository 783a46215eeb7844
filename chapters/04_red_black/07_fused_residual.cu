// The norm falls out of the update. A red point moves by (b - A u) / 6 at that point, so its step tells the
// residual that was there before; and a black point, updated last, has none. So the pass that computed the
// residual again, 6 bytes for each point, is needed for the last iteration only.

#include "red_black.cuh"
#include "split.cuh"

// TODO 7.1: the kernel of a half-sweep on the arrays of split.cuh. It adds the squares of the residual before
// the update to *total, if asked to. split.cuh has what loads four elements at once and adds up their
// neighbours; norm.cuh what adds up the squares of a block.

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream) {
    const red_black::Split<T> halves(work, n);

    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    red_black::split(start, halves.u, n, stream);
    red_black::split(b, halves.b, n, stream);
    // TODO 7.2: the half-sweeps of all iterations. norms[t] belongs to the iterate after iteration t + 1; the
    // last norm is found below.
    if (iterations > 0) red_black::add_red_residual(halves, norms + iterations - 1, n, stream);
    red_black::merge(halves.u, u, n, stream);
    red_black::take_roots(norms, iterations, stream);
}

void red_black::fused_residual(const float* start, const float* b, float* u, double* norms, float* work,
                               int n, int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}

void red_black::fused_residual(const double* start, const double* b, double* u, double* norms, double* work,
                               int n, int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}
