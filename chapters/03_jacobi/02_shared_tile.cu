// A block copies its tile of the field into shared memory, with a halo of one point around it, and computes
// from there: every point comes from global memory about once, and is read five times where reading is cheap.

#include "iterate.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"

// TODO 2.1: the kernel, shared_tile_kernel: one sweep from one field to another.

void jacobi::shared_tile(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx,
                         int ny, float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream, [&](const float* from, float* to) {
        // TODO 2.2: one sweep on `stream`.
    });
}
