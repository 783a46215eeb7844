// Memory pools and stream-ordered allocation. A pool here only counts: memory that is freed goes
// back at once.
#include <map>
#include <memory>
#include <mutex>

#include "runtime/graph_state.h"
#include "runtime/heap.h"
#include "runtime/memory.h"
#include "runtime/observe.h"
#include "runtime/stream_state.h"
#include "simt/stream.h"
#include "simt/virtual_device.h"

#undef cudaMalloc

struct CUmemPoolHandle_st {
    std::size_t threshold = 0, used = 0, high = 0, max_size = 0;
    int reuse[3] = {1, 1, 1};
    cudaMemAccessFlags access = cudaMemAccessFlagsProtReadWrite;
};

namespace simt {
namespace {

struct Pools {
    std::mutex mutex;
    CUmemPoolHandle_st default_pool;
    cudaMemPool_t current = &default_pool;
    std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>> created;
    // Which pool an allocation came from, for its count.
    std::map<void*, std::pair<cudaMemPool_t, std::size_t>> allocations;

    bool has(cudaMemPool_t pool) const { return pool == &default_pool || created.count(pool) != 0; }
};

Pools& pools() {
    static auto* instance = new Pools;
    return *instance;
}

}  // namespace
}  // namespace simt

using namespace simt;

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t handle) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!pointer) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    {
        std::lock_guard lock(state_mutex());
        if (stream->capture) return capture_allocation(stream, size, pointer);
    }
    Pools& p = pools();
    {
        std::lock_guard lock(p.mutex);
        if (!p.has(pool)) return fail(cudaErrorInvalidValue);
        if (pool->max_size && size > pool->max_size - std::min(pool->max_size, pool->used))
            return fail(cudaErrorMemoryAllocation);
    }
    if (size == 0) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    void* memory = heap().allocate(size, Location::Kind::device);
    if (!memory) return fail(cudaErrorMemoryAllocation);
    // Other streams may use it only after an event of this one.
    if constexpr (observe::on)
        execute(
            stream, [memory] { return observe::claimed(memory), cudaSuccess; }, "cudaMallocAsync");
    std::lock_guard lock(p.mutex);
    p.allocations[memory] = {pool, size};
    pool->used += size;
    if (pool->used > pool->high) pool->high = pool->used;
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
    cudaMemPool_t pool = nullptr;
    cudaDeviceGetMemPool(&pool, 0);
    return cudaMallocFromPoolAsync(pointer, size, pool, stream);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
    if (const cudaError_t error = enter()) return fail(error);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (!pointer) return cudaSuccess;
    {
        std::lock_guard lock(state_mutex());
        if (stream->capture) return capture_release(stream, pointer);
    }
    // Memory of cudaMalloc() may be freed this way too.
    return fail(enqueue(handle, {Operation::Kind::free, "cudaFreeAsync", [pointer] {
                                     if (observe::is_of_kernel(pointer) || !release_device(pointer)) {
                                         observe::release_failed(pointer, "cudaFreeAsync");
                                         return cudaErrorInvalidValue;
                                     }
                                     std::lock_guard lock(pools().mutex);
                                     auto found = pools().allocations.find(pointer);
                                     if (found != pools().allocations.end()) {
                                         found->second.first->used -= found->second.second;
                                         pools().allocations.erase(found);
                                     }
                                     return cudaSuccess;
                                 }}));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (!pool) return fail(cudaErrorInvalidValue);
    if (device != 0) return fail(cudaErrorInvalidDevice);
    *pool = &pools().default_pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    if (!pool) return fail(cudaErrorInvalidValue);
    if (device != 0) return fail(cudaErrorInvalidDevice);
    std::lock_guard lock(pools().mutex);
    *pool = pools().current;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    if (device != 0) return fail(cudaErrorInvalidDevice);
    std::lock_guard lock(pools().mutex);
    if (!pools().has(pool)) return fail(cudaErrorInvalidValue);
    pools().current = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
        return fail(cudaErrorInvalidValue);
    if (properties->handleTypes != cudaMemHandleTypeNone) return fail(cudaErrorNotSupported);
    if (properties->location.type != cudaMemLocationTypeDevice) return fail(cudaErrorNotSupported);
    if (properties->location.id != 0) return fail(cudaErrorInvalidDevice);
    auto created = std::make_unique<CUmemPoolHandle_st>();
    created->max_size = properties->maxSize;
    *pool = created.get();
    std::lock_guard lock(pools().mutex);
    pools().created[*pool] = std::move(created);
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    if (const cudaError_t error = enter()) return fail(error);
    Pools& p = pools();
    std::lock_guard lock(p.mutex);
    if (p.created.count(pool) == 0) return fail(cudaErrorInvalidValue);
    if (p.current == pool) p.current = &p.default_pool;
    // What is still allocated stays valid; its count moves to the default pool.
    for (auto& [memory, from] : p.allocations) {
        if (from.first != pool) continue;
        from.first = &p.default_pool;
        p.default_pool.used += from.second;
    }
    p.created.erase(pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    std::lock_guard lock(pools().mutex);
    return fail(pools().has(pool) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    std::lock_guard lock(pools().mutex);
    if (!pools().has(pool) || !value) return fail(cudaErrorInvalidValue);
    switch (attribute) {
        case cudaMemPoolReuseFollowEventDependencies:
        case cudaMemPoolReuseAllowOpportunistic:
        case cudaMemPoolReuseAllowInternalDependencies:
            pool->reuse[attribute - 1] = *static_cast<int*>(value);
            break;
        case cudaMemPoolAttrReleaseThreshold:
            pool->threshold = *static_cast<unsigned long long*>(value);
            break;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh:
            // High-water marks can only be reset.
            if (*static_cast<unsigned long long*>(value) != 0) return fail(cudaErrorInvalidValue);
            pool->high = pool->used;
            break;
        default:
            return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    std::lock_guard lock(pools().mutex);
    if (!pools().has(pool) || !value) return fail(cudaErrorInvalidValue);
    switch (attribute) {
        case cudaMemPoolReuseFollowEventDependencies:
        case cudaMemPoolReuseAllowOpportunistic:
        case cudaMemPoolReuseAllowInternalDependencies:
            *static_cast<int*>(value) = pool->reuse[attribute - 1];
            break;
        case cudaMemPoolAttrReleaseThreshold:
            *static_cast<unsigned long long*>(value) = pool->threshold;
            break;
        case cudaMemPoolAttrReservedMemCurrent:
        case cudaMemPoolAttrUsedMemCurrent:
            *static_cast<unsigned long long*>(value) = pool->used;
            break;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh:
            *static_cast<unsigned long long*>(value) = pool->high;
            break;
        default:
            return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, size_t count) {
    std::lock_guard lock(pools().mutex);
    if (!pools().has(pool) || (count > 0 && !access)) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        if (access[i].location.type != cudaMemLocationTypeDevice || access[i].location.id != 0)
            return fail(cudaErrorInvalidDevice);
        // A device always has access to its own pool.
        if (access[i].flags != cudaMemAccessFlagsProtReadWrite) return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
    std::lock_guard lock(pools().mutex);
    if (!flags || !location || !pools().has(pool)) return fail(cudaErrorInvalidValue);
    if (location->type != cudaMemLocationTypeDevice || location->id != 0) return fail(cudaErrorInvalidDevice);
    *flags = pool->access;
    return cudaSuccess;
}
