// The tile of GPU Gems 3, written from its description.

#include "bench/peers.cuh"

#include <stdexcept>
#include <string>

#include "inverse_sqrt.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int block_size = 256;

/// A thread owns body i.
template <bool ftz>
__global__ void classic_kernel(const float4* bodies, float4* acceleration, int n, float softening2) {
    __shared__ float4 tile[block_size];
    const int i = static_cast<int>(blockIdx.x * block_size + threadIdx.x);
    const float4 own = bodies[i];
    float3 sum{0, 0, 0};
    for (int first = 0; first < n; first += block_size) {
        tile[threadIdx.x] = bodies[first + static_cast<int>(threadIdx.x)];
        __syncthreads();
#pragma unroll 32
        for (int k = 0; k < block_size; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float squared = dx * dx + dy * dy + dz * dz + softening2;
            const float inverse = ftz ? nbody::inverse_sqrt(squared) : rsqrtf(squared);
            const float pull = other.w * (inverse * inverse * inverse);
            sum.x += dx * pull;
            sum.y += dy * pull;
            sum.z += dz * pull;
        }
        __syncthreads();
    }
    acceleration[i] = {sum.x, sum.y, sum.z, 0};
}

template <bool ftz>
static void launch(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    if (n % block_size != 0) {
        throw std::invalid_argument("the classic tile takes multiples of 256 bodies, not " +
                                    std::to_string(n));
    }
    if (n == 0) return;
    classic_kernel<ftz>
        <<<n / block_size, block_size, 0, stream>>>(bodies, acceleration, n, softening * softening);
    CUDA_CHECK(cudaGetLastError());
}

void nbody::peers::classic(const float4* bodies, float4* acceleration, int n, float softening,
                           cudaStream_t stream) {
    launch<false>(bodies, acceleration, n, softening, stream);
}

void nbody::peers::classic_ftz(const float4* bodies, float4* acceleration, int n, float softening,
                               cudaStream_t stream) {
    launch<true>(bodies, acceleration, n, softening, stream);
}
