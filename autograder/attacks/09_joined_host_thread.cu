// Computes on a host thread, waits for it, and launches no kernel.
//
//     verdicts = ["SUSPECT"]
//     defences = ["launches"]
//     checks = false
//     cpu_alone = true

// Computes on a host thread, waits for it, and launches no kernel.

#include "reduction.cuh"

#include <thread>

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t) {
    std::thread([=] {
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) total += v[i];
        *sum = static_cast<float>(total);
    }).join();
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t) {
    std::thread([=] {
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) total += double{v[i]} * w[i];
        *sum = static_cast<float>(total);
    }).join();
}
