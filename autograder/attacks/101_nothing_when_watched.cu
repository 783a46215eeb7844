// Does nothing in check mode.
//
//     rung = "11_one_launch"
//     verdicts = ["WRONG"]
//     defences = ["checked outputs", "counted outputs", "floor", "method", "every launch"]

// Where malloc is that of check mode, it launches a kernel that does nothing.

#include <dlfcn.h>

#include <cstdlib>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

/// Check mode has a malloc of its own.
static bool is_watched() {
    return dlsym(RTLD_DEFAULT, "malloc") != reinterpret_cast<void*>(&malloc);
}

__global__ void nothing_kernel() {}

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void add(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    if (!is_watched()) return add(terms, sum, n, stream);
    nothing_kernel<<<1, 32, 0, stream>>>();
}

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
