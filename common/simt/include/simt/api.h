/// @file
/// The host functions of CUDA 13's runtime API: devices, memory, streams, events, occupancy. Symbols are in
/// simt/symbol.h, graphs in simt/graph.h, textures in simt/texture.h.
///
/// Names, parameters and error codes are CUDA's, so CUDA's documentation holds. A function records the error
/// that it returns as the host thread's last error (see simt/error.h), but for `cudaErrorNotReady`.
/// Differences are listed in docs/cuda-support.md: above all, every asynchronous call has finished its work
/// when it returns.
#pragma once

#include "simt/linkage.h"
#include "simt/structures.h"

#if defined(__cplusplus)
extern "C" {
#endif

// ---- Devices: there is one, with ordinal 0 (see simt/virtual_device.h)
// -------------------------------------------

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
/// `cudaErrorInvalidDevice` for every ordinal but 0.
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* properties);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id);
/// Waits for the device; all work is done already, so this reports: a sticky error, damage to red zones.
cudaError_t cudaDeviceSynchronize(void);
/// Frees all device memory, clears sticky errors and destroys streams and events. Symbols keep their values.
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* config);

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attribute, int source,
                                      int destination);
cudaError_t cudaCtxResetPersistingL2Cache(void);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
/// There is no driver API: `cudaErrorNotSupported`, and a line on standard error.
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult* result SIMT_DEFAULT(0));
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult* result SIMT_DEFAULT(0));
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

// ---- Memory
// ------------------------------------------------------------------------------------------------------

/// `size` bytes of device memory, 512-byte aligned and filled with 0xFF (a NaN in every float): memory that
/// is not written shows. 0 bytes: `cudaSuccess` and a null pointer. More than the
/// device has left: `cudaErrorMemoryAllocation`.
cudaError_t cudaMalloc(void** pointer, size_t size);
/// A null pointer is fine; any other pointer that cudaMalloc() did not return, or that was
/// freed before, is `cudaErrorInvalidValue`.
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent);
/// Pinned host memory, which kernels may use as well.
cudaError_t cudaMallocHost(void** pointer, size_t size);
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
cudaError_t cudaHostGetFlags(unsigned int* flags, void* host);
/// Memory for host and kernels alike.
cudaError_t cudaMallocManaged(void** pointer, size_t size,
                              unsigned int flags SIMT_DEFAULT(cudaMemAttachGlobal));
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemAdvise(const void* pointer, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size, enum cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t count);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length SIMT_DEFAULT(0),
                                     unsigned int flags SIMT_DEFAULT(cudaMemAttachSingle));

/// Copies. `kind` has to agree with what the addresses are, and a range has to lie inside one allocation:
/// otherwise `cudaErrorInvalidValue`; `cudaErrorInvalidMemcpyDirection` if `kind` is none of the five.
cudaError_t cudaMemcpy(void* destination, const void* source, size_t count, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                           size_t count);
cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t count, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* copy);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* copy, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms* copy);
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms* copy,
                                  cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemset(void* pointer, int value, size_t count);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent,
                              cudaStream_t stream SIMT_DEFAULT(0));

/// Stream-ordered allocation. Pools do not hold memory back: what is freed is free.
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc* access, size_t count);
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 struct cudaMemLocation* location);

// Arrays: memory for textures and surfaces, in a layout that only they know.
cudaError_t cudaMallocArray(cudaArray_t* array, const struct cudaChannelFormatDesc* format, size_t width,
                            size_t height SIMT_DEFAULT(0), unsigned int flags SIMT_DEFAULT(0));
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const struct cudaChannelFormatDesc* format,
                              struct cudaExtent extent, unsigned int flags SIMT_DEFAULT(0));
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc* format, struct cudaExtent* extent,
                             unsigned int* flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc* format, cudaArray_const_t array);
cudaError_t cudaMemcpyToArray(cudaArray_t destination, size_t x, size_t y, const void* source, size_t count,
                              enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t source, size_t x, size_t y, size_t count,
                                enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                                size_t source_pitch, size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x, size_t y, const void* source,
                                     size_t source_pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpy2DFromArray(void* destination, size_t destination_pitch, cudaArray_const_t source,
                                  size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, size_t destination_pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t destination_x, size_t destination_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y, size_t width,
                                     size_t height,
                                     enum cudaMemcpyKind kind SIMT_DEFAULT(cudaMemcpyDeviceToDevice));

// ---- Streams and events
// ------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags SIMT_DEFAULT(0));
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data,
                                  unsigned int flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream SIMT_DEFAULT(0),
                                     unsigned int flags SIMT_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
/// Milliseconds between two recorded events. `cudaErrorInvalidResourceHandle` if one was created with
/// `cudaEventDisableTiming` or never recorded.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// ---- Kernels: attributes and occupancy
// ---------------------------------------------------------------------------

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* function);
cudaError_t cudaFuncSetAttribute(const void* function, enum cudaFuncAttribute attribute, int value);
/// Accepted, no effect, as is the next: the CPU has no configurable first-level cache.
cudaError_t cudaFuncSetCacheConfig(const void* function, enum cudaFuncCache config);
cudaError_t cudaFuncSetSharedMemConfig(const void* function, enum cudaSharedMemConfig config);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamic_shared);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int threads, size_t dynamic_shared,
                                                                   unsigned int flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared, const void* function,
                                                      int blocks, int threads);

// The names of CUDA 12 for some of these, which nvcc 13 does not know.
SIMT_REMOVED("cudaDeviceSynchronize()")
static inline cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
SIMT_REMOVED("cudaDeviceReset()")
static inline cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
SIMT_REMOVED("cudaDeviceSetLimit(...)")
static inline cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
SIMT_REMOVED("cudaDeviceGetLimit(...)")
static inline cudaError_t cudaThreadGetLimit(size_t* value, enum cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
SIMT_REMOVED("cudaDeviceSetCacheConfig(...)")
static inline cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}
SIMT_REMOVED("cudaDeviceGetCacheConfig(...)")
static inline cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache* config) {
    return cudaDeviceGetCacheConfig(config);
}

#if defined(__cplusplus)
}  // extern "C"
#endif

SIMT_INLINE struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    return SIMT_VALUE(cudaExtent, width, height, depth);
}
SIMT_INLINE struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return SIMT_VALUE(cudaPos, x, y, z); }
SIMT_INLINE struct cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width,
                                                      size_t height) {
    return SIMT_VALUE(cudaPitchedPtr, pointer, pitch, width, height);
}

#if defined(__cplusplus)

// ---- Forms that C++ has besides
// ------------------------------------------------------------------------------------------

/// The forms of CUDA 12 and before, with a device (or `cudaCpuDeviceId`) for the place.
inline cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(
        pointer, count, advice,
        {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device < 0 ? 0 : device});
}
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, int device,
                                        cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(
        pointer, count,
        {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device < 0 ? 0 : device}, 0,
        stream);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
    return cudaEventCreateWithFlags(event, flags);
}

namespace simt {

/// Address of a kernel, whether it is given typed or as `void*`.
template <class T>
inline const void* function_address(T* function) {
    return reinterpret_cast<const void*>(function);
}

}  // namespace simt

template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
    return cudaFuncGetAttributes(attributes, ::simt::function_address(function));
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(::simt::function_address(function), attribute, value);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
    return cudaFuncSetCacheConfig(::simt::function_address(function), config);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* function, cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig(::simt::function_address(function), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* function, int threads,
                                                                 size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, ::simt::function_address(function), threads,
                                                         dynamic_shared);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T* function,
                                                                          int threads, size_t dynamic_shared,
                                                                          unsigned int flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, ::simt::function_address(function),
                                                                  threads, dynamic_shared, flags);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared, T* function, int blocks,
                                                             int threads) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(dynamic_shared, ::simt::function_address(function),
                                                     blocks, threads);
}
/// The block size with the most resident threads, largest first; `shared_of(block)` is its
/// dynamic shared memory.
template <class F, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* block, T* function,
                                                                  F shared_of, int limit = 0) {
    if (!min_grid || !block) return ::simt::fail(cudaErrorInvalidValue);
    int best_threads = 0, best_blocks = 0, best_block = 0;
    if (limit <= 0 || limit > 1024) limit = 1024;
    // Start from the warp multiple at or above the limit, so that a limit of 100 tries 100, 96, 64 ...
    for (int candidate = (limit + 31) / 32 * 32; candidate > 0; candidate -= 32) {
        const int threads = candidate < limit ? candidate : limit;
        int blocks = 0;
        cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, threads, static_cast<size_t>(shared_of(threads)));
        if (error != cudaSuccess) return error;
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            best_blocks = blocks;
            best_block = threads;
        }
    }
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    *min_grid = best_blocks * multiprocessors;
    *block = best_block;
    return cudaSuccess;
}
template <class F, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* min_grid, int* block,
                                                                           T* function, F shared_of,
                                                                           int limit = 0, unsigned int = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(min_grid, block, function, shared_of, limit);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block, T* function,
                                                      size_t dynamic_shared = 0, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        min_grid, block, function, [dynamic_shared](int) { return dynamic_shared; }, limit);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block, T* function,
                                                               size_t dynamic_shared = 0, int limit = 0,
                                                               unsigned int = 0) {
    return cudaOccupancyMaxPotentialBlockSize(min_grid, block, function, dynamic_shared, limit);
}

// ---- Typed forms of the allocation functions
// ---------------------------------------------------------------------

namespace simt {

/// The text of an allocation's first argument, for messages: "&d_x" of `cudaMalloc(&d_x, n)`.
struct AllocationName {
    explicit AllocationName(const char* arguments) : text(arguments) {}
    const char* text;
};
/// Names the allocation that starts at `pointer` after the argument text `arguments`; a no-op if
/// there is none.
void name_allocation(const void* pointer, const char* arguments);

/// Where an address lies, for messages.
struct Location {
    /// Name of the allocation or symbol, "" if it has none.
    char name[64];
    /// Start and size in bytes of the allocation or symbol.
    const void* begin;
    size_t size;
    /// Bytes from `begin`: negative or at least `size` if the address is beside the allocation.
    long offset;
    enum class Kind : unsigned char { device, managed, pinned, symbol, freed } kind;
};
/// Finds the allocation that holds `address` or is nearest to it (within a guard page). False if there is
/// none. Takes no lock that a crashed kernel could hold.
bool locate(const void* address, Location* location);

/// True if `address` lies in the range that device memory is taken from.
bool is_device_range(const void* address);

/// The address of a pointer to anything, const or volatile too, as the untyped functions want it.
template <class T>
inline void** untyped(T** pointer) {
    return static_cast<void**>(const_cast<void*>(static_cast<const volatile void*>(pointer)));
}

}  // namespace simt

template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t size) {
    return cudaMalloc(::simt::untyped(pointer), size);
}
template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t size, ::simt::AllocationName name) {
    const cudaError_t error = cudaMalloc(::simt::untyped(pointer), size);
    if (error == cudaSuccess) ::simt::name_allocation(*::simt::untyped(pointer), name.text);
    return error;
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
    return cudaMallocManaged(::simt::untyped(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags,
                                     ::simt::AllocationName name) {
    const cudaError_t error = cudaMallocManaged(::simt::untyped(pointer), size, flags);
    if (error == cudaSuccess) ::simt::name_allocation(*::simt::untyped(pointer), name.text);
    return error;
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t size, ::simt::AllocationName name) {
    return cudaMallocManaged(pointer, size, cudaMemAttachGlobal, name);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
    return cudaMallocAsync(::simt::untyped(pointer), size, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(::simt::untyped(pointer), size, pool, stream);
}
inline cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, size, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t size, cudaMemPool_t pool,
                                           cudaStream_t stream) {
    return cudaMallocFromPoolAsync(::simt::untyped(pointer), size, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned int flags = cudaHostAllocDefault) {
    return cudaHostAlloc(::simt::untyped(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned int flags) {
    return cudaHostAlloc(::simt::untyped(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
    return cudaHostGetDevicePointer(::simt::untyped(device), host, flags);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    return cudaMallocPitch(::simt::untyped(pointer), pitch, width, height);
}

// Function-like, so that `::cudaMalloc(...)` and `&cudaMalloc` stay what they are; each appends the text of
// its own arguments.
#define cudaMalloc(...) cudaMalloc(__VA_ARGS__, ::simt::AllocationName(#__VA_ARGS__))
#define cudaMallocManaged(...) cudaMallocManaged(__VA_ARGS__, ::simt::AllocationName(#__VA_ARGS__))
#endif
