// 16384 bodies make 32 blocks of rung 05, and the GPU has 132 multiprocessors. So the other side of the
// problem is cut as well: a block adds up a part of the pulls only, and a second kernel adds up the parts.

#include <algorithm>

#include "integrator.cuh"
#include "inverse_sqrt.cuh"
#include "nbody.cuh"
#include "partial_sums.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int enough_blocks = 1024;  // in all, about what a large GPU holds at once

// TODO 7.1: the kernel, split_kernel: as in rung 05, for one part of the bodies that pull. Row p of `sums`
// has n sums, those of part p.
// BEGIN SOLUTION
static constexpr int block_size = 128;
static constexpr int owned = 4;  // bodies per thread

static __device__ void add_pull(const float4& own, const float4& other, float softening2, float3& sum) {
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float squared = dz * dz + (dy * dy + (dx * dx + softening2));
    const float inverse = nbody::inverse_sqrt(squared);
    const float pull = other.w * (inverse * inverse * inverse);
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
}

/// A thread owns `owned` bodies, block_size apart. A block adds up the pull of part blockIdx.y on them, which
/// is `span` bodies long, the last one perhaps shorter, and stores it in that row of n sums.
__global__ void __launch_bounds__(block_size, 6)
    split_kernel(const float4* bodies, float4* sums, int n, int span, float softening2) {
    __shared__ float4 tile[block_size];
    const int i = static_cast<int>(blockIdx.x * owned * block_size + threadIdx.x);
    float4 own[owned];
    float3 sum[owned];
#pragma unroll
    for (int r = 0; r < owned; ++r) {
        own[r] = i + r * block_size < n ? bodies[i + r * block_size] : float4{0, 0, 0, 0};
        sum[r] = {0, 0, 0};
    }

    const int part = static_cast<int>(blockIdx.y);
    const int begin = part * span, end = min(n, begin + span);
    for (int first = begin; first < end; first += block_size) {
        const int j = first + static_cast<int>(threadIdx.x);
        __syncthreads();
        tile[threadIdx.x] = j < end ? bodies[j] : float4{0, 0, 0, 0};
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < block_size; ++k) {
            const float4 other = tile[k];
#pragma unroll
            for (int r = 0; r < owned; ++r) add_pull(own[r], other, softening2, sum[r]);
        }
    }
    float4* const row = sums + part * static_cast<std::size_t>(n);
#pragma unroll
    for (int r = 0; r < owned; ++r) {
        if (i + r * block_size < n) row[i + r * block_size] = {sum[r].x, sum[r].y, sum[r].z, 0};
    }
}
// END SOLUTION

void nbody::split(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    // TODO 7.2: into how many parts? About as many as it takes for enough_blocks in all. A part is a whole
    // number of tiles, two at least where there are two, and none is empty. Then room for the rows, the
    // launch, and the sum of the rows: nbody::make_packed_sums and nbody::add_rows. The same call gives the
    // same bits in every run.
    // BEGIN SOLUTION
    if (n <= 0) return;
    const int blocks = (n - 1) / (owned * block_size) + 1;
    const int tiles = (n - 1) / block_size + 1;
    const int wanted = std::clamp(enough_blocks / blocks, 1, (tiles + 1) / 2);
    const int part_tiles = (tiles - 1) / wanted + 1;
    const int parts = (tiles - 1) / part_tiles + 1;  // fewer than wanted where that did not come out even

    float4* const sums = make_packed_sums(parts, n, stream);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(parts));
    split_kernel<<<grid, block_size, 0, stream>>>(bodies, sums, n, part_tiles * block_size,
                                                  softening * softening);
    CUDA_CHECK(cudaGetLastError());
    add_rows(sums, acceleration, n, parts, stream);
    // END SOLUTION
}

void nbody::split(const float4* bodies, const float4* velocity, float4* bodies_after, float4* velocity_after,
                  float4* acceleration, int n, int steps, float dt, float softening, cudaStream_t stream) {
    leapfrog(split, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
