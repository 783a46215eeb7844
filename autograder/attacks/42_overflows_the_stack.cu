// Recurses without end in the launcher.
//
//     kind = "accident"
//     verdicts = ["RUNTIME_SIGNAL"]

// Recurses without end in the launcher.

#include "reduction.cuh"

static int depth(volatile int* from) {
    volatile int here[256] = {*from};
    return depth(here) + here[7];
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    volatile int start = 1;
    if (depth(&start) == 1) cudaGetLastError();
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    volatile int start = 1;
    if (depth(&start) == 1) cudaGetLastError();
}
