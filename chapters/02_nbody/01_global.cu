// A thread a body, and every thread reads every body from device memory. Right, and bound by the loads.

#include "integrator.cuh"
#include "nbody.cuh"
#include "rungs/cuda_check.cuh"

/// A thread owns body i and adds up the pull of all bodies on it, its own included: that one is 0.
__global__ void global_kernel(const float4* bodies, float4* acceleration, int n, float softening) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;  // the last block may reach past the end
    const float4 own = bodies[i];

    // [interaction]
    float3 sum{0, 0, 0};
    for (int j = 0; j < n; ++j) {
        const float4 other = bodies[j];
        const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        const float squared = dx * dx + dy * dy + dz * dz + softening * softening;
        const float inverse = rsqrtf(squared);
        const float pull = other.w * inverse * inverse * inverse;
        sum.x += pull * dx;
        sum.y += pull * dy;
        sum.z += pull * dz;
    }
    // [interaction]
    acceleration[i] = {sum.x, sum.y, sum.z, 0};
}

void nbody::global(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    if (n <= 0) return;  // a grid of no blocks is an error
    constexpr unsigned block = 256;
    const unsigned blocks = (static_cast<unsigned>(n) + block - 1) / block;
    global_kernel<<<blocks, block, 0, stream>>>(bodies, acceleration, n, softening);
    CUDA_CHECK(cudaGetLastError());
}

void nbody::global(const float4* bodies, const float4* velocity, float4* bodies_after, float4* velocity_after,
                   float4* acceleration, int n, int steps, float dt, float softening, cudaStream_t stream) {
    leapfrog(global, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
