#pragma once
// The loop around the sweeps of rungs 01 to 03, with the host in it. Given: these rungs are about the sweep.

#include <algorithm>
#include <vector>

#include "fields.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

namespace jacobi {

/// Adds up (a - b)^2 over the inner points. A thread owns every point of a row whose distance from its
/// own is a multiple of the grid's width, in every gridDim.y-th row; a block leaves its sum in partial[].
static __global__ void difference_kernel(const float* a, const float* b, Lattice lattice, double* partial) {
    __shared__ double sums[256];
    double mine = 0;
    for (int y = static_cast<int>(blockIdx.y); y < lattice.ny; y += static_cast<int>(gridDim.y)) {
        for (int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); x < lattice.nx;
             x += static_cast<int>(gridDim.x * blockDim.x)) {
            if (lattice.fixed(x, y)) continue;
            const std::size_t i = lattice.at(x, y);
            const float update = a[i] - b[i];
            mine += static_cast<double>(update) * update;
        }
    }
    sums[threadIdx.x] = mine;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) partial[gridDim.x * blockIdx.y + blockIdx.x] = sums[0];
}

/// The loop of rungs 01 to 03. After every sweep a second kernel reads both fields once more for the norm,
/// the host waits for its blocks' sums, adds them up and decides.
/// @param sweep  `sweep(from, to)` queues one sweep on `stream`
template <class Sweep>
void iterate(const float* start, float* phi, float* work, float* norm, int* sweeps, const Lattice& lattice,
             int most, float eps, cudaStream_t stream, const Sweep& sweep) {
    const dim3 grid(static_cast<unsigned>(std::clamp((lattice.nx + 255) / 256, 1, 16)),
                    static_cast<unsigned>(std::clamp((lattice.ny + 15) / 16, 1, 64)));
    std::vector<double> partial(grid.x * grid.y);
    const std::size_t bytes = partial.size() * sizeof(double);
    auto* const scratch = static_cast<double*>(rungs::stream_scratch(stream, bytes));
    Fields fields{start, phi, work};
    double square = 0;
    int done = 0;
    while (done < most) {
        if (!lattice.empty()) sweep(fields.now, fields.next());
        difference_kernel<<<grid, 256, 0, stream>>>(fields.next(), fields.now, lattice, scratch);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(partial.data(), scratch, bytes, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        square = 0;
        for (const double sum : partial) square += sum;
        fields.advance();
        ++done;
        if (square <= limit_of(eps)) break;
    }
    CUDA_CHECK(cudaMemsetAsync(scratch, 0, bytes, stream));  // scratch is left as it was found
    finish(fields, lattice, square, done, norm, sweeps, stream);
}

}  // namespace jacobi
