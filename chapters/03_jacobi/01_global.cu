// One thread for every point, reading its four neighbours from global memory. The norm is a pass of its own,
// and the host waits for it after every sweep.

#include "iterate.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"

/// A block owns 32 times 8 points, a thread one of them.
// [kernel]
static __global__ void global_kernel(const float* from, float* to, jacobi::Lattice lattice) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= lattice.nx || y >= lattice.ny) return;

    const std::size_t i = lattice.at(x, y);
    if (lattice.fixed(x, y)) {
        to[i] = from[i];  // both buffers need the boundary
    } else {
        const std::size_t row = lattice.pitch();
        const float sum = from[i - row] + from[i - 1] + from[i + 1] + from[i + row];
        to[i] = 0.25f * (sum - lattice.charge(x, y));
    }
}
// [kernel]

void jacobi::global(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                    float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const dim3 block(32, 8);
    const dim3 grid((static_cast<unsigned>(nx) + 31) / 32, (static_cast<unsigned>(ny) + 7) / 8);

    iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream, [&](const float* from, float* to) {
        global_kernel<<<grid, block, 0, stream>>>(from, to, lattice);
        CUDA_CHECK(cudaGetLastError());
    });
}
