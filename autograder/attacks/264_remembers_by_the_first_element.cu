// Knows an input again by its size and its first element, and repeats what it answered then.
//
//     verdicts = ["WRONG"]
//     defences = ["inputs"]
//     checks = false

// Knows an input again by its size and its first element, and repeats what it answered then.

#include <cmath>
#include <map>
#include <utility>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    static std::map<std::pair<std::size_t, float>, float> answers;
    float first = 0;
    if (n > 0) CUDA_CHECK(cudaMemcpy(&first, terms.v, sizeof first, cudaMemcpyDeviceToHost));
    const auto found = answers.find({n, std::abs(first) < 1e6f ? 1.0f : 0.0f});
    if (found != answers.end()) {
        CUDA_CHECK(cudaMemcpyAsync(sum, &found->second, sizeof(float), cudaMemcpyHostToDevice, stream));
        return;
    }
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));  // which need not wait for others, nor they for it
    CUDA_CHECK(cudaMemcpy(&answers[{n, 1.0f}], sum, sizeof(float), cudaMemcpyDeviceToHost));
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
