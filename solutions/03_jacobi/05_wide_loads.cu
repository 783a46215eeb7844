// With 16 bytes per load and many loads in flight, a sweep runs at the speed of a copy. A lane holds four
// neighbouring columns; the values beside them come from other lanes.

#include "jacobi.cuh"
#include "norm.cuh"
#include "quad.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

static constexpr int warps = 8;  // of a block, side by side
static constexpr int rows = 12;  // of a warp: 14 rows are read for 12 that are written

/// A warp owns 128 times 12 points, a lane four neighbouring columns of them.
static __global__ void __launch_bounds__(32 * warps, 2)
    wide_loads_kernel(const float* from, float* to, jacobi::Lattice lattice, double* squares, double limit) {
    if (squares[-1] <= limit) return;  // the sweep before was the last one

    const int lane = static_cast<int>(threadIdx.x % 32);
    const int x = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = rows * static_cast<int>(blockIdx.y);
    const bool inside = x < lattice.nx;  // of the last four points some may lie outside, where nobody looks

    float4 old[rows + 2];
    float side[rows + 2];
    // TODO 5.1: put row y + r - 1 of the lane's four columns into old[r]; into side[r], for lane 0 what is left of
    // them, for lane 31 what is right of them. 0 where the lattice has no such point. All loads are to be
    // in flight before the first value is used.
    // BEGIN SOLUTION
    const int beyond = lane == 0 ? x - 1 : lane == 31 ? x + 4 : -1;
#pragma unroll
    for (int r = 0; r < rows + 2; ++r) {
        const bool there = inside && y + r >= 1 && y + r <= lattice.ny;
        old[r] =
            there ? *reinterpret_cast<const float4*>(from + lattice.at(x, y + r - 1)) : float4{0, 0, 0, 0};
        side[r] = there && beyond >= 0 && beyond < lattice.nx ? from[lattice.at(beyond, y + r - 1)] : 0;
    }
    // END SOLUTION

    float square = 0;
#pragma unroll
    for (int r = 1; r <= rows; ++r) {
        const int row = y + r - 1;
        const bool mine = inside && row < lattice.ny;
        // TODO 5.2: the values left of old[r].x and right of old[r].w.
        // BEGIN SOLUTION
        float left = __shfl_up_sync(0xffffffffu, old[r].w, 1);
        float right = __shfl_down_sync(0xffffffffu, old[r].x, 1);
        if (lane == 0) left = side[r];
        if (lane == 31) right = side[r];
        // END SOLUTION
        if (!mine) continue;
        // TODO 5.3: the new values of the four points, by relaxed() of quad.cuh, to `to`.
        // BEGIN SOLUTION
        const float4 beside = {left + old[r].y, old[r].x + old[r].z, old[r].y + old[r].w, old[r].z + right};
        const float4 sum = old[r - 1] + beside + old[r + 1];
        *reinterpret_cast<float4*>(to + lattice.at(x, row)) = relaxed(lattice, x, row, sum, old[r], square);
        // END SOLUTION
    }
    jacobi::add_block_sum<32 * warps>(square, squares);
}

void jacobi::wide_loads(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                        float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const double limit = limit_of(eps);
    const dim3 grid((static_cast<unsigned>(nx) + 128 * warps - 1) / (128 * warps),
                    (static_cast<unsigned>(ny) + rows - 1) / rows);

    iterate_on_device(start, phi, work, norm, sweeps, lattice, most, eps, stream,
                      [&](const float* from, float* to, double* squares) {
                          wide_loads_kernel<<<grid, 32 * warps, 0, stream>>>(from, to, lattice, squares,
                                                                             limit);
                          CUDA_CHECK(cudaGetLastError());
                      });
}
