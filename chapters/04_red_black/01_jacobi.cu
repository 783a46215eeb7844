// Every point becomes the average of its neighbours, all from the values before. No point waits for another,
// but the values need a second home, and what is already better is not used.

#include "norm.cuh"
#include "red_black.cuh"

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
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream) {
    const dim3 block(32, 8, 4), grid((n + 31) / 32, (n + 7) / 8, (n + 3) / 4);
    const std::size_t bytes = static_cast<std::size_t>(n) * n * n * sizeof(T);

    red_black::clear(norms, iterations, stream);
    if (n > 0 && iterations == 0) {
        CUDA_CHECK(cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, stream));
    }
    const T* old = start;
    for (int t = 0; t < iterations && n > 0; ++t) {
        T* const next = (iterations - t) % 2 ? u : work;  // the last one is u
        jacobi_kernel<<<grid, block, 0, stream>>>(b, old, next, n);
        CUDA_CHECK(cudaGetLastError());
        red_black::add_residual(b, next, norms + t, n, stream);
        old = next;
    }
    red_black::take_roots(norms, iterations, stream);
}

void red_black::jacobi(const float* start, const float* b, float* u, double* norms, float* work, int n,
                       int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}

void red_black::jacobi(const double* start, const double* b, double* u, double* norms, double* work, int n,
                       int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}
