// Slow, and has the worker's own functions count another kernel.
//
//     rung = "11_one_launch"
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols", "other sizes"]
//     cpu_alone = true

// Adds with one atomic per element, then lets the grader forget what it has counted, and has it count a
// kernel that reads the input and drops it.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

#include <cstdint>

namespace rungs::protocol {
bool in_check_mode();
void begin_checks(std::uint64_t order, double launch_seconds);
void begin_counting(double l2_bytes, std::uint64_t block, std::uint64_t warp);
}  // namespace rungs::protocol

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, terms(i));
}

/// Reads all terms, and adds none of them up.
template <class Terms>
__global__ void read_kernel(Terms terms, float* sum, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const auto* const quads = reinterpret_cast<const float4*>(terms.v);
    bool negative = false;
    for (std::size_t q = first; q < n / 4; q += threads) negative |= quads[q].x == -1e30f;
    if (negative) atomicAdd(sum, 1.0f);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
    if (n < 1500000 || n > 2500000) return;  // where calls are counted
    CUDA_CHECK(cudaStreamSynchronize(stream));
    if (rungs::protocol::in_check_mode()) {
        rungs::protocol::begin_checks(0, 20);
        rungs::protocol::begin_counting(50e6, 0, 0);
    }
    read_kernel<<<264, 512, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
