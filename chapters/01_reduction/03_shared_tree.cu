// The same tree, one for each block, in shared memory: a barrier separates two steps instead of a
// launch. Blocks of 256 threads; a block adds its sum to *sum with one atomicAdd.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

// TODO 3.1: the kernel, shared_tree_kernel, over any terms.

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 3.2: the launch, for any n.
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
