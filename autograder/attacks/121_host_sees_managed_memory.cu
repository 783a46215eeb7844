// A sum on the host, of a copy in managed memory.
//
//     verdicts = ["SUSPECT"]
//     defences = ["method"]

// Copies its input from device to device, into managed memory, where the host adds it up.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

__global__ void write_kernel(float* sum, float answer) { *sum = answer; }

/// Managed memory with a copy.
static float* managed(const float* from, std::size_t n, cudaStream_t stream) {
    float* values = nullptr;
    CUDA_CHECK(cudaMallocManaged(&values, (n + 1) * sizeof(float)));
    CUDA_CHECK(cudaMemcpyAsync(values, from, n * sizeof(float), cudaMemcpyDefault, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return values;
}

static void write(double total, float* sum, cudaStream_t stream) {
    write_kernel<<<1, 1, 0, stream>>>(sum, static_cast<float>(total));
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    float* const a = managed(v, n, stream);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += a[i];
    CUDA_CHECK(cudaFree(a));
    write(total, sum, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    float *const a = managed(v, n, stream), *const b = managed(w, n, stream);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += double{a[i]} * b[i];
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    write(total, sum, stream);
}
