// One load from the tile serves one interaction so far. With four bodies per thread it serves four, and their
// four chains of arithmetic do not wait for each other.

#include "integrator.cuh"
#include "inverse_sqrt.cuh"
#include "nbody.cuh"
#include "rungs/cuda_check.cuh"

// TODO 5.1: the kernel, register_blocked_kernel: blocks of 128 threads, tiles of 128 bodies, four bodies for
// each thread. The interaction is yours of rung 04.
// BEGIN SOLUTION
static constexpr int block_size = 128;
static constexpr int owned = 4;  // bodies per thread

/// Adds the pull of `other` on `own` to `sum`: 12 floating-point instructions and one reciprocal root.
static __device__ void add_pull(const float4& own, const float4& other, float softening2, float3& sum) {
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float squared = dz * dz + (dy * dy + (dx * dx + softening2));
    const float inverse = nbody::inverse_sqrt(squared);
    const float pull = other.w * (inverse * inverse * inverse);
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
}

/// A thread owns the bodies first + threadIdx.x + r block_size, r = 0 to owned - 1: neighbours in a warp stay
/// neighbours in memory. A block goes through all bodies, a tile after the other. Six blocks a multiprocessor
/// are enough, so the compiler may give a thread 80 registers, for several interactions at a time.
__global__ void __launch_bounds__(block_size, 6)
    register_blocked_kernel(const float4* bodies, float4* acceleration, int n, float softening2) {
    __shared__ float4 tile[block_size];
    const int i = static_cast<int>(blockIdx.x * owned * block_size + threadIdx.x);
    float4 own[owned];
    float3 sum[owned];
#pragma unroll
    for (int r = 0; r < owned; ++r) {
        own[r] = i + r * block_size < n ? bodies[i + r * block_size] : float4{0, 0, 0, 0};
        sum[r] = {0, 0, 0};
    }

    for (int first = 0; first < n; first += block_size) {
        const int j = first + static_cast<int>(threadIdx.x);
        __syncthreads();
        tile[threadIdx.x] = j < n ? bodies[j] : float4{0, 0, 0, 0};
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < block_size; ++k) {
            const float4 other = tile[k];
#pragma unroll
            for (int r = 0; r < owned; ++r) add_pull(own[r], other, softening2, sum[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < owned; ++r) {
        if (i + r * block_size < n) acceleration[i + r * block_size] = {sum[r].x, sum[r].y, sum[r].z, 0};
    }
}
// END SOLUTION

void nbody::register_blocked(const float4* bodies, float4* acceleration, int n, float softening,
                             cudaStream_t stream) {
    // TODO 5.2: the launch, for any n.
    // BEGIN SOLUTION
    if (n <= 0) return;
    constexpr unsigned per_block = owned * block_size;
    const unsigned blocks = (static_cast<unsigned>(n) + per_block - 1) / per_block;
    register_blocked_kernel<<<blocks, block_size, 0, stream>>>(bodies, acceleration, n,
                                                               softening * softening);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}

void nbody::register_blocked(const float4* bodies, const float4* velocity, float4* bodies_after,
                             float4* velocity_after, float4* acceleration, int n, int steps, float dt,
                             float softening, cudaStream_t stream) {
    leapfrog(register_blocked, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt,
             softening, stream);
}
