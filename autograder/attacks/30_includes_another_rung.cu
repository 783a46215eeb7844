// Includes another rung, a given one that is right, and calls it.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["includes", "tool files"]
//     checks = false

// Includes another rung, a given one that is right, and calls it.
#include "../../chapters/01_reduction/04_interleaved.cu"

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    reduction::interleaved(v, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    reduction::interleaved(v, w, sum, n, stream);
}
