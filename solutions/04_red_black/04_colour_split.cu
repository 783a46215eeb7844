// One array a colour. Where the colours alternate in memory, every line of memory is fetched for half of what
// it holds; here a half-sweep reads and writes only what it uses.

#include "red_black.cuh"
#include "split.cuh"

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
    // TODO 4.1 (about 4 lines): add the six neighbours, all of the other colour; those outside the cube are 0.
    // Four of them have the same m in another row. Which elements of `other` are the points k - 1 and k + 1?
    // BEGIN SOLUTION
    //~ (void)other, (void)plane;
    sum += (i > 0 ? other[c - plane] : T(0)) + (i + 1 < n ? other[c + plane] : T(0));
    sum += (j > 0 ? other[c - row] : T(0)) + (j + 1 < n ? other[c + row] : T(0));
    if (k > 0) sum += other[c + parity - 1];
    if (k + 1 < n) sum += other[c + parity];
    // END SOLUTION
    own[c] = (b[c] + sum) * T(1.0 / 6.0);
}

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream) {
    const dim3 block(32, 8, 4), grid((n + 63) / 64, (n + 7) / 8, (n + 3) / 4);
    const red_black::Split<T> halves(work, n);

    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    red_black::split(start, halves.u, n, stream);
    red_black::split(b, halves.b, n, stream);
    for (int t = 0; t < iterations; ++t) {
        for (int colour = 0; colour < 2; ++colour) {
            colour_split_kernel<<<grid, block, 0, stream>>>(halves.b[colour], halves.u[1 - colour],
                                                            halves.u[colour], n, colour);
            CUDA_CHECK(cudaGetLastError());
        }
        red_black::add_red_residual(halves, norms + t, n, stream);  // the black points have none left
    }
    red_black::merge(halves.u, u, n, stream);
    red_black::take_roots(norms, iterations, stream);
}

void red_black::colour_split(const float* start, const float* b, float* u, double* norms, float* work, int n,
                             int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}

void red_black::colour_split(const double* start, const double* b, double* u, double* norms, double* work,
                             int n, int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}
