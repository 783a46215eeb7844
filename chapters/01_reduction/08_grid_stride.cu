// Few blocks, each with much to do: a thread adds up many terms in a register before the tree begins.
// The tree, its barriers and the atomicAdd are then paid once for thousands of terms instead
// of once for 256.

#include <algorithm>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr std::size_t most_blocks = 2048;  // enough to fill any GPU

// TODO 8.1: the kernel, grid_stride_kernel. In every round, neighbouring
// threads read neighbouring terms.

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 8.2: the launch: as many blocks as n needs, but never more than most_blocks.
}

void reduction::grid_stride(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::grid_stride(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
