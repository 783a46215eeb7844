// d is a template parameter, so the loop over directions unrolls and all loads of a point are on their way at
// once. And nobody divides for a point: a thread divides for its row, and goes along the row by adding.

#include <algorithm>

#include "solver.cuh"

// TODO 2.1: the kernel, laplace_stencil_kernel, a template over the type and d. Divisions are dear: none for a
// point, a few for a row.
// BEGIN SOLUTION
static constexpr int block_size = 256;
static constexpr int per_thread = 8;  ///< points, in one row

/// A block owns blockDim.y rows, and of each the stretch of blockDim.x * per_thread points with its number
/// among `stretches`; a thread owns every blockDim.x-th point of a row's stretch.
template <class T, int d>
__global__ void laplace_stencil_kernel(const T* u, T* y, int side, unsigned stretches, long long all_rows) {
    long long row = static_cast<long long>(blockIdx.x / stretches) * blockDim.y + threadIdx.y;
    if (row >= all_rows) return;
    u += row * side;
    y += row * side;
    // From a point to its neighbours; the first two, in direction 0, are not needed.
    long long offset[2 * d] = {};
    bool inside[2 * d] = {};
    long long stride = side;
#pragma unroll
    for (int k = 1; k < d; ++k, stride *= side) {
        const int c = static_cast<int>(row % side);
        row /= side;
        offset[2 * k] = -stride, inside[2 * k] = c > 0;
        offset[2 * k + 1] = stride, inside[2 * k + 1] = c + 1 < side;
    }
    int c = blockIdx.x % stretches * blockDim.x * per_thread + threadIdx.x;
#pragma unroll
    for (int e = 0; e < per_thread; ++e, c += blockDim.x) {
        if (c >= side) return;
        T around = (c > 0 ? u[c - 1] : T(0)) + (c + 1 < side ? u[c + 1] : T(0));
#pragma unroll
        for (int k = 2; k < 2 * d; ++k) around += inside[k] ? u[c + offset[k]] : T(0);
        y[c] = T(2 * d) * u[c] - around;
    }
}
// END SOLUTION

template <class T>
static void launch(const T* u, T* y, int dimensions, int side, cudaStream_t stream) {
    pcg::with_dimensions(dimensions, side, [=](auto known) {
        constexpr int d = decltype(known)::value;
        if (side == 0) return;
        // TODO 2.2: the shape of a block, how many of them, the launch.
        // BEGIN SOLUTION
        int lanes = d == 1 ? block_size : 32;
        while (lanes / 2 >= side) lanes /= 2;  // short rows: a warp has several
        const dim3 block(lanes, d == 1 ? 1 : block_size / lanes);
        const long long rows = pcg::points(d - 1, side);
        const auto stretches = static_cast<unsigned>((side - 1) / (lanes * per_thread) + 1);
        const auto blocks = static_cast<unsigned>((rows - 1) / block.y + 1) * stretches;
        laplace_stencil_kernel<T, d><<<blocks, block, 0, stream>>>(u, y, side, stretches, rows);
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}

void pcg::laplace_stencil(const float* u, float* y, int d, int side, cudaStream_t stream) {
    launch(u, y, d, side, stream);
}

void pcg::laplace_stencil(const double* u, double* y, int d, int side, cudaStream_t stream) {
    launch(u, y, d, side, stream);
}
