// A block copies its tile of the field into shared memory, with a halo of one point around it, and computes
// from there: every point comes from global memory about once, and is read five times where reading is cheap.

#include "iterate.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"

// TODO 2.1: the kernel, shared_tile_kernel: one sweep from one field to another.
// BEGIN SOLUTION
static constexpr int width = 32, height = 8;  // of a tile, without its halo

/// A block owns a tile of 32 times 8 points, a thread one of them.
static __global__ void shared_tile_kernel(const float* from, float* to, jacobi::Lattice lattice) {
    __shared__ float tile[height + 2][width + 2];
    const int left = width * static_cast<int>(blockIdx.x) - 1;
    const int top = height * static_cast<int>(blockIdx.y) - 1;
    const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);

    for (int i = column + width * row; i < (height + 2) * (width + 2); i += width * height) {
        const int r = i / (width + 2), c = i % (width + 2);
        if (lattice.contains(left + c, top + r)) tile[r][c] = from[lattice.at(left + c, top + r)];
    }
    __syncthreads();

    const int r = row + 1, c = column + 1, x = left + c, y = top + r;
    if (!lattice.contains(x, y)) return;
    float now = tile[r][c];
    if (!lattice.fixed(x, y)) {
        const float sum = tile[r - 1][c] + tile[r][c - 1] + tile[r][c + 1] + tile[r + 1][c];
        now = 0.25f * (sum - lattice.charge(x, y));
    }
    to[lattice.at(x, y)] = now;
}
// END SOLUTION

void jacobi::shared_tile(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx,
                         int ny, float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream, [&](const float* from, float* to) {
        // TODO 2.2: one sweep on `stream`.
        // BEGIN SOLUTION
        const dim3 grid(static_cast<unsigned>((nx + width - 1) / width),
                        static_cast<unsigned>((ny + height - 1) / height));
        shared_tile_kernel<<<grid, dim3(width, height), 0, stream>>>(from, to, lattice);
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}
