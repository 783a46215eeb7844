// An array of structures becomes a structure of arrays.

#include "first_kernels.cuh"
#include "rungs/cuda_check.cuh"

// TODO 9.1 (about 9 lines): the kernel, split_kernel, with one thread for every
// first_kernels::Particle.
// BEGIN SOLUTION
static constexpr unsigned block_size = 256;

/// A thread owns one particle.
__global__ void split_kernel(const first_kernels::Particle* particles, float* position, float* velocity,
                             float* mass, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    position[i] = particles[i].position;
    velocity[i] = particles[i].velocity;
    mass[i] = particles[i].mass;
}
// END SOLUTION

void first_kernels::split(const Particle* particles, float* position, float* velocity, float* mass,
                          std::size_t n, cudaStream_t stream) {
    // TODO 9.2 (about 4 lines): the launch.
    // BEGIN SOLUTION
    if (n == 0) return;
    const std::size_t blocks = (n + block_size - 1) / block_size;
    split_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(particles, position, velocity,
                                                                           mass, n);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
