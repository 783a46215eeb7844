// Points in the colours of a chessboard: a red point has only black neighbours. So all red points can be
// updated at once, in place, then all black ones, from the new red values. Here as it is often written: a
// thread for every point, and half of them leave at once.

#include "red_black.cuh"
#include "sweeps.cuh"

/// A thread owns one point, and updates it if its colour is due: 0 for red, 1 for black.
template <class T>
__global__ void parity_kernel(const T* b, T* u, int n, int colour) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z * blockDim.z + threadIdx.z;
    // [kernel]
    if (i >= n || j >= n || k >= n || (i + j + k) % 2 != colour) return;
    const std::size_t c = (static_cast<std::size_t>(i) * n + j) * n + k;
    u[c] = (b[c] + red_black::neighbours(u, c, i, j, k, n)) * T(1.0 / 6.0);
    // [kernel]
}

template <class T>
static void half_sweep(const T* b, T* u, int n, int colour, cudaStream_t stream) {
    const dim3 block(32, 8, 4), grid((n + 31) / 32, (n + 7) / 8, (n + 3) / 4);
    parity_kernel<<<grid, block, 0, stream>>>(b, u, n, colour);
    CUDA_CHECK(cudaGetLastError());
}

void red_black::parity(const float* start, const float* b, float* u, double* norms, float*, int n,
                       int iterations, cudaStream_t stream) {
    iterate_in_place(start, b, u, norms, n, iterations, stream, half_sweep<float>);
}

void red_black::parity(const double* start, const double* b, double* u, double* norms, double*, int n,
                       int iterations, cudaStream_t stream) {
    iterate_in_place(start, b, u, norms, n, iterations, stream, half_sweep<double>);
}
