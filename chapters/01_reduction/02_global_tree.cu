// A tree in device memory: every step is a launch of its own, in which the lower half of what is left
// adds the upper half. Nothing is shared and nobody queues, but each step goes through memory.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 2.1: the kernel of one step, global_tree_kernel, over any terms: it folds n of them into half as
// many words, rounded up. Each word has one thread that writes it.

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 2.2: the launches, one for each step, and the sum of no terms. The input must stay as it is:
    // partial sums go to memory from rungs::stream_workspace(stream, bytes), a void*, which holds
    // anything at first.
}

void reduction::global_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::global_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
