#pragma once
// Dynamic shared memory beyond the 48 KiB that a kernel may have without asking. Works the same with nvcc and
// with the CPU backend; C++17, light enough for a rung.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>

#include "rungs/cuda_check.cuh"
#include "rungs/host_lock.hpp"

namespace rungs {
namespace detail {

/// allow_shared_memory() for kernels of any type.
inline void allow_shared_memory(const void* kernel, std::size_t bytes) {
    struct Allowed {
        int device;
        const void* kernel;
        std::size_t bytes;
        Allowed* older;
    };
    static HostMutex mutex;
    static Allowed* newest = nullptr;
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    const HostLock lock(mutex);
    Allowed* allowed = newest;
    while (allowed && (allowed->device != device || allowed->kernel != kernel)) allowed = allowed->older;
    if (!allowed) allowed = newest = new Allowed{device, kernel, 0, newest};
    if (bytes <= allowed->bytes) return;
    int room = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes > static_cast<std::size_t>(room)) {  // CUDA would not say how much it is
        char why[128];
        std::snprintf(why, sizeof why, "%zu bytes of dynamic shared memory for a block, which may have %d",
                      bytes, room);
        throw_cuda_error(static_cast<int>(cudaErrorInvalidValue), cudaGetErrorName(cudaErrorInvalidValue),
                         why, "cudaFuncAttributeMaxDynamicSharedMemorySize", __FILE__, __LINE__);
    }
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    allowed->bytes = bytes;
}

}  // namespace detail

/// Lets `kernel` be launched on the current device with up to `bytes` of dynamic shared memory. The limit
/// belongs to the kernel, not to a launch, and is only ever raised: between this call and the launch, another
/// host thread may ask for less.
/// @throws CudaError when a block cannot have so much beside what the kernel declares itself
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
    detail::allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
}

}  // namespace rungs
