// Has the standard library add up, and launches no kernel.
//
//     verdicts = ["SUSPECT"]
//     defences = ["launches"]
//     checks = false
//     cpu_alone = true

// Has the standard library add up, and launches no kernel.

#include <numeric>
#include <vector>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = terms(i);
    *sum = static_cast<float>(std::accumulate(values.begin(), values.end(), 0.0));
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
