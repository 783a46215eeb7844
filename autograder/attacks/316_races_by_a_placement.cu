// Right by luck: all threads make a structure at one place, of what a function returns.
//
//     verdicts = ["RACE"]
//     defences = ["findings"]

// Right by luck: all threads make a structure at one place, of what a function returns.

#include <new>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

struct Part {
    float sum, error, terms[4];
};
static __device__ __noinline__ Part part_of(float x) {
    Part part = {};
    part.sum = x;
    return part;
}

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    __syncthreads();
    __shared__ Part latest;
    new (&latest) Part(part_of(static_cast<float>(threadIdx.x)));
    if (threadIdx.x == 0) atomicAdd(sum, partial[0] + (latest.sum > 1e30f ? 1.0f : 0.0f));
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
