// One array for each colour. If the colours alternate in memory, every sector is fetched for half of what it
// holds; here a half-sweep reads and writes only what it uses.

#include "red_black.cuh"
#include "sweeps.cuh"

// TODO 5.1: the kernel, colour_split_kernel, for float and double. split.cuh says where a point lies.
// BEGIN SOLUTION
/// A thread owns element m of a row of its colour: the point k = 2m + parity.
template <class T>
__global__ void colour_split_kernel(const T* b, const T* other, T* own, int n, int colour) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z * blockDim.z + threadIdx.z;
    const int parity = (i + j + colour) & 1;
    const int k = 2 * m + parity;
    if (i >= n || j >= n || k >= n) return;
    const std::size_t row = red_black::half_row(n), plane = row * n;
    const std::size_t c = (static_cast<std::size_t>(i) * n + j) * row + m;

    T sum = 0;
    sum += (i > 0 ? other[c - plane] : T(0)) + (i + 1 < n ? other[c + plane] : T(0));
    sum += (j > 0 ? other[c - row] : T(0)) + (j + 1 < n ? other[c + row] : T(0));
    if (k > 0) sum += other[c + parity - 1];
    if (k + 1 < n) sum += other[c + parity];
    own[c] = (b[c] + sum) * T(1.0 / 6.0);
}
// END SOLUTION

/// Queues one half-sweep of iterate_split (sweeps.cuh): halves.u[colour] from the other colour and
/// halves.b[colour]. n > 0.
template <class T>
static void half_sweep(const red_black::Split<T>& halves, int n, int colour, cudaStream_t stream) {
    // TODO 5.2: block, grid, launch, error check.
    // BEGIN SOLUTION
    const dim3 block(32, 8, 4), grid((n + 63) / 64, (n + 7) / 8, (n + 3) / 4);
    colour_split_kernel<<<grid, block, 0, stream>>>(halves.b[colour], halves.u[1 - colour], halves.u[colour],
                                                    n, colour);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}

void red_black::colour_split(const float* start, const float* b, float* u, double* norms, float* work, int n,
                             int iterations, cudaStream_t stream) {
    iterate_split(start, b, u, norms, work, n, iterations, stream, half_sweep<float>);
}

void red_black::colour_split(const double* start, const double* b, double* u, double* norms, double* work,
                             int n, int iterations, cudaStream_t stream) {
    iterate_split(start, b, u, norms, work, n, iterations, stream, half_sweep<double>);
}
