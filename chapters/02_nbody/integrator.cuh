#pragma once
/// @file
/// The leapfrog, given: moves the bodies with whatever force a rung computes. Its kernels are kernels of
/// their own, because only the end of a kernel makes all blocks wait for each other: no force may be computed
/// before every body has moved, and no body may move before every force is known.

#include "nbody.cuh"
#include "rungs/cuda_check.cuh"

namespace nbody {

// [kick_drift]
/// A thread owns one body: its velocity changes by `kick` times the acceleration, then its place by `drift`
/// times the velocity. It looks at no other body, so both fit into one kernel.
static __global__ void kick_drift_kernel(float4* bodies, float4* velocity, const float4* acceleration, int n,
                                         float kick, float drift) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const float4 a = acceleration[i];
    float4 v = velocity[i];
    float4 x = bodies[i];
    v.x += kick * a.x;
    v.y += kick * a.y;
    v.z += kick * a.z;
    x.x += drift * v.x;
    x.y += drift * v.y;
    x.z += drift * v.z;
    velocity[i] = v;
    bodies[i] = x;
}
// [kick_drift]

/// What every rung's Leapfrog does, with the rung's own force.
// [leapfrog]
inline void leapfrog(Accelerate& accelerate, const float4* bodies, const float4* velocity,
                     float4* bodies_after, float4* velocity_after, float4* acceleration, int n, int steps,
                     float dt, float softening, cudaStream_t stream) {
    if (n <= 0) return;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float4);
    const auto copy = [&](float4* to, const float4* from) {
        if (to != from) CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
    };
    const auto kick_drift = [&](float kick, float drift) {
        const unsigned blocks = (static_cast<unsigned>(n) + 127) / 128;
        kick_drift_kernel<<<blocks, 128, 0, stream>>>(bodies_after, velocity_after, acceleration, n, kick,
                                                      drift);
        CUDA_CHECK(cudaGetLastError());
    };

    copy(bodies_after, bodies);
    copy(velocity_after, velocity);
    accelerate(bodies_after, acceleration, n, softening, stream);
    for (int step = 0; step < steps; ++step) {
        // The half kick that ends a step and the half kick that begins the next use the same acceleration.
        kick_drift(step == 0 ? dt / 2 : dt, dt);
        accelerate(bodies_after, acceleration, n, softening, stream);
    }
    if (steps > 0) kick_drift(dt / 2, 0);
}
// [leapfrog]

}  // namespace nbody
