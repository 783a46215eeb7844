// All threads of a block need the same bodies. So a block fetches a tile of them into shared memory, and
// every thread reads the tile from there.

#include "integrator.cuh"
#include "interaction.cuh"
#include "nbody.cuh"
#include "rungs/cuda_check.cuh"

// TODO 2.1: the kernel, tiled_kernel: blocks of 256 threads, tiles of 256 bodies, a thread for each body.
// nbody::add_pull adds one pull.
// BEGIN SOLUTION
static constexpr int block_size = 256;

/// A thread owns body i. A block goes through all bodies, a tile of `block_size` after the other.
__global__ void tiled_kernel(const float4* bodies, float4* acceleration, int n, float softening) {
    __shared__ float4 tile[block_size];
    const int i = static_cast<int>(blockIdx.x * block_size + threadIdx.x);
    const float4 own =
        i < n ? bodies[i] : float4{0, 0, 0, 0};  // no early return: every thread has a load to do

    float3 sum{0, 0, 0};
    for (int first = 0; first < n; first += block_size) {
        const int j = first + static_cast<int>(threadIdx.x);
        __syncthreads();  // the tile before is used up
        tile[threadIdx.x] = j < n ? bodies[j] : float4{0, 0, 0, 0};
        __syncthreads();  // the tile is complete
        for (int k = 0; k < block_size; ++k) nbody::add_pull(own, tile[k], softening, sum);
    }
    if (i < n) acceleration[i] = {sum.x, sum.y, sum.z, 0};
}
// END SOLUTION

void nbody::tiled(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    // TODO 2.2: the launch, for any n.
    // BEGIN SOLUTION
    if (n <= 0) return;
    const unsigned blocks = (static_cast<unsigned>(n) + block_size - 1) / block_size;
    tiled_kernel<<<blocks, block_size, 0, stream>>>(bodies, acceleration, n, softening);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}

void nbody::tiled(const float4* bodies, const float4* velocity, float4* bodies_after, float4* velocity_after,
                  float4* acceleration, int n, int steps, float dt, float softening, cudaStream_t stream) {
    leapfrog(tiled, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
