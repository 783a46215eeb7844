// Has the compiler read a file without end.
//
//     kind = "accident"
//     verdicts = ["COMPILE_ERROR"]

// Has the compiler read a file without end.

#include "reduction.cuh"

#include "/dev/zero"

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
