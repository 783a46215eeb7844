#pragma once
// What the arithmetic of a GPU can do at most, by measurement.

#include <span>

#include "rungs/device_buffer.cuh"
#include "rungs/timing.cuh"

namespace rungs {
namespace detail {

constexpr int fma_chains = 8;  ///< more than a multiply-add has to wait for the one before

/// A thread owns `fma_chains` numbers and does `rounds` multiply-adds on each. None waits for another one's.
static __global__ void fma_kernel(float* never, int rounds, float a, float b) {
    float x[fma_chains];
    for (int i = 0; i < fma_chains; ++i) x[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 16
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < fma_chains; ++i) x[i] = fmaf(x[i], a, b);
    }
    float sum = 0;
    for (int i = 0; i < fma_chains; ++i) sum += x[i];
    if (sum == 12345.0f) never[threadIdx.x] = sum;  // keeps the multiply-adds alive
}

}  // namespace detail

/// Operations a second, two for a fused multiply-add of floats, of a kernel that does nothing else on all
/// multiprocessors of the GPU in use: the fastest of many calls. @throws CudaError
inline double fma_roof() {
    constexpr int threads = 256, rounds = 4096, blocks_each = 32;
    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = blocks_each * multiprocessors;
    DeviceBuffer<float> never(threads);
    const Candidate multiply_add{"", [&](std::size_t, cudaStream_t stream) {
                                     detail::fma_kernel<<<blocks, threads, 0, stream>>>(never.data(), rounds,
                                                                                        0.999f, 0.5f);
                                     CUDA_CHECK(cudaGetLastError());
                                 }};
    const Timing timing = time_interleaved(std::span(&multiply_add, 1)).front();
    return 2e3 * detail::fma_chains * rounds * threads * blocks / timing.quantile(0);
}

}  // namespace rungs
