// One array for each colour. If the colours alternate in memory, every sector is fetched for half of what it
// holds; here a half-sweep reads and writes only what it uses.

#include "red_black.cuh"
#include "sweeps.cuh"

// TODO 5.1: the kernel, colour_split_kernel, for float and double. split.cuh says where a point lies.

/// Queues one half-sweep of iterate_split (sweeps.cuh): halves.u[colour] from the other colour and
/// halves.b[colour]. n > 0.
template <class T>
static void half_sweep(const red_black::Split<T>& halves, int n, int colour, cudaStream_t stream) {
    // TODO 5.2: block, grid, launch, error check.
}

void red_black::colour_split(const float* start, const float* b, float* u, double* norms, float* work, int n,
                             int iterations, cudaStream_t stream) {
    iterate_split(start, b, u, norms, work, n, iterations, stream, half_sweep<float>);
}

void red_black::colour_split(const double* start, const double* b, double* u, double* norms, double* work,
                             int n, int iterations, cudaStream_t stream) {
    iterate_split(start, b, u, norms, work, n, iterations, stream, half_sweep<double>);
}
