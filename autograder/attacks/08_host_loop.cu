// Gets the right answer with a loop on the host and launches no kernel at all.
//
//     verdicts = ["SUSPECT"]
//     defences = ["launches"]
//     checks = false
//     cpu_alone = true

// Gets the right answer with a loop on the host and launches no kernel at all.

#include "reduction.cuh"

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t) {
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += v[i];
    *sum = static_cast<float>(total);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t) {
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += double{v[i]} * w[i];
    *sum = static_cast<float>(total);
}
