// Two sweeps per pass over the memory. A block loads its tile with a halo of two points, sweeps the tile and
// a halo of one in shared memory, and then the tile itself: what a neighbouring block computes as well is
// computed twice, and nobody waits for it.

#include "jacobi.cuh"
#include "norm.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

// TODO 8.1: the kernel, two_sweeps_kernel: `levels` sweeps, 1 or 2, from `from` to `to`. As in rung 04 it does
// nothing where squares[-1] is at most `limit`; to squares[0] goes the sum of the last of its sweeps alone,
// over inner points.
// BEGIN SOLUTION
static constexpr int side = 32;        // of a tile, without its halo
static constexpr int wide = side + 4;  // with it
static constexpr int threads = 256;    // of a block
using Tile = float[wide][wide];

/// The new value of point (x, y), which is element (r, c) of a tile.
static __device__ float swept(const Tile& tile, int r, int c, const jacobi::Lattice& lattice, int x, int y) {
    if (lattice.fixed(x, y)) return tile[r][c];
    const float sum = tile[r - 1][c] + tile[r][c - 1] + tile[r][c + 1] + tile[r + 1][c];
    return 0.25f * (sum - lattice.charge(x, y));
}

/// A block owns a tile of 32 times 32 points, a thread every eighth row of one of its columns.
static __global__ void two_sweeps_kernel(const float* from, float* to, jacobi::Lattice lattice, int levels,
                                         double* squares, double limit) {
    __shared__ float loaded[wide][wide];
    __shared__ float between[wide][wide];
    if (squares[-1] <= limit) return;  // the pass before was the last one
    const int left = side * static_cast<int>(blockIdx.x) - 2, top = side * static_cast<int>(blockIdx.y) - 2;
    const int thread = static_cast<int>(threadIdx.x);

    for (int i = thread; i < wide * wide; i += threads) {
        const int r = i / wide, c = i % wide, x = left + c, y = top + r;
        if (lattice.contains(x, y)) loaded[r][c] = from[lattice.at(x, y)];
    }
    __syncthreads();
    for (int i = thread; levels == 2 && i < (side + 2) * (side + 2); i += threads) {
        const int r = 1 + i / (side + 2), c = 1 + i % (side + 2), x = left + c, y = top + r;
        if (lattice.contains(x, y)) between[r][c] = swept(loaded, r, c, lattice, x, y);
    }
    __syncthreads();
    const Tile& old = levels == 2 ? between : loaded;
    float square = 0;
    for (int i = thread; i < side * side; i += threads) {
        const int r = 2 + i / side, c = 2 + i % side, x = left + c, y = top + r;
        if (!lattice.contains(x, y)) continue;
        const float now = swept(old, r, c, lattice, x, y), update = now - old[r][c];
        to[lattice.at(x, y)] = now;
        if (!lattice.fixed(x, y)) square += update * update;
    }
    jacobi::add_block_sum<threads>(square, squares);
}
// END SOLUTION

void jacobi::two_sweeps(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                        float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const double limit = limit_of(eps);
    constexpr int depth = 2;  // sweeps in a pass
    iterate_in_passes(start, phi, work, norm, sweeps, lattice, most, eps, depth, stream,
                      [&](Fields fields, int levels, int passes, double* squares) {
                          // TODO 8.2: `passes` passes on `stream`, each from fields.now to fields.next(). Pass i
                          // has its sum at squares + i, and after each the fields advance().
                          // BEGIN SOLUTION
                          const dim3 grid(static_cast<unsigned>((nx + side - 1) / side),
                                          static_cast<unsigned>((ny + side - 1) / side));
                          for (int pass = 0; pass < passes; ++pass, fields.advance()) {
                              two_sweeps_kernel<<<grid, threads, 0, stream>>>(
                                  fields.now, fields.next(), lattice, levels, squares + pass, limit);
                              CUDA_CHECK(cudaGetLastError());
                          }
                          // END SOLUTION
                      });
}
