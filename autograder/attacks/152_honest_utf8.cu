// Honest, with comments and texts in UTF-8.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with comments and texts in UTF-8.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

// Ein Baum, gefaltet von hinten: Σ vᵢ über alle i, für jedes n ≥ 0. Größe × Zahl: 256 → 1. 共有メモリ, общая
// память, 🌳.

static constexpr unsigned block_size = 256;

/// Ein Block besitzt 256 Terme, ein Thread einen: naïve, aber richtig.
template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];  // „geteilt“
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();  // ← alle, auch die müßigen
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    [[maybe_unused]] static const char* const name = "Größe";
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
    shared_tree_kernel<<<blocks, block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
