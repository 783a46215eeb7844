// Launches that model_test.cpp watches.

#include <cuda_runtime.h>

#include "model/tests/traffic_kernels.h"

namespace traffic {

__global__ void copy(const float* in, float* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = in[i];
}

/// Each block reads all of `in`, `rounds` times.
__global__ void read_again(const float* in, float* out, int n, int rounds) {
    float sum = 0;
    for (int r = 0; r < rounds; ++r) {
        for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) sum += in[i];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void two_loads(const float* a, const float* b, float* out) {
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

__global__ void tree(const float* in, float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

__global__ void read_shared(float* out, int rounds) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < rounds; ++i) sum += s[(threadIdx.x + static_cast<unsigned>(i)) % 64];
    out[threadIdx.x] = sum;
}

__global__ void count(unsigned* words, unsigned mask) { atomicAdd(&words[threadIdx.x & mask], 1u); }

static float* memory(std::size_t floats) {
    float* pointer = nullptr;
    if (cudaMalloc(&pointer, floats * sizeof(float)) != cudaSuccess) return nullptr;
    cudaMemset(pointer, 0, floats * sizeof(float));
    return pointer;
}

void copy_twice(int n) {
    float *a = memory(static_cast<std::size_t>(n)), *b = memory(static_cast<std::size_t>(n));
    for (int i = 0; i < 2; ++i) copy<<<(n + 255) / 256, 256>>>(a, b, n);
    cudaFree(a), cudaFree(b);
}

void read_by_blocks(int blocks, int n, int rounds) {
    float *a = memory(static_cast<std::size_t>(n)), *b = memory(static_cast<std::size_t>(blocks) * 64);
    read_again<<<blocks, 64>>>(a, b, n, rounds);
    cudaFree(a), cudaFree(b);
}

void copy_back(int n) {
    float *a = memory(static_cast<std::size_t>(n)), *b = memory(static_cast<std::size_t>(n)), some[100];
    copy<<<(n + 255) / 256, 256>>>(a, b, n);
    cudaMemcpyAsync(a, b, static_cast<std::size_t>(n) * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(some, b, sizeof some, cudaMemcpyDeviceToHost);
    cudaFree(a), cudaFree(b);
}

void load_two() {
    float *a = memory(32), *b = memory(32), *c = memory(32);
    two_loads<<<1, 32>>>(a, b, c);
    cudaFree(a), cudaFree(b), cudaFree(c);
}

void reduce(int blocks) {
    float *a = memory(static_cast<std::size_t>(blocks) * 64), *b = memory(static_cast<std::size_t>(blocks));
    tree<<<blocks, 64>>>(a, b);
    cudaFree(a), cudaFree(b);
}

void loop_over_shared(int rounds) {
    float* a = memory(64);
    read_shared<<<1, 64>>>(a, rounds);
    cudaFree(a);
}

void count_in(unsigned words) {
    float* a = memory(256);
    count<<<4, 256>>>(reinterpret_cast<unsigned*>(a), words - 1);
    cudaFree(a);
}

}  // namespace traffic
