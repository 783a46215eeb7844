// Every point becomes the average of its neighbours, all from the values before. No point waits for another,
// but the values need a second home, and what is already better is not used.

#include "red_black.cuh"
#include "sweeps.cuh"

/// A thread owns one point.
// [kernel]
template <class T>
__global__ void jacobi_kernel(const T* b, const T* old, T* next, int n) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;  // neighbouring threads, neighbouring words
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= n || j >= n || k >= n) return;
    const std::size_t c = (static_cast<std::size_t>(i) * n + j) * n + k;
    next[c] = (b[c] + red_black::neighbours(old, c, i, j, k, n)) * T(1.0 / 6.0);
}
// [kernel]

template <class T>
static void sweep(const T* b, const T* old, T* next, int n, cudaStream_t stream) {
    const dim3 block(32, 8, 4), grid((n + 31) / 32, (n + 7) / 8, (n + 3) / 4);
    jacobi_kernel<<<grid, block, 0, stream>>>(b, old, next, n);
    CUDA_CHECK(cudaGetLastError());
}

void red_black::jacobi(const float* start, const float* b, float* u, double* norms, float* work, int n,
                       int iterations, cudaStream_t stream) {
    iterate_between(start, b, u, norms, work, n, iterations, stream, sweep<float>);
}

void red_black::jacobi(const double* start, const double* b, double* u, double* norms, double* work, int n,
                       int iterations, cudaStream_t stream) {
    iterate_between(start, b, u, norms, work, n, iterations, stream, sweep<double>);
}
