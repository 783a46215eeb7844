#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "array.h"
#include "memory.h"
#include "observe.h"
#include "simt/api.h"
#include "simt/control.h"
#include "simt/virtual_device.h"
#include "stream_state.h"

namespace simt {
namespace {

using D = VirtualDevice;

// What cudaFuncSetAttribute() set for a kernel.
struct FunctionSettings {
    std::size_t dynamic_shared = D::shared_per_block;
    int carveout = cudaSharedmemCarveoutDefault;
};

struct DeviceState {
    std::mutex mutex;
    std::map<const void*, FunctionSettings> functions;
    std::size_t limits[7] = {1024, 1048576, 8388608, 2, 2048, 128, 0};
    cudaFuncCache cache = cudaFuncCachePreferNone;
    unsigned flags = cudaDeviceScheduleAuto;
};

DeviceState& state() {
    static auto* instance = new DeviceState;
    return *instance;
}

}  // namespace

std::size_t dynamic_shared_limit(const void* function) {
    DeviceState& s = state();
    std::lock_guard lock(s.mutex);
    if (function) {
        auto found = s.functions.find(function);
        return found == s.functions.end() ? D::shared_per_block : found->second.dynamic_shared;
    }
    std::size_t most = D::shared_per_block;
    for (const auto& [address, settings] : s.functions)
        if (settings.dynamic_shared > most) most = settings.dynamic_shared;
    return most;
}

int resident_blocks(unsigned threads, std::size_t shared_bytes) {
    if (threads == 0 || threads > D::max_threads_per_block || shared_bytes > D::shared_per_block_optin)
        return 0;
    const int warps = static_cast<int>((threads + 31) / 32);
    int blocks = D::max_blocks_per_multiprocessor;
    const auto bound = [&blocks](std::size_t most) {
        if (static_cast<int>(most) < blocks) blocks = static_cast<int>(most);
    };
    bound(static_cast<std::size_t>(D::max_threads_per_multiprocessor / (warps * D::warp_size)));
    bound(static_cast<std::size_t>(D::registers_per_multiprocessor /
                                   (D::registers_per_thread * D::warp_size * warps)));
    bound(D::shared_per_multiprocessor / (shared_bytes + D::shared_reserved_per_block));
    return blocks;
}

cudaError_t function_get_attributes(cudaFuncAttributes* attributes, const void* function) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!attributes) return fail(cudaErrorInvalidValue);
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    DeviceState& s = state();
    std::lock_guard lock(s.mutex);
    auto found = s.functions.find(function);
    const FunctionSettings settings = found == s.functions.end() ? FunctionSettings{} : found->second;
    *attributes = {};
    attributes->maxThreadsPerBlock = D::max_threads_per_block;
    attributes->numRegs = D::registers_per_thread;
    attributes->ptxVersion = attributes->binaryVersion = D::compute_major * 10 + D::compute_minor;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(settings.dynamic_shared);
    attributes->preferredShmemCarveout = settings.carveout;
    return cudaSuccess;
}

cudaError_t function_set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    DeviceState& s = state();
    std::lock_guard lock(s.mutex);
    switch (attribute) {
        case cudaFuncAttributeMaxDynamicSharedMemorySize:
            if (value < 0 || static_cast<std::size_t>(value) > D::shared_per_block_optin)
                return fail(cudaErrorInvalidValue);
            s.functions[function].dynamic_shared = static_cast<std::size_t>(value);
            return cudaSuccess;
        case cudaFuncAttributePreferredSharedMemoryCarveout:
            if (value < -1 || value > 100) return fail(cudaErrorInvalidValue);
            s.functions[function].carveout = value;
            return cudaSuccess;
        default:
            return fail(cudaErrorInvalidValue);
    }
}

cudaError_t occupancy(int* blocks, const void* function, int threads, std::size_t dynamic_shared) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!blocks || threads <= 0) return fail(cudaErrorInvalidValue);
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    *blocks = resident_blocks(static_cast<unsigned>(threads), dynamic_shared);
    return cudaSuccess;
}

cudaError_t occupancy_free_shared(std::size_t* dynamic_shared, const void* function, int blocks,
                                  int threads) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!dynamic_shared || blocks <= 0 || threads <= 0) return fail(cudaErrorInvalidValue);
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    if (resident_blocks(static_cast<unsigned>(threads), 0) < blocks) return fail(cudaErrorInvalidValue);
    std::size_t share =
        D::shared_per_multiprocessor / static_cast<std::size_t>(blocks) - D::shared_reserved_per_block;
    share = share / 128 * 128;
    *dynamic_shared = share < D::shared_per_block_optin ? share : D::shared_per_block_optin;
    return cudaSuccess;
}

}  // namespace simt

using namespace simt;

static constexpr char pci_id[] = "0000:00:00.0";

cudaError_t cudaGetDeviceCount(int* count) {
    if (!count) return fail(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
    if (!device) return fail(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return fail(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
    if (!device || !properties) return fail(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
    if (count < 0 || (count > 0 && !devices)) return fail(cudaErrorInvalidValue);
    for (int i = 0; i < count; ++i)
        if (devices[i] != 0) return fail(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    if (!p) return fail(cudaErrorInvalidValue);
    if (device != 0) return fail(cudaErrorInvalidDevice);
    *p = {};
    std::snprintf(p->name, sizeof p->name, "%s", D::name);
    std::memcpy(p->uuid.bytes, "rungs-cpu-simt-0", sizeof p->uuid.bytes);
    p->totalGlobalMem = device_memory_capacity();
    p->sharedMemPerBlock = D::shared_per_block;
    p->regsPerBlock = D::registers_per_block;
    p->warpSize = D::warp_size;
    p->memPitch = D::max_pitch;
    p->maxThreadsPerBlock = D::max_threads_per_block;
    p->maxThreadsDim[0] = D::max_block_x;
    p->maxThreadsDim[1] = D::max_block_y;
    p->maxThreadsDim[2] = D::max_block_z;
    p->maxGridSize[0] = D::max_grid_x;
    p->maxGridSize[1] = D::max_grid_y;
    p->maxGridSize[2] = D::max_grid_z;
    p->totalConstMem = D::constant_memory;
    p->major = D::compute_major;
    p->minor = D::compute_minor;
    p->textureAlignment = D::texture_alignment;
    p->texturePitchAlignment = D::texture_pitch_alignment;
    p->multiProcessorCount = multiprocessors();
    p->integrated = 1;  // host and device share their memory
    p->canMapHostMemory = 1;
    p->maxTexture1D = D::max_texture_1d;
    p->maxTexture2D[0] = D::max_texture_2d;
    p->maxTexture2D[1] = D::max_texture_2d_height;
    p->maxTexture2DLinear[0] = D::max_texture_2d_linear;
    p->maxTexture2DLinear[1] = D::max_texture_2d_linear_height;
    p->maxTexture2DLinear[2] = D::max_texture_2d_linear_pitch;
    for (int& side : p->maxTexture3D) side = D::max_texture_3d;
    p->maxTexture1DLayered[0] = D::max_texture_1d_layered;
    p->maxTexture1DLayered[1] = D::max_texture_layers;
    p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = D::max_texture_2d_layered;
    p->maxTexture2DLayered[2] = D::max_texture_layers;
    p->maxSurface1D = D::max_texture_1d;
    p->maxSurface2D[0] = D::max_texture_2d;
    p->maxSurface2D[1] = D::max_texture_2d_height;
    for (int& side : p->maxSurface3D) side = D::max_texture_3d;
    p->surfaceAlignment = D::surface_alignment;
    p->concurrentKernels = 0;
    p->asyncEngineCount = 0;  // every call has finished when it returns
    p->unifiedAddressing = 1;
    p->memoryBusWidth = D::memory_bus_bits;
    p->l2CacheSize = D::l2_bytes;
    p->maxThreadsPerMultiProcessor = D::max_threads_per_multiprocessor;
    p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = D::shared_per_multiprocessor;
    p->regsPerMultiprocessor = D::registers_per_multiprocessor;
    p->managedMemory = 1;
    p->hostNativeAtomicSupported = 1;
    p->concurrentManagedAccess = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    p->cooperativeLaunch = 1;
    p->sharedMemPerBlockOptin = D::shared_per_block_optin;
    p->maxBlocksPerMultiProcessor = D::max_blocks_per_multiprocessor;
    p->reservedSharedMemPerBlock = D::shared_reserved_per_block;
    p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = 1;
    p->unifiedFunctionPointers = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (!value) return fail(cudaErrorInvalidValue);
    if (device != 0) return fail(cudaErrorInvalidDevice);
    static const cudaDeviceProp p = [] {
        cudaDeviceProp properties;
        cudaGetDeviceProperties(&properties, 0);
        return properties;
    }();
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
            *value = p.maxThreadsPerBlock;
            break;
        case cudaDevAttrMaxBlockDimX:
            *value = p.maxThreadsDim[0];
            break;
        case cudaDevAttrMaxBlockDimY:
            *value = p.maxThreadsDim[1];
            break;
        case cudaDevAttrMaxBlockDimZ:
            *value = p.maxThreadsDim[2];
            break;
        case cudaDevAttrMaxGridDimX:
            *value = p.maxGridSize[0];
            break;
        case cudaDevAttrMaxGridDimY:
            *value = p.maxGridSize[1];
            break;
        case cudaDevAttrMaxGridDimZ:
            *value = p.maxGridSize[2];
            break;
        case cudaDevAttrMaxSharedMemoryPerBlock:
            *value = static_cast<int>(p.sharedMemPerBlock);
            break;
        case cudaDevAttrTotalConstantMemory:
            *value = static_cast<int>(p.totalConstMem);
            break;
        case cudaDevAttrWarpSize:
            *value = p.warpSize;
            break;
        case cudaDevAttrMaxPitch:
            *value = static_cast<int>(p.memPitch);
            break;
        case cudaDevAttrMaxRegistersPerBlock:
            *value = p.regsPerBlock;
            break;
        case cudaDevAttrClockRate:
        case cudaDevAttrMemoryClockRate:
            *value = D::clock_khz;
            break;
        case cudaDevAttrTextureAlignment:
            *value = static_cast<int>(p.textureAlignment);
            break;
        case cudaDevAttrTexturePitchAlignment:
            *value = static_cast<int>(p.texturePitchAlignment);
            break;
        case cudaDevAttrGpuOverlap:
        case cudaDevAttrAsyncEngineCount:
            *value = p.asyncEngineCount;
            break;
        case cudaDevAttrMultiProcessorCount:
            *value = multiprocessors();  // may have changed
            break;
        case cudaDevAttrKernelExecTimeout:
            *value = 0;
            break;
        case cudaDevAttrIntegrated:
            *value = p.integrated;
            break;
        case cudaDevAttrCanMapHostMemory:
            *value = p.canMapHostMemory;
            break;
        case cudaDevAttrComputeMode:
            *value = cudaComputeModeDefault;
            break;
        case cudaDevAttrMaxTexture1DWidth:
            *value = p.maxTexture1D;
            break;
        case cudaDevAttrMaxTexture2DWidth:
            *value = p.maxTexture2D[0];
            break;
        case cudaDevAttrMaxTexture2DHeight:
            *value = p.maxTexture2D[1];
            break;
        case cudaDevAttrMaxTexture3DWidth:
        case cudaDevAttrMaxTexture3DHeight:
        case cudaDevAttrMaxTexture3DDepth:
            *value = p.maxTexture3D[0];
            break;
        case cudaDevAttrMaxTexture1DLayeredWidth:
            *value = p.maxTexture1DLayered[0];
            break;
        case cudaDevAttrMaxTexture1DLayeredLayers:
            *value = p.maxTexture1DLayered[1];
            break;
        case cudaDevAttrMaxTexture2DLayeredWidth:
            *value = p.maxTexture2DLayered[0];
            break;
        case cudaDevAttrMaxTexture2DLayeredHeight:
            *value = p.maxTexture2DLayered[1];
            break;
        case cudaDevAttrMaxTexture2DLayeredLayers:
            *value = p.maxTexture2DLayered[2];
            break;
        case cudaDevAttrMaxTexture1DLinearWidth:
            *value = D::max_texture_1d_linear;
            break;
        case cudaDevAttrMaxTexture2DLinearWidth:
            *value = p.maxTexture2DLinear[0];
            break;
        case cudaDevAttrMaxTexture2DLinearHeight:
            *value = p.maxTexture2DLinear[1];
            break;
        case cudaDevAttrMaxTexture2DLinearPitch:
            *value = p.maxTexture2DLinear[2];
            break;
        case cudaDevAttrMaxSurface1DWidth:
            *value = p.maxSurface1D;
            break;
        case cudaDevAttrMaxSurface2DWidth:
            *value = p.maxSurface2D[0];
            break;
        case cudaDevAttrMaxSurface2DHeight:
            *value = p.maxSurface2D[1];
            break;
        case cudaDevAttrMaxSurface3DWidth:
        case cudaDevAttrMaxSurface3DHeight:
        case cudaDevAttrMaxSurface3DDepth:
            *value = p.maxSurface3D[0];
            break;
        case cudaDevAttrSurfaceAlignment:
            *value = static_cast<int>(p.surfaceAlignment);
            break;
        case cudaDevAttrConcurrentKernels:
            *value = p.concurrentKernels;
            break;
        case cudaDevAttrEccEnabled:
            *value = 0;
            break;
        case cudaDevAttrPciBusId:
        case cudaDevAttrPciDeviceId:
        case cudaDevAttrPciDomainId:
            *value = 0;
            break;
        case cudaDevAttrTccDriver:
            *value = 0;
            break;
        case cudaDevAttrGlobalMemoryBusWidth:
            *value = p.memoryBusWidth;
            break;
        case cudaDevAttrL2CacheSize:
            *value = p.l2CacheSize;
            break;
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            *value = p.maxThreadsPerMultiProcessor;
            break;
        case cudaDevAttrUnifiedAddressing:
            *value = p.unifiedAddressing;
            break;
        case cudaDevAttrComputeCapabilityMajor:
            *value = p.major;
            break;
        case cudaDevAttrComputeCapabilityMinor:
            *value = p.minor;
            break;
        case cudaDevAttrStreamPrioritiesSupported:
            *value = p.streamPrioritiesSupported;
            break;
        case cudaDevAttrGlobalL1CacheSupported:
            *value = p.globalL1CacheSupported;
            break;
        case cudaDevAttrLocalL1CacheSupported:
            *value = p.localL1CacheSupported;
            break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            *value = static_cast<int>(p.sharedMemPerMultiprocessor);
            break;
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            *value = p.regsPerMultiprocessor;
            break;
        case cudaDevAttrManagedMemory:
            *value = p.managedMemory;
            break;
        case cudaDevAttrIsMultiGpuBoard:
        case cudaDevAttrMultiGpuBoardGroupID:
            *value = 0;
            break;
        case cudaDevAttrHostNativeAtomicSupported:
            *value = p.hostNativeAtomicSupported;
            break;
        case cudaDevAttrSingleToDoublePrecisionPerfRatio:
            *value = 2;
            break;
        case cudaDevAttrPageableMemoryAccess:
        case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
            *value = 0;
            break;
        case cudaDevAttrConcurrentManagedAccess:
            *value = p.concurrentManagedAccess;
            break;
        case cudaDevAttrComputePreemptionSupported:
            *value = 0;
            break;
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
            *value = p.canUseHostPointerForRegisteredMem;
            break;
        case cudaDevAttrCooperativeLaunch:
            *value = p.cooperativeLaunch;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            *value = static_cast<int>(p.sharedMemPerBlockOptin);
            break;
        case cudaDevAttrHostRegisterSupported:
            *value = p.hostRegisterSupported;
            break;
        case cudaDevAttrDirectManagedMemAccessFromHost:
            *value = p.directManagedMemAccessFromHost;
            break;
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            *value = p.maxBlocksPerMultiProcessor;
            break;
        case cudaDevAttrMaxPersistingL2CacheSize:
        case cudaDevAttrMaxAccessPolicyWindowSize:
            *value = 0;
            break;
        case cudaDevAttrReservedSharedMemoryPerBlock:
            *value = static_cast<int>(p.reservedSharedMemPerBlock);
            break;
        case cudaDevAttrMemoryPoolsSupported:
            *value = p.memoryPoolsSupported;
            break;
        case cudaDevAttrClusterLaunch:
            *value = p.clusterLaunch;
            break;
        // Features that the virtual device does not have.
        case cudaDevAttrMaxTexture2DGatherWidth:
        case cudaDevAttrMaxTexture2DGatherHeight:
        case cudaDevAttrMaxTextureCubemapWidth:
        case cudaDevAttrMaxTextureCubemapLayeredWidth:
        case cudaDevAttrMaxTextureCubemapLayeredLayers:
        case cudaDevAttrMaxSurface1DLayeredWidth:
        case cudaDevAttrMaxSurface1DLayeredLayers:
        case cudaDevAttrMaxSurface2DLayeredWidth:
        case cudaDevAttrMaxSurface2DLayeredHeight:
        case cudaDevAttrMaxSurface2DLayeredLayers:
        case cudaDevAttrMaxSurfaceCubemapWidth:
        case cudaDevAttrMaxSurfaceCubemapLayeredWidth:
        case cudaDevAttrMaxSurfaceCubemapLayeredLayers:
        case cudaDevAttrMaxTexture2DMipmappedWidth:
        case cudaDevAttrMaxTexture2DMipmappedHeight:
        case cudaDevAttrMaxTexture1DMipmappedWidth:
        case cudaDevAttrCanFlushRemoteWrites:
        case cudaDevAttrSparseCudaArraySupported:
        case cudaDevAttrHostRegisterReadOnlySupported:
        case cudaDevAttrTimelineSemaphoreInteropSupported:
        case cudaDevAttrGPUDirectRDMASupported:
        case cudaDevAttrIpcEventSupport:
        case cudaDevAttrMpsEnabled:
            *value = 0;
            break;
        default:
            return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    if (flags & ~static_cast<unsigned>(cudaDeviceMask)) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(state().mutex);
    state().flags = flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    if (!flags) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(state().mutex);
    *flags = state().flags | cudaDeviceMapHost;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
    if (!id || length < static_cast<int>(sizeof pci_id)) return fail(cudaErrorInvalidValue);
    if (device != 0) return fail(cudaErrorInvalidDevice);
    std::memcpy(id, pci_id, sizeof pci_id);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
    if (!device || !id) return fail(cudaErrorInvalidValue);
    if (std::strcmp(id, pci_id) != 0) return fail(cudaErrorInvalidDevice);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    // The legacy stream waits for all blocking streams; the others may be used by other host threads.
    const cudaError_t error = execute(
        resolve(nullptr), [] { return cudaSuccess; }, nullptr);
    observe::host_waits_for_all();
    check_red_zones();
    return fail(error);
}

cudaError_t cudaDeviceReset() {
    observe::host_waits_for_all();
    reset_streams();
    reset_graphs();
    reset_textures();
    reset_arrays();
    reset_memory();
    {
        std::lock_guard lock(state().mutex);
        state().functions.clear();
    }
    clear_sticky_error();
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (const cudaError_t error = enter()) return fail(error);
    // Waiting for nested launches is gone from CUDA 12 on.
    if (limit < cudaLimitStackSize || limit > cudaLimitPersistingL2CacheSize)
        return fail(cudaErrorInvalidValue);
    if (limit == cudaLimitDevRuntimeSyncDepth) return fail(cudaErrorUnsupportedLimit);
    std::lock_guard lock(state().mutex);
    state().limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!value) return fail(cudaErrorInvalidValue);
    if (limit < cudaLimitStackSize || limit > cudaLimitPersistingL2CacheSize)
        return fail(cudaErrorInvalidValue);
    if (limit == cudaLimitDevRuntimeSyncDepth) return fail(cudaErrorUnsupportedLimit);
    std::lock_guard lock(state().mutex);
    *value = state().limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    if (const cudaError_t error = enter()) return fail(error);
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
        return fail(cudaErrorInvalidValue);
    std::lock_guard lock(state().mutex);
    state().cache = config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!config) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(state().mutex);
    *config = state().cache;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return fail(enter()); }

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!config) return fail(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (const cudaError_t error = enter()) return fail(error);
    if (least) *least = D::least_stream_priority;
    if (greatest) *greatest = D::greatest_stream_priority;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
    if (!can_access) return fail(cudaErrorInvalidValue);
    if (device != 0 || peer != 0) return fail(cudaErrorInvalidDevice);
    *can_access = 0;  // a device is no peer of itself
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    if (flags != 0) return fail(cudaErrorInvalidValue);
    return fail(peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) { return fail(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
    return fail(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}
cudaError_t cudaCtxResetPersistingL2Cache() { return fail(enter()); }

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaRuntimeGetVersion(int* version) {
    if (!version) return fail(cudaErrorInvalidValue);
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
