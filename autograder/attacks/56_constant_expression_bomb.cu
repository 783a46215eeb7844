// A constant expression with 10^12 steps.
//
//     kind = "accident"
//     verdicts = ["COMPILE_ERROR"]

// A constant expression with 10^12 steps.

#include "reduction.cuh"

constexpr int count() {
    int total = 0;
    for (long i = 0; i < 1000000000000L; ++i) total += static_cast<int>(i & 1);
    return total;
}
static_assert(count() > 0);

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
