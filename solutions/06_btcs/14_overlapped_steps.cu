// Several explicit steps for one pass over memory: a block reads a tile with a halo, takes the steps in
// shared memory, and writes what the missing neighbours cannot have reached.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

// TODO 14.1: the kernel, overlapped_steps_kernel: `count` steps of FTCS, from step `step` on. left[s] and
// right[s] are the values beyond the ends before step s.
// BEGIN SOLUTION
static constexpr int block_size = 256;
static constexpr int halo = 8;  // points on either side, and the most steps of a pass
static constexpr int tile = block_size - 2 * halo;

/// A block owns `tile` points, and a thread one of them or of the halo. Every step spoils one more
/// point of the halo.
__global__ void overlapped_steps_kernel(const float* from, float* to, const float* left, const float* right,
                                        long long n, int step, int count, float r) {
    __shared__ float u[block_size];
    const int t = static_cast<int>(threadIdx.x);
    const long long i = blockIdx.x * static_cast<long long>(tile) + t - halo;
    const bool inside = i >= 0 && i < n;
    float own = inside ? from[i] : 0;
    for (int s = step; s < step + count; ++s) {
        if (i == -1) own = left[s];
        if (i == n) own = right[s];
        u[t] = own;
        __syncthreads();
        if (inside && t > 0 && t < block_size - 1) own += r * ((u[t - 1] - own) + (u[t + 1] - own));
        __syncthreads();
    }
    if (inside && t >= halo && t < halo + tile) to[i] = own;
}
// END SOLUTION

void btcs::overlapped_steps(const float* start, const float* left, const float* right, float* u, float* work,
                            long long n, int steps, double r, double theta, cudaStream_t stream) {
    if (!(r >= 0 && std::isfinite(r)) || theta != 0) {
        throw std::invalid_argument("an explicit step takes a finite r >= 0, and theta = 0");
    }
    // TODO 14.2: the launches, several steps each. The values after the last step have to be in u; `work` is
    // a second array.
    // BEGIN SOLUTION
    if (n == 0) return;
    if (steps == 0) {
        CUDA_CHECK(cudaMemcpyAsync(u, start, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
        return;
    }
    const auto blocks = static_cast<unsigned>((n + tile - 1) / tile);
    const float* from = start;
    float *to = (steps + halo - 1) / halo % 2 == 1 ? u : work, *other = to == u ? work : u;
    for (int step = 0; step < steps; step += halo) {
        const int count = std::min(halo, steps - step);
        overlapped_steps_kernel<<<blocks, block_size, 0, stream>>>(from, to, left, right, n, step, count,
                                                                   static_cast<float>(r));
        CUDA_CHECK(cudaGetLastError());
        from = to;
        std::swap(to, other);
    }
    // END SOLUTION
}
