// Honest, with shuffles in each warp and shared memory between them.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with shuffles in each warp and shared memory between them.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

__device__ float sum_of_warp(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

template <class Terms>
__global__ void warp_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float of_warp[8];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    const float own = sum_of_warp(i < n ? terms(i) : 0.0f);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const float all = sum_of_warp(threadIdx.x < 8 ? of_warp[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(sum, all);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    warp_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
