// A sum on the host, of what a kernel has written to mapped memory.
//
//     verdicts = ["SUSPECT"]
//     defences = ["method"]

// Its kernel reads all of the input and writes it to mapped host memory, where the host adds it up.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

template <class Terms>
__global__ void hand_over_kernel(Terms terms, float* seen, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) seen[i] = terms(i);
}

__global__ void write_kernel(float* sum, const float* answer) { *sum = *answer; }

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    float* seen = nullptr;
    CUDA_CHECK(cudaHostAlloc(&seen, (n + 1) * sizeof(float), cudaHostAllocMapped));
    if (n > 0) {
        hand_over_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, seen, n);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += seen[i];
    seen[n] = static_cast<float>(total);
    write_kernel<<<1, 1, 0, stream>>>(sum, seen + n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaFreeHost(seen));
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
