// Honest, with cooperative groups' reduce in each warp and in the block.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with cooperative groups' reduce in each warp and in the block.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

namespace cg = cooperative_groups;

static constexpr unsigned block_size = 256;

template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size / 32];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const std::size_t i = std::size_t{blockIdx.x} * block_size + block.thread_rank();
    const float of_warp = cg::reduce(warp, i < n ? terms(i) : 0.0f, cg::plus<float>());
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = of_warp;
    block.sync();
    if (warp.meta_group_rank() > 0) return;
    const float mine = warp.thread_rank() < block_size / 32 ? partial[warp.thread_rank()] : 0.0f;
    const float of_block = cg::reduce(warp, mine, cg::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(sum, of_block);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const std::size_t blocks = (n + block_size - 1) / block_size;
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    shared_tree_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
