#pragma once
// Dynamic shared memory beyond the 48 KiB that a kernel may have without asking. Works the same with nvcc and
// with the CPU backend; C++17, light enough for a rung.

#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "rungs/cuda_check.cuh"

namespace rungs {

/// Lets `kernel` be launched on the current device with up to `bytes` of dynamic shared memory. The limit
/// belongs to the kernel, not to a launch, and is only ever raised: between this call and the launch, another
/// host thread may ask for less.
/// @throws CudaError when a block cannot have so much beside what the kernel declares itself
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
    static std::mutex mutex;
    static std::map<std::pair<int, void (*)(Parameters...)>, std::size_t> allowed;
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    const std::lock_guard<std::mutex> lock(mutex);
    std::size_t& most = allowed[{device, kernel}];
    if (bytes <= most) return;
    int room = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes > static_cast<std::size_t>(room)) {  // CUDA would not say how much it is
        const std::string why = std::to_string(bytes) +
                                " bytes of dynamic shared memory for a block, which may have " +
                                std::to_string(room);
        throw_cuda_error(static_cast<int>(cudaErrorInvalidValue), cudaGetErrorName(cudaErrorInvalidValue),
                         why.c_str(), "cudaFuncAttributeMaxDynamicSharedMemorySize", __FILE__, __LINE__);
    }
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    most = bytes;
}

}  // namespace rungs
