// An uninitialised array of a terabyte: small on disk, not in memory.

#include "reduction.cuh"

char huge[1UL << 40];

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
