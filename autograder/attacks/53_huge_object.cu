// An initialised array of ten gigabytes.
//
//     kind = "accident"
//     verdicts = ["COMPILE_ERROR"]

// An initialised array of ten gigabytes.

#include "reduction.cuh"

char huge[10UL << 30] = {1};

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
