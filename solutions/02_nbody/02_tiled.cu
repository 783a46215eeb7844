// All threads of a block need the same bodies. So a block fetches a tile of them into shared memory, and
// every thread reads the tile from there.

#include "integrator.cuh"
#include "nbody.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int block_size = 256;

static __device__ void add_pull(const float4& own, const float4& other, float softening, float3& sum) {
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float squared = dx * dx + dy * dy + dz * dz + softening * softening;
    const float inverse = rsqrtf(squared);
    const float pull = other.w * inverse * inverse * inverse;
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
}

/// A thread owns body i. A block goes through all bodies, a tile of `block_size` after the other.
__global__ void tiled_kernel(const float4* bodies, float4* acceleration, int n, float softening) {
    __shared__ float4 tile[block_size];
    const int i = static_cast<int>(blockIdx.x * block_size + threadIdx.x);
    const float4 own =
        i < n ? bodies[i] : float4{0, 0, 0, 0};  // no early return: every thread has a load to do

    float3 sum{0, 0, 0};
    for (int first = 0; first < n; first += block_size) {
        const int j = first + static_cast<int>(threadIdx.x);
        // TODO 2.1 (about 4 lines): the thread brings body j into the tile, or a body without mass if j is past
        // the end; then it adds the pull of the whole tile. Two barriers: where?
        // BEGIN SOLUTION
        //~ tile[threadIdx.x] = {0, 0, 0, 0};
        //~ if (j < n) add_pull(own, tile[threadIdx.x], softening, sum);
        __syncthreads();  // the tile before is used up
        tile[threadIdx.x] = j < n ? bodies[j] : float4{0, 0, 0, 0};
        __syncthreads();  // the tile is complete
        for (int k = 0; k < block_size; ++k) add_pull(own, tile[k], softening, sum);
        // END SOLUTION
    }
    if (i < n) acceleration[i] = {sum.x, sum.y, sum.z, 0};
}

void nbody::tiled(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    if (n <= 0) return;
    const unsigned blocks = (static_cast<unsigned>(n) + block_size - 1) / block_size;
    tiled_kernel<<<blocks, block_size, 0, stream>>>(bodies, acceleration, n, softening);
    CUDA_CHECK(cudaGetLastError());
}

void nbody::tiled(const float4* bodies, const float4* velocity, float4* bodies_after, float4* velocity_after,
                  float4* acceleration, int n, int steps, float dt, float softening, cudaStream_t stream) {
    leapfrog(tiled, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
