// One load from the tile serves one interaction so far. With four bodies per thread it serves four, and their
// four chains of arithmetic do not wait for each other.

#include "integrator.cuh"
#include "inverse_sqrt.cuh"
#include "nbody.cuh"
#include "rungs/cuda_check.cuh"

// TODO 5.1: the kernel, register_blocked_kernel: blocks of 128 threads, tiles of 128 bodies, four bodies for
// each thread. The interaction is yours of rung 04.

void nbody::register_blocked(const float4* bodies, float4* acceleration, int n, float softening,
                             cudaStream_t stream) {
    // TODO 5.2: the launch, for any n.
}

void nbody::register_blocked(const float4* bodies, const float4* velocity, float4* bodies_after,
                             float4* velocity_after, float4* acceleration, int n, int steps, float dt,
                             float softening, cudaStream_t stream) {
    leapfrog(register_blocked, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt,
             softening, stream);
}
