// A sum on the host beside a kernel that only writes it.
//
//     rung = "11_one_launch"
//     verdicts = ["SLOW", "SUSPECT"]
//     max_share = 0.572
//     defences = ["copies", "agreement", "floor", "method"]

// The host adds up a copy, and one thread writes the sum.

#include <numeric>
#include <vector>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

__global__ void write_kernel(float* sum, float answer) { *sum = answer; }

/// A copy of device memory.
static std::vector<float> taken(const float* from, std::size_t n, cudaStream_t stream) {
    std::vector<float> values(n);
    CUDA_CHECK(cudaMemcpyAsync(values.data(), from, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return values;
}

static void write(double total, float* sum, cudaStream_t stream) {
    write_kernel<<<1, 1, 0, stream>>>(sum, static_cast<float>(total));
    CUDA_CHECK(cudaGetLastError());
}

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    const std::vector<float> a = taken(v, n, stream);
    write(std::accumulate(a.begin(), a.end(), 0.0), sum, stream);
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    const std::vector<float> a = taken(v, n, stream), b = taken(w, n, stream);
    write(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), sum, stream);
}
