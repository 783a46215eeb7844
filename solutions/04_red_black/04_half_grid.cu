// A thread for each point of one colour, not for each point: no thread is started only to leave.

#include "red_black.cuh"
#include "sweeps.cuh"

// TODO 4.1: the kernel, half_grid_kernel, for float and double. It updates the points of one colour in
// place, 0 for red and 1 for black.
// BEGIN SOLUTION
/// A thread owns two points side by side, k = 2m and 2m + 1, of which one has the colour that is due.
template <class T>
__global__ void half_grid_kernel(const T* b, T* u, int n, int colour) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z * blockDim.z + threadIdx.z;
    const int k = 2 * m + ((i + j + colour) & 1);
    if (i >= n || j >= n || k >= n) return;
    const std::size_t c = (static_cast<std::size_t>(i) * n + j) * n + k;
    u[c] = (b[c] + red_black::neighbours(u, c, i, j, k, n)) * T(1.0 / 6.0);
}
// END SOLUTION

/// Queues one half-sweep of iterate_in_place (sweeps.cuh). n > 0.
template <class T>
static void half_sweep(const T* b, T* u, int n, int colour, cudaStream_t stream) {
    // TODO 4.2: block, grid, launch, error check.
    // BEGIN SOLUTION
    const dim3 block(32, 8, 4), grid((n + 63) / 64, (n + 7) / 8, (n + 3) / 4);
    half_grid_kernel<<<grid, block, 0, stream>>>(b, u, n, colour);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}

void red_black::half_grid(const float* start, const float* b, float* u, double* norms, float*, int n,
                          int iterations, cudaStream_t stream) {
    iterate_in_place(start, b, u, norms, n, iterations, stream, half_sweep<float>);
}

void red_black::half_grid(const double* start, const double* b, double* u, double* norms, double*, int n,
                          int iterations, cudaStream_t stream) {
    iterate_in_place(start, b, u, norms, n, iterations, stream, half_sweep<double>);
}
