// A sum of a copy on the host, and no kernel at all.
//
//     verdicts = ["SUSPECT"]
//     defences = ["launches", "method"]

// The host adds up a copy and copies the sum back. No kernel is launched.

#include <numeric>
#include <vector>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static std::vector<float> copied(const float* from, std::size_t n, cudaStream_t stream) {
    std::vector<float> values(n);
    CUDA_CHECK(cudaMemcpyAsync(values.data(), from, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return values;
}

static void write(double total, float* sum, cudaStream_t stream) {
    const auto answer = static_cast<float>(total);
    CUDA_CHECK(cudaMemcpyAsync(sum, &answer, sizeof answer, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    const std::vector<float> a = copied(v, n, stream);
    write(std::accumulate(a.begin(), a.end(), 0.0), sum, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    const std::vector<float> a = copied(v, n, stream), b = copied(w, n, stream);
    write(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), sum, stream);
}
