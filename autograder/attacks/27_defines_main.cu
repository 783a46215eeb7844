// Brings a main of its own, to run instead of the grader's.
//
//     kind = "accident"
//     verdicts = ["COMPILE_ERROR"]

// Brings a main of its own, to run instead of the grader's.

#include "reduction.cuh"

#include <cstdio>

int main() {
    std::puts("OK 10/10");
    return 0;
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
