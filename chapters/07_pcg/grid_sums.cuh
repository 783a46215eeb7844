#pragma once
/// @file
/// Sums over all blocks of a kernel that was launched cooperatively. A file of its own, since nvcc takes two
/// seconds to read cooperative_groups.h.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "rungs/cuda_check.cuh"
#include "solver.cuh"

namespace pcg {

/// Sums over a grid that was launched cooperatively, at the price of one barrier of the grid: whatever was
/// written before it may be read behind it. The order of additions is always the same.
class GridSums {
  public:
    static constexpr int most = 4;  ///< sums at once
    static constexpr std::size_t bytes(int blocks) { return sizeof(double) * 2 * most * blocks; }

    __device__ explicit GridSums(double* partial) : partial_(partial) {}

    /// The sums, in all threads of the grid. All must call it.
    template <int count>
    __device__ Sums<count> operator()(const Sums<count>& own) {
        meet(own);
        return collect<count>();
    }

    /// The first half of that, up to the barrier. Two halves, as there may be something to do between them.
    template <int count>
    __device__ void meet(Sums<count> own) {
        static_assert(count <= most, "");
        // Two places in turn: a block may begin with the next sums while another still reads these.
        turn_ ^= 1;
        own = block_sums(own);
        if (threadIdx.x == 0) {
            for (int s = 0; s < count; ++s) place()[s * gridDim.x + blockIdx.x] = own.of[s];
        }
        cooperative_groups::this_grid().sync();
    }

    /// The second half.
    template <int count>
    __device__ Sums<count> collect() {
        Sums<count> sums;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
            for (int s = 0; s < count; ++s) sums.of[s] += __ldcg(&place()[s * gridDim.x + b]);
        }
        sums = block_sums(sums);
        __shared__ double all[count];
        for (int s = 0; s < count && threadIdx.x == 0; ++s) all[s] = sums.of[s];
        __syncthreads();
        for (int s = 0; s < count; ++s) sums.of[s] = all[s];
        return sums;
    }

  private:
    __device__ double* place() const { return partial_ + turn_ * most * gridDim.x; }

    double* partial_;
    int turn_ = 0;
};

/// How many blocks of a kernel that is launched cooperatively suit n points: one thread per point, but no
/// more blocks than fit on the device at once.
template <class Kernel>
int cooperative_blocks(Kernel kernel, int block_size, long long n) {
    int each = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, block_size, 0));
    const long long fit = 1LL * each * device_attribute(cudaDevAttrMultiProcessorCount);
    return static_cast<int>(std::clamp<long long>((n + block_size - 1) / block_size, 1, fit));
}

}  // namespace pcg
