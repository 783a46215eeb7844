// Honest, with a table of strides that the compiler works out.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with a table of strides that the compiler works out.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

struct Strides {
    unsigned of[8];
};

__host__ __device__ constexpr Strides strides() {
    Strides all{};
    for (unsigned step = 0; step < 8; ++step) all.of[step] = 128U >> step;
    return all;
}

template <class Terms>
__global__ void tree_kernel(Terms terms, float* sum, std::size_t n) {
    constexpr Strides all = strides();
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned step = 0; step < 8; ++step) {
        const unsigned stride = all.of[step];
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    tree_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
