// Honest, with a grid-stride loop of few blocks.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with a grid-stride loop of few blocks.

#include <algorithm>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned threads = 128;

template <class Terms>
__global__ void __launch_bounds__(threads) stride_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[threads];
    float own = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < n; i += std::size_t{gridDim.x} * threads)
        own += terms(i);
    partial[threadIdx.x] = own;
    unsigned stride = threads / 2;
    while (stride > 0) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
        stride >>= 1;
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>(std::min<std::size_t>((n + threads - 1) / threads, 64));
    stride_kernel<<<blocks, threads, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
