#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "runtime/array.h"
#include "runtime/memory.h"
#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/stream_state.h"
#include "simt/api.h"
#include "simt/inspect/control.h"
#include "simt/virtual_device.h"

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
    std::memset(p, 0, sizeof *p);
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
    p->maxTexture2DGather[0] = p->maxTexture2DGather[1] = D::max_texture_2d_gather;
    p->maxTextureCubemap = p->maxSurfaceCubemap = D::max_texture_cubemap;
    p->maxTextureCubemapLayered[0] = p->maxSurfaceCubemapLayered[0] = D::max_texture_cubemap;
    p->maxTextureCubemapLayered[1] = p->maxSurfaceCubemapLayered[1] = D::max_texture_cubemap_faces;
    p->maxSurface1D = D::max_texture_1d;
    p->maxSurface2D[0] = D::max_texture_2d;
    p->maxSurface2D[1] = D::max_texture_2d_height;
    for (int& side : p->maxSurface3D) side = D::max_texture_3d;
    p->surfaceAlignment = D::surface_alignment;
    p->concurrentKernels = 0;
    p->asyncEngineCount = 1;  // programs that find none do nothing; none can see that nothing overlaps
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
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    p->clockRate = p->memoryClockRate = D::clock_khz;
    p->deviceOverlap = p->asyncEngineCount;
    p->computeMode = cudaComputeModeDefault;
    p->maxTexture1DLinear = D::max_texture_1d_linear;
    p->singleToDoublePrecisionPerfRatio = 2;
#pragma GCC diagnostic pop
    return cudaSuccess;
}

/// What the virtual device says of itself, but for the number of multiprocessors, which may change.
static std::map<cudaDeviceAttr, int> attributes_of(const cudaDeviceProp& p) {
    const auto size = [](std::size_t value) { return static_cast<int>(value); };
    std::map<cudaDeviceAttr, int> attributes = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, size(p.sharedMemPerBlock)},
        {cudaDevAttrTotalConstantMemory, size(p.totalConstMem)},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxPitch, size(p.memPitch)},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        {cudaDevAttrClockRate, D::clock_khz},
        {cudaDevAttrMemoryClockRate, D::clock_khz},
        {cudaDevAttrTextureAlignment, size(p.textureAlignment)},
        {cudaDevAttrTexturePitchAlignment, size(p.texturePitchAlignment)},
        {cudaDevAttrGpuOverlap, p.asyncEngineCount},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrIntegrated, p.integrated},
        {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
        {cudaDevAttrComputeMode, cudaComputeModeDefault},
        {cudaDevAttrMaxTexture1DWidth, p.maxTexture1D},
        {cudaDevAttrMaxTexture2DWidth, p.maxTexture2D[0]},
        {cudaDevAttrMaxTexture2DHeight, p.maxTexture2D[1]},
        {cudaDevAttrMaxTexture3DWidth, p.maxTexture3D[0]},
        {cudaDevAttrMaxTexture3DHeight, p.maxTexture3D[0]},
        {cudaDevAttrMaxTexture3DDepth, p.maxTexture3D[0]},
        {cudaDevAttrMaxTexture1DLayeredWidth, p.maxTexture1DLayered[0]},
        {cudaDevAttrMaxTexture1DLayeredLayers, p.maxTexture1DLayered[1]},
        {cudaDevAttrMaxTexture2DLayeredWidth, p.maxTexture2DLayered[0]},
        {cudaDevAttrMaxTexture2DLayeredHeight, p.maxTexture2DLayered[1]},
        {cudaDevAttrMaxTexture2DLayeredLayers, p.maxTexture2DLayered[2]},
        {cudaDevAttrMaxTexture1DLinearWidth, D::max_texture_1d_linear},
        {cudaDevAttrMaxTexture2DGatherWidth, p.maxTexture2DGather[0]},
        {cudaDevAttrMaxTexture2DGatherHeight, p.maxTexture2DGather[1]},
        {cudaDevAttrMaxTextureCubemapWidth, p.maxTextureCubemap},
        {cudaDevAttrMaxTextureCubemapLayeredWidth, p.maxTextureCubemapLayered[0]},
        {cudaDevAttrMaxTextureCubemapLayeredLayers, p.maxTextureCubemapLayered[1]},
        {cudaDevAttrMaxSurfaceCubemapWidth, p.maxSurfaceCubemap},
        {cudaDevAttrMaxSurfaceCubemapLayeredWidth, p.maxSurfaceCubemapLayered[0]},
        {cudaDevAttrMaxSurfaceCubemapLayeredLayers, p.maxSurfaceCubemapLayered[1]},
        {cudaDevAttrMaxTexture2DLinearWidth, p.maxTexture2DLinear[0]},
        {cudaDevAttrMaxTexture2DLinearHeight, p.maxTexture2DLinear[1]},
        {cudaDevAttrMaxTexture2DLinearPitch, p.maxTexture2DLinear[2]},
        {cudaDevAttrMaxSurface1DWidth, p.maxSurface1D},
        {cudaDevAttrMaxSurface2DWidth, p.maxSurface2D[0]},
        {cudaDevAttrMaxSurface2DHeight, p.maxSurface2D[1]},
        {cudaDevAttrMaxSurface3DWidth, p.maxSurface3D[0]},
        {cudaDevAttrMaxSurface3DHeight, p.maxSurface3D[0]},
        {cudaDevAttrMaxSurface3DDepth, p.maxSurface3D[0]},
        {cudaDevAttrSurfaceAlignment, size(p.surfaceAlignment)},
        {cudaDevAttrConcurrentKernels, p.concurrentKernels},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported},
        {cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported},
        {cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, size(p.sharedMemPerMultiprocessor)},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrManagedMemory, p.managedMemory},
        {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
        {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, size(p.sharedMemPerBlockOptin)},
        {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
        {cudaDevAttrDirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, size(p.reservedSharedMemPerBlock)},
        {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
        {cudaDevAttrClusterLaunch, p.clusterLaunch},
    };
    // Features that it does not have, and identities that nobody needs.
    for (const cudaDeviceAttr none : {cudaDevAttrKernelExecTimeout,
                                      cudaDevAttrEccEnabled,
                                      cudaDevAttrPciBusId,
                                      cudaDevAttrPciDeviceId,
                                      cudaDevAttrPciDomainId,
                                      cudaDevAttrTccDriver,
                                      cudaDevAttrIsMultiGpuBoard,
                                      cudaDevAttrMultiGpuBoardGroupID,
                                      cudaDevAttrPageableMemoryAccess,
                                      cudaDevAttrPageableMemoryAccessUsesHostPageTables,
                                      cudaDevAttrComputePreemptionSupported,
                                      cudaDevAttrMaxPersistingL2CacheSize,
                                      cudaDevAttrMaxAccessPolicyWindowSize,
                                      cudaDevAttrMaxSurface1DLayeredWidth,
                                      cudaDevAttrMaxSurface1DLayeredLayers,
                                      cudaDevAttrMaxSurface2DLayeredWidth,
                                      cudaDevAttrMaxSurface2DLayeredHeight,
                                      cudaDevAttrMaxSurface2DLayeredLayers,
                                      cudaDevAttrMaxTexture2DMipmappedWidth,
                                      cudaDevAttrMaxTexture2DMipmappedHeight,
                                      cudaDevAttrMaxTexture1DMipmappedWidth,
                                      cudaDevAttrCanFlushRemoteWrites,
                                      cudaDevAttrSparseCudaArraySupported,
                                      cudaDevAttrHostRegisterReadOnlySupported,
                                      cudaDevAttrTimelineSemaphoreInteropSupported,
                                      cudaDevAttrGPUDirectRDMASupported,
                                      cudaDevAttrIpcEventSupport,
                                      cudaDevAttrMpsEnabled}) {
        attributes[none] = 0;
    }
    return attributes;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (!value) return fail(cudaErrorInvalidValue);
    if (device != 0) return fail(cudaErrorInvalidDevice);
    static const auto& attributes = *new std::map<cudaDeviceAttr, int>([] {
        cudaDeviceProp properties;
        cudaGetDeviceProperties(&properties, 0);
        return attributes_of(properties);
    }());
    if (attribute == cudaDevAttrMultiProcessorCount) {
        *value = multiprocessors();
        return cudaSuccess;
    }
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) return fail(cudaErrorInvalidValue);
    *value = found->second;
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
    if (const cudaError_t error = enter_unsafe()) {
        if (is_sticky(error)) observe::host_waits_for_all();  // nothing runs any more
        return fail(error);
    }
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

// ---- Kernels ---------------------------------------------------------------------------------------------

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
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

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
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

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
    return fail(function ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
    return fail(function ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          std::size_t dynamic_shared) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!blocks || threads <= 0) return fail(cudaErrorInvalidValue);
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    *blocks = resident_blocks(static_cast<unsigned>(threads), dynamic_shared);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int threads, size_t dynamic_shared,
                                                                   unsigned int) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamic_shared, const void* function,
                                                      int blocks, int threads) {
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

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
    return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, result);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                             unsigned long long, cudaDriverEntryPointQueryResult* result) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!symbol || !function) return fail(cudaErrorInvalidValue);
    *function = nullptr;
    if (result) *result = cudaDriverEntryPointSymbolNotFound;
    return report_unsupported("cudaGetDriverEntryPoint", std::string("there is no driver API, and no ") +
                                                             symbol +
                                                             "(). Use the runtime API's function for it");
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
