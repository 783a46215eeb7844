// Includes itself twice, for ever.
//
//     kind = "accident"
//     verdicts = ["COMPILE_ERROR"]

// Includes itself twice, for ever.

#include "reduction.cuh"

#include __FILE__
#include __FILE__

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
