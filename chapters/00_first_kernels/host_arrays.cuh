#pragma once
/// @file
/// Arrays in host memory, such as a main() of your own would have.

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "rungs/cuda_check.cuh"

namespace first_kernels {

/// Calls program(host_x, host_y) with two arrays of n floats in host memory: host_x holds what x holds, and
/// what the program leaves in host_y goes to y. Waits for all that, and for what is in `stream` before it.
template <class Program>
void with_host_arrays(const float* x, float* y, std::size_t n, cudaStream_t stream, Program program) {
    std::vector<float> host_x(n), host_y(n, std::numeric_limits<float>::quiet_NaN());
    if (n == 0) return;
    const std::size_t bytes = n * sizeof(float);
    CUDA_CHECK(cudaMemcpyAsync(host_x.data(), x, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    program(static_cast<const float*>(host_x.data()), host_y.data());
    CUDA_CHECK(cudaMemcpyAsync(y, host_y.data(), bytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace first_kernels
