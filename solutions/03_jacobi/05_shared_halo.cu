// A block brings its tile into shared memory once, with a rim of one site around it, and computes from there:
// each value comes from memory once, and is used five times. Alone this gains little, because the caches did
// it before; it is the step to rung 06, where the tile stays for many sweeps.

#include "jacobi.cuh"
#include "quad.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

static constexpr int columns = 128;  // of a tile; its rim is four columns wide, for the sake of 16-byte loads
static constexpr int rows = 32;      // of a tile, without the rim
static constexpr int threads = 256;
static constexpr int quads = columns / 4 + 2;  // of four sites in a row, rim included

/// A block owns a tile of 128 times 32 sites; a warp of it every eighth row, a lane four neighbouring sites.
static __global__ void __launch_bounds__(threads)
    shared_halo_kernel(const float* from, float* to, jacobi::Lattice lattice, double* squares, double limit) {
    __shared__ float4 tile[rows + 2][quads];
    __shared__ float partial[threads / 32];
    if (squares[-1] <= limit) return;  // the sweep before was the last one

    const int left = columns * static_cast<int>(blockIdx.x);
    const int top = rows * static_cast<int>(blockIdx.y);

    // TODO 5.1 (about 9 lines): fill the tile with its rim: tile[r][c] holds the four sites from (left - 4 + 4 * c,
    // top - 1 + r) on. The threads take the (rows + 2) * quads of them in turn. What is not on the lattice
    // may be anything, but must not be read from memory. Then a barrier.
    // BEGIN SOLUTION
    //~ static_cast<void>(from);
    for (int i = static_cast<int>(threadIdx.x); i < (rows + 2) * quads; i += threads) {
        const int r = i / quads, c = i % quads;
        const int x = left - 4 + 4 * c, y = top - 1 + r;
        const bool there = x >= 0 && x < lattice.nx && y >= 0 && y < lattice.ny;
        tile[r][c] = there ? *reinterpret_cast<const float4*>(from + lattice.at(x, y)) : float4{0, 0, 0, 0};
    }
    __syncthreads();
    // END SOLUTION

    const int c = 1 + static_cast<int>(threadIdx.x % 32);
    const int x = left - 4 + 4 * c;
    float square = 0;
    for (int r = 1 + static_cast<int>(threadIdx.x / 32); r <= rows; r += threads / 32) {
        const int y = top - 1 + r;
        if (x >= lattice.nx || y >= lattice.ny) break;
        // TODO 5.2 (about 2 lines): the sites above and below, and the two beside, from the tile.
        // BEGIN SOLUTION
        //~ const float4 above{}, below{};
        //~ const float before = 0, behind = 0;
        const float4 above = tile[r - 1][c], below = tile[r + 1][c];
        const float before = tile[r][c - 1].w, behind = tile[r][c + 1].x;
        // END SOLUTION
        const float4 old = tile[r][c];
        const float4 beside = {before + old.y, old.x + old.z, old.y + old.w, old.z + behind};
        const float4 sum = above + beside + below;
        *reinterpret_cast<float4*>(to + lattice.at(x, y)) = relaxed(lattice, x, y, sum, old, square);
    }

    for (unsigned step = 16; step > 0; step /= 2) square += __shfl_down_sync(0xffffffffu, square, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (const float one : partial) sum += one;
        atomicAdd(squares, sum);
    }
}

void jacobi::shared_halo(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx,
                         int ny, float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const double limit = limit_of(eps);
    const dim3 grid((static_cast<unsigned>(nx) + columns - 1) / columns,
                    (static_cast<unsigned>(ny) + rows - 1) / rows);

    iterate_on_device(start, phi, work, norm, sweeps, lattice, most, eps, stream,
                      [&](const float* from, float* to, double* squares) {
                          shared_halo_kernel<<<grid, threads, 0, stream>>>(from, to, lattice, squares, limit);
                      });
}
