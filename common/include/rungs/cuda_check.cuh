#pragma once
// CUDA_CHECK(call) turns the status of a CUDA call into an exception: one broken rung then fails one test,
// not the whole run. Works the same with nvcc and with the CPU backend; C++17, light enough for every rung.

#include <cuda_runtime.h>

#include "rungs/throw_cuda_error.hpp"

namespace rungs {

/// The function behind CUDA_CHECK.
/// @throws CudaError (rungs/cuda_error.hpp) unless `error` is cudaSuccess.
inline void check_cuda(cudaError_t error, const char* expression, const char* file, int line) {
    if (error == cudaSuccess) return;
    // CUDA keeps the error until someone asks: left there, the next launch's check would be blamed for it.
    static_cast<void>(cudaGetLastError());
    // With no driver at all CUDA says that the driver is too old; version 0 tells the two apart.
    int version = 1;
    if (error == cudaErrorInsufficientDriver) static_cast<void>(cudaDriverGetVersion(&version));
    throw_cuda_error(static_cast<int>(error), cudaGetErrorName(error),
                     version == 0 ? "no NVIDIA driver on this machine" : cudaGetErrorString(error),
                     expression, file, line);
}

}  // namespace rungs

/// Calls a CUDA function and throws rungs::CudaError unless it returns cudaSuccess.
/// After a launch: `CUDA_CHECK(cudaGetLastError());`
#define CUDA_CHECK(...) ::rungs::check_cuda((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
