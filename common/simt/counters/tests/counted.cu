// Kernels whose counts counters_test.cpp knows from the definition. One warp each, unless they say otherwise.
#include "counters/tests/counted.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

// ---- Addresses --------------------------------------------------------------------------------------------

__global__ void stride(const float* in, float* out, int n) { out[threadIdx.x] = in[n * threadIdx.x]; }

__global__ void shift(const float* in, float* out, int n) { out[threadIdx.x] = in[threadIdx.x + n]; }

__global__ void reverse(const float* in, float* out, int) { out[threadIdx.x] = in[31 - threadIdx.x]; }

__global__ void scatter(const float* in, float* out, int) { out[37 * threadIdx.x % 256] = in[threadIdx.x]; }

__global__ void vectors(const float4* in, float4* out, int) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void bytes(const unsigned char* in, unsigned char* out, int) {
    out[threadIdx.x] = static_cast<unsigned char>(in[threadIdx.x] + 1);
}

struct Triple {
    float x, y, z;
};
__global__ void structures(const Triple* in, float* out, int) {
    out[threadIdx.x] = in[threadIdx.x].x + in[threadIdx.x].y * in[threadIdx.x].z;
}

// Blocks of 16 x 16.
__global__ void rows(const float* in, float* out, int) {
    out[threadIdx.y * 16 + threadIdx.x] = in[threadIdx.x * 16 + threadIdx.y];
}

// One instruction reads two arrays.
__global__ void selected(const float* a, const float* b, float* out) {
    const float* p = threadIdx.x % 2 ? a : b;
    out[threadIdx.x] = p[threadIdx.x];
}

// ---- Branches and loops -----------------------------------------------------------------------------------

__global__ void half(const float* in, float* out, int n) {
    if (threadIdx.x < static_cast<unsigned>(n)) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void odd(const float* in, float* out, int) {
    if (threadIdx.x % 2) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void early_return(const float* in, float* out, int n) {
    out[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x >= static_cast<unsigned>(n)) return;
    out[threadIdx.x + 32] = in[threadIdx.x + 32];
}

// Each lane in an iteration of its own.
__global__ void by_turns(const float* in, float* out, int) {
    float v = 0;
    for (unsigned k = 0; k < 32; ++k)
        if (k == threadIdx.x) v = in[threadIdx.x];
    out[threadIdx.x] = v;
}

__global__ void triangle(const float* in, float* out, int) {
    float v = 0;
    for (unsigned k = 0; k < threadIdx.x; ++k) v += in[k];
    out[threadIdx.x] = v;
}

__global__ void nested(const float* in, float* out, int) {
    float v = 0;
    for (unsigned j = 0; j < 4; ++j)
        for (unsigned i = 0; i <= threadIdx.x % 4; ++i) v += in[(4 * j + i) * 32 + threadIdx.x];
    out[threadIdx.x] = v;
}

__global__ void skipping(const float* in, float* out, int) {
    float v = 0;
    for (unsigned k = 0; k < 8; ++k) {
        if ((k + threadIdx.x) % 2) continue;
        v += in[32 * k + threadIdx.x];
    }
    out[threadIdx.x] = v;
}

__global__ void leaving(const float* in, float* out, int) {
    float v = 0;
    for (unsigned k = 0; k < 64; ++k) {
        if (k == threadIdx.x) break;
        v += in[k];
    }
    out[threadIdx.x] = v + in[threadIdx.x + 64];
}

__global__ void grid_stride(const float* in, float* out, int n) {
    float v = 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += 32) v += in[i];
    out[threadIdx.x] = v;
}

__global__ void four_ways(const float* in, float* out, int) {
    float v = 0;
    switch (threadIdx.x % 4) {
        case 0:
            v = in[threadIdx.x] * 2;
            break;
        case 1:
            v = in[threadIdx.x + 32] + 1;
            break;
        case 2:
            v = in[threadIdx.x + 64] - 1;
            break;
        default:
            v = in[threadIdx.x + 96] / 3;
    }
    out[threadIdx.x] = v;
}

__device__ __noinline__ float load(const float* p) { return *p; }

__global__ void two_calls(const float* in, float* out, int) {
    float v;
    if (threadIdx.x < 16)
        v = load(in + threadIdx.x) + 1;
    else
        v = load(in + 32 + threadIdx.x) * 2;
    out[threadIdx.x] = v;
}

__device__ __noinline__ float deeper(const float* in, unsigned depth) {
    const float v = in[32 * depth + threadIdx.x];
    return depth == 0 ? v : v + deeper(in, depth - 1);
}
// Lanes call to depths 0, 1 and 2.
__global__ void recursion(const float* in, float* out, int) {
    out[threadIdx.x] = deeper(in, threadIdx.x % 3);
}

// Lanes of a warp part, synchronise in parts, and meet again.
__global__ void partial_sync(const float* in, float* out, int) {
    float v = 0;
    if (threadIdx.x < 16) {
        v = in[threadIdx.x];
        __syncwarp(0x0000ffffu);
        v += in[threadIdx.x + 64];
    } else {
        v = in[threadIdx.x + 128];
    }
    __syncwarp();
    out[threadIdx.x] = v + in[threadIdx.x + 192];
}

// Divergence in a loop with barriers. Two warps.
__global__ void barrier_loop(const float* in, float* out, int) {
    __shared__ float turn[64];
    float v = 0;
    for (unsigned k = 0; k < 4; ++k) {
        turn[threadIdx.x] = v;
        __syncthreads();
        if (threadIdx.x % 4 == k) v += in[threadIdx.x] + turn[63 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = v;
}

// ---- Shared memory ----------------------------------------------------------------------------------------

template <int pitch>
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][pitch];
    for (unsigned row = threadIdx.y; row < 32; row += 8) tile[row][threadIdx.x] = in[32 * row + threadIdx.x];
    __syncthreads();
    for (unsigned row = threadIdx.y; row < 32; row += 8) out[32 * row + threadIdx.x] = tile[threadIdx.x][row];
}

// Reads s[n * t % 64].
template <class T>
__global__ void shared_stride(T* out, int n) {
    __shared__ T s[64];
    s[threadIdx.x] = out[threadIdx.x];
    s[threadIdx.x + 32] = out[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = s[n * threadIdx.x % 64];
}

__global__ void vector_swap(float4* out, int) {
    __shared__ float4 s[32];
    s[threadIdx.x] = out[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}

/// A structure of the program's own that a thread moves as one vector.
template <class T>
struct alignas(16) Pack {
    static constexpr int size = 16 / sizeof(T);
    T of[size];
};

template <class T>
__global__ void packs(Pack<T>* out, int) {
    __shared__ Pack<T> s[32];
    s[threadIdx.x] = Pack<T>{};
    s[threadIdx.x] = out[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x];
}

// 64 threads.
__global__ void tree(const float* in, float* out, int) {
    __shared__ float partial[64];
    partial[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned n = 32; n > 0; n /= 2) {
        if (threadIdx.x < n) partial[threadIdx.x] += partial[threadIdx.x + n];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = partial[0];
}

__global__ void shuffles(const float* in, float* out, int) {
    float v = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (__any_sync(0xffffffffu, v > 1e30f)) v = 0;
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}

// ---- Atomics, constants, textures -------------------------------------------------------------------------

template <class T>
__global__ void atomics(T* out, int n) {
    atomicAdd(out + (n == 0 ? 0 : threadIdx.x % n), T(1));
}

__global__ void histogram(const int* in, int* out, int n) {
    __shared__ int bins[32];
    bins[threadIdx.x] = 0;
    __syncwarp();
    atomicAdd(&bins[in[threadIdx.x] % n], 1);
    __syncwarp();
    out[threadIdx.x] = bins[threadIdx.x];
}

__constant__ float coefficients[32];
__global__ void constants(float* out, int n) { out[threadIdx.x] = coefficients[n * threadIdx.x]; }

__global__ void fetches(cudaTextureObject_t in, float* out, int n) {
    out[threadIdx.x] = tex1Dfetch<float>(in, n * static_cast<int>(threadIdx.x));
}

// One thread, `n` times.
__global__ void long_walk(const float* in, float* out, int n) {
    float v = 0;
    for (int k = 0; k < n; ++k) v += in[k % 64];
    *out = v;
}

// Every lane reads everything; the second half is written twice.
__global__ void again(const float* in, float* out, int n) {
    float v = 0;
    for (int k = 0; k < n; ++k) v += in[k];
    out[n / 2 + static_cast<int>(threadIdx.x) % (n / 2)] = v;
}

// ---- Launches ---------------------------------------------------------------------------------------------

template <class T>
void launch(void (*kernel)(const T*, T*, int), int n, dim3 block = 32) {
    Device<T> in("in", 2048, T{}), out("out", 2048);
    kernel<<<1, block>>>(in.get(), out.get(), n);
}
template <class T>
void launch_out(void (*kernel)(T*, int), int n) {
    Device<T> out("out", 256, T{});
    kernel<<<1, 32>>>(out.get(), n);
}

void run_fetches(int n) {
    Device<float> in("in", 1024, 1.0f), out("out", 32);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = in.get();
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 1024 * sizeof(float);
    cudaTextureDesc description{};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    fetches<<<1, 32>>>(texture, out.get(), n);
    cudaDestroyTextureObject(texture);
}

/// A copy to the host, one that stays on the device, one into managed memory; then a kernel reads an array of
/// the device's and writes to managed or pinned memory, or, n = 2, to the device's.
void run_to_host(int n) {
    Device<float> in("in", 2048, 1.0f), out("out", 2048);
    float *managed = nullptr, *pinned = nullptr;
    cudaMallocManaged(&managed, 2048 * sizeof(float));
    cudaMallocHost(&pinned, 2048 * sizeof(float));
    float value = 0;
    cudaMemcpy(&value, in.get(), sizeof value, cudaMemcpyDeviceToHost);
    cudaMemcpy(out.get(), in.get(), 64, cudaMemcpyDeviceToDevice);
    cudaMemcpy(managed, in.get(), 128, cudaMemcpyDefault);
    cudaMemcpy(out.get(), pinned, 256, cudaMemcpyHostToDevice);
    stride<<<1, 32>>>(in.get(), n == 0 ? managed : n == 1 ? pinned : out.get(), 1);
    cudaDeviceSynchronize();
    cudaFree(managed);
    cudaFreeHost(pinned);
}

}  // namespace

void counted::run(const char* name, int n) {
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("stride")) return launch(stride, n);
    if (is("shift")) return launch(shift, n);
    if (is("shift 40")) return launch(shift, n, 40);
    if (is("reverse")) return launch(reverse, n);
    if (is("scatter")) return launch(scatter, n);
    if (is("vectors")) return launch(vectors, n);
    if (is("bytes")) return launch(bytes, n);
    if (is("rows")) return launch(rows, n, dim3(16, 16));
    if (is("half")) return launch(half, n);
    if (is("odd")) return launch(odd, n);
    if (is("early_return")) return launch(early_return, n);
    if (is("by_turns")) return launch(by_turns, n);
    if (is("triangle")) return launch(triangle, n);
    if (is("nested")) return launch(nested, n);
    if (is("skipping")) return launch(skipping, n);
    if (is("leaving")) return launch(leaving, n);
    if (is("grid_stride")) return launch(grid_stride, n);
    if (is("four_ways")) return launch(four_ways, n);
    if (is("two_calls")) return launch(two_calls, n);
    if (is("recursion")) return launch(recursion, n);
    if (is("partial_sync")) return launch(partial_sync, n);
    if (is("barrier_loop")) return launch(barrier_loop, n, 64);
    if (is("tree")) return launch(tree, n, 64);
    if (is("shuffles")) return launch(shuffles, n, 64);
    if (is("long_walk")) return launch(long_walk, n, 1);
    if (is("again")) return launch(again, n);
    if (is("histogram")) return launch(histogram, n);
    if (is("shared_stride float")) return launch_out(shared_stride<float>, n);
    if (is("shared_stride double")) return launch_out(shared_stride<double>, n);
    if (is("shared_stride float4")) return launch_out(shared_stride<float4>, n);
    if (is("vector_swap")) return launch_out(vector_swap, n);
    if (is("packs float")) return launch_out(packs<float>, n);
    if (is("packs double")) return launch_out(packs<double>, n);
    if (is("atomics int")) return launch_out(atomics<int>, n);
    if (is("atomics float")) return launch_out(atomics<float>, n);
    if (is("constants")) return launch_out(constants, n);
    if (is("fetches")) return run_fetches(n);
    if (is("to_host")) return run_to_host(n);
    if (is("structures")) {
        Device<Triple> in("in", 32, Triple{1, 2, 3});
        Device<float> out("out", 32);
        structures<<<1, 32>>>(in.get(), out.get(), n);
        return;
    }
    if (is("selected")) {
        Device<float> a("a", 32, 1.0f), b("b", 32, 2.0f), out("out", 32);
        selected<<<1, 32>>>(a.get(), b.get(), out.get());
        return;
    }
    if (is("transpose")) {
        Device<float> in("in", 1024, 1.0f), out("out", 1024);
        if (n == 33)
            transpose<33><<<1, dim3(32, 8)>>>(in.get(), out.get());
        else
            transpose<32><<<1, dim3(32, 8)>>>(in.get(), out.get());
        return;
    }
    std::fprintf(stderr, "no launch is called %s\n", name);
    std::abort();
}
