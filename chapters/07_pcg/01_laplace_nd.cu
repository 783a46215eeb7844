// One thread per point. Whether a neighbour is inside is asked of the point's coordinate, and the coordinate
// is found by dividing the index, for every direction again: d (d - 1) / 2 long divisions and
// d remainders per point.

#include "solver.cuh"

// [kernel]
/// Coordinate `direction` of the point with this index.
static __device__ int coordinate(long long index, int direction, int side) {
    for (int k = 0; k < direction; ++k) index /= side;
    return static_cast<int>(index % side);
}

template <class T>
__global__ void laplace_nd_kernel(const T* u, T* y, int d, int side, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    T sum = T(2 * d) * u[i];
    long long stride = 1;
    for (int direction = 0; direction < d; ++direction) {
        const int c = coordinate(i, direction, side);
        if (c > 0) sum -= u[i - stride];
        if (c + 1 < side) sum -= u[i + stride];
        stride *= side;
    }
    y[i] = sum;
}
// [kernel]

template <class T>
static void launch(const T* u, T* y, int d, int side, cudaStream_t stream) {
    if (d < 1 || d > pcg::most_dimensions || side < 0) throw std::invalid_argument("no such cube");
    const long long n = pcg::points(d, side);
    if (n == 0) return;
    constexpr int block = 256;
    const auto blocks = static_cast<unsigned>((n + block - 1) / block);
    laplace_nd_kernel<<<blocks, block, 0, stream>>>(u, y, d, side, n);
    CUDA_CHECK(cudaGetLastError());
}

void pcg::laplace_nd(const float* u, float* y, int d, int side, cudaStream_t stream) {
    launch(u, y, d, side, stream);
}

void pcg::laplace_nd(const double* u, double* y, int d, int side, cudaStream_t stream) {
    launch(u, y, d, side, stream);
}
