// The kernels of the benchmark, as a user would write them.
#include <cuda_runtime.h>

#include "benchmark/kernels.h"

namespace {

constexpr int block_size = 256;

__global__ void tree_sum_kernel(const float* in, float* out, int n) {
    __shared__ float partial[block_size];
    const int i = blockIdx.x * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = block_size / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__global__ void warp_sum_kernel(const float* in, float* out, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    float v = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) out[i / 32] = v;
}

__global__ void vector_add_kernel(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Enough arithmetic that memory does not limit: shows how blocks spread over cores.
__global__ void iterate_kernel(const float* in, float* out, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    for (int k = 0; k < 40; ++k) x = x * 0.999f + 0.001f;
    out[i] = x;
}

__global__ void tiny_kernel(float* out) { out[blockIdx.x] = 1; }

int blocks(int n) { return (n + block_size - 1) / block_size; }

}  // namespace

void tree_sum(const float* in, float* out, int n) { tree_sum_kernel<<<blocks(n), block_size>>>(in, out, n); }
void warp_sum(const float* in, float* out, int n) { warp_sum_kernel<<<blocks(n), block_size>>>(in, out, n); }
void vector_add(const float* a, const float* b, float* c, int n) {
    vector_add_kernel<<<blocks(n), block_size>>>(a, b, c, n);
}
void iterate(const float* in, float* out, int n) { iterate_kernel<<<blocks(n), block_size>>>(in, out, n); }
void tiny_blocks(float* out, int n) { tiny_kernel<<<n, 1>>>(out); }
