// All threads of a block need the same bodies. So a block fetches a tile of them into shared memory, and
// every thread reads the tile from there.

#include "integrator.cuh"
#include "interaction.cuh"
#include "nbody.cuh"
#include "rungs/cuda_check.cuh"

// TODO 2.1: the kernel, tiled_kernel: blocks of 256 threads, tiles of 256 bodies, a thread for each body.
// nbody::add_pull adds one pull.

void nbody::tiled(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    // TODO 2.2: the launch, for any n.
}

void nbody::tiled(const float4* bodies, const float4* velocity, float4* bodies_after, float4* velocity_after,
                  float4* acceleration, int n, int steps, float dt, float softening, cudaStream_t stream) {
    leapfrog(tiled, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
