// The tile of rung 02 with the 16-byte loads of rung 05: a block brings 128 columns into shared memory, with
// a halo around them, and each thread sweeps four points at a time.
//
// TODO 6.1: on many lattices the field is right, on others it is not. Find the fault and fix it.

#include "jacobi.cuh"
#include "norm.cuh"
#include "quad.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

static constexpr int columns = 128;  // of a tile; its halo is four wide, for the sake of 16-byte loads
static constexpr int rows = 32;      // of a tile, without the halo
static constexpr int threads = 256;
static constexpr int quads = columns / 4 + 2;  // of four points in a row, halo included

/// A block owns a tile of 128 times 32 points, a warp every eighth row of it, a lane four points in a row.
static __global__ void __launch_bounds__(threads)
    wide_tile_kernel(const float* from, float* to, jacobi::Lattice lattice, double* squares, double limit) {
    __shared__ float4 tile[rows + 2][quads];
    if (squares[-1] <= limit) return;  // the sweep before was the last one

    const int left = columns * static_cast<int>(blockIdx.x);
    const int top = rows * static_cast<int>(blockIdx.y);

    // tile[r][c] holds the four points from (left - 4 + 4 * c, top - 1 + r) on. What is not on the lattice
    // may be anything, but must not be read from memory.
    for (int i = static_cast<int>(threadIdx.x); i < (rows + 2) * quads; i += threads) {
        const int r = i / quads, c = i % quads;
        const int x = left - 4 + 4 * c, y = top - 1 + r;
        // BEGIN SOLUTION
        const bool there = x >= 0 && x < lattice.nx && y >= 0 && y < lattice.ny;
        //~ const bool there = c > 0 && x < lattice.nx && y >= 0 && y < lattice.ny;
        // END SOLUTION
        tile[r][c] = there ? *reinterpret_cast<const float4*>(from + lattice.at(x, y)) : float4{0, 0, 0, 0};
    }
    __syncthreads();

    const int c = 1 + static_cast<int>(threadIdx.x % 32);
    const int x = left - 4 + 4 * c;
    float square = 0;
    for (int r = 1 + static_cast<int>(threadIdx.x / 32); r <= rows; r += threads / 32) {
        const int y = top - 1 + r;
        if (x >= lattice.nx || y >= lattice.ny) break;
        const float4 above = tile[r - 1][c], below = tile[r + 1][c];
        const float before = tile[r][c - 1].w, behind = tile[r][c + 1].x;
        const float4 old = tile[r][c];
        const float4 beside = {before + old.y, old.x + old.z, old.y + old.w, old.z + behind};
        const float4 sum = above + beside + below;
        *reinterpret_cast<float4*>(to + lattice.at(x, y)) = relaxed(lattice, x, y, sum, old, square);
    }

    jacobi::add_block_sum<threads>(square, squares);
}

void jacobi::wide_tile(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                       float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const double limit = limit_of(eps);
    const dim3 grid((static_cast<unsigned>(nx) + columns - 1) / columns,
                    (static_cast<unsigned>(ny) + rows - 1) / rows);

    iterate_on_device(start, phi, work, norm, sweeps, lattice, most, eps, stream,
                      [&](const float* from, float* to, double* squares) {
                          wide_tile_kernel<<<grid, threads, 0, stream>>>(from, to, lattice, squares, limit);
                          CUDA_CHECK(cudaGetLastError());
                      });
}
