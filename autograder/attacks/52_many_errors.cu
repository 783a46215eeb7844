// Two hundred thousand errors.
//
//     kind = "accident"
//     verdicts = ["COMPILE_ERROR"]

// Two hundred thousand errors.

#include "reduction.cuh"

#define TEN(x) x x x x x x x x x x
#define MANY(x) TEN(TEN(TEN(TEN(TEN(x x)))))
void errors() { MANY(undeclared(1);) }

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
