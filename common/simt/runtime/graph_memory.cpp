// Memory that graphs allocate and free. Its address is fixed when the node is made: a place in the heap, into
// which each launch puts memory. What a launch does not free outlives it, and the graph too.
#include <map>

#include "runtime/graph_state.h"
#include "runtime/heap.h"
#include "runtime/memory.h"
#include "runtime/observe.h"

namespace simt {
namespace {

enum class FreedBy : unsigned char { none, owner, another };

struct GraphMemory {
    cudaGraph_t owner;
    int nodes = 1;  // that allocate it: the owner's, and its copy in an executable graph
    FreedBy freed_by = FreedBy::none;
};

// Guarded by state_mutex().
std::map<void*, GraphMemory>& graph_memory() {
    static auto* map = new std::map<void*, GraphMemory>;
    return *map;
}

bool is_here(const cudaMemLocation& location) {
    return location.type == cudaMemLocationTypeDevice && location.id == 0;
}

}  // namespace

cudaError_t set_allocation(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
    if (!parameters) return cudaErrorInvalidValue;
    if (node->graph->owned_by_node) return cudaErrorNotSupported;  // the body of a condition
    cudaMemAllocNodeParams p = *parameters;
    if (p.bytesize == 0 || p.poolProps.allocType != cudaMemAllocationTypePinned ||
        p.poolProps.handleTypes != cudaMemHandleTypeNone || !is_here(p.poolProps.location) ||
        (p.accessDescCount > 0 && !p.accessDescs))
        return cudaErrorInvalidValue;
    node->access.assign(p.accessDescs, p.accessDescs + p.accessDescCount);
    for (const cudaMemAccessDesc& access : node->access)
        if (!is_here(access.location) || access.flags != cudaMemAccessFlagsProtReadWrite)
            return cudaErrorInvalidValue;
    void* const memory = heap().reserve(p.bytesize);
    if (!memory) return cudaErrorMemoryAllocation;
    heap().name(memory, "memory of a graph");
    graph_memory()[memory] = {node->graph};
    p.dptr = parameters->dptr = memory;
    p.accessDescs = node->access.data();
    node->type = cudaGraphNodeTypeMemAlloc;
    node->allocation = p;
    node->memory = memory;
    node->operation = {Operation::Kind::allocate, "memory allocation node", [memory] {
                           if (!heap().open(memory)) return cudaErrorMemoryAllocation;
                           observe::claimed(memory);
                           return cudaSuccess;
                       }};
    return cudaSuccess;
}

cudaError_t set_release(cudaGraphNode_t node, void* memory) {
    if (node->graph->owned_by_node) return cudaErrorNotSupported;
    const auto found = graph_memory().find(memory);
    if (found == graph_memory().end()) return cudaErrorInvalidValue;
    // The owner frees its memory once; or other graphs do.
    FreedBy& freed_by = found->second.freed_by;
    const FreedBy now = found->second.owner == node->graph ? FreedBy::owner : FreedBy::another;
    if (freed_by == FreedBy::owner || (freed_by == FreedBy::another && now == FreedBy::owner))
        return cudaErrorInvalidValue;
    freed_by = now;
    node->type = cudaGraphNodeTypeMemFree;
    node->memory = memory;
    node->operation = {Operation::Kind::free, "memory free node",
                       [memory] { return release_device(memory) ? cudaSuccess : cudaErrorInvalidValue; }};
    return cudaSuccess;
}

void share_memory(void* memory) { ++graph_memory().at(memory).nodes; }

void give_memory_up(void* memory) {
    const auto found = graph_memory().find(memory);
    if (--found->second.nodes > 0) return;
    graph_memory().erase(found);
    heap().give_up(memory);
}

bool has_memory(cudaGraph_t graph) {
    for (const auto& node : graph->nodes)
        if (node->memory) return true;
    return false;
}

cudaError_t ready_memory(const std::vector<cudaGraphNode_t>& order, bool release) {
    for (cudaGraphNode_t node : order) {
        if (node->type != cudaGraphNodeTypeMemAlloc || check_present(node->memory) != cudaSuccess) continue;
        if (!release) return cudaErrorInvalidValue;
        release_device(node->memory);
    }
    return cudaSuccess;
}

}  // namespace simt

using namespace simt;

static cudaError_t check_attribute(int device, cudaGraphMemAttributeType attribute, const void* value) {
    if (const cudaError_t error = enter()) return error;
    if (device != 0) return cudaErrorInvalidDevice;
    const bool known =
        attribute >= cudaGraphMemAttrUsedMemCurrent && attribute <= cudaGraphMemAttrReservedMemHigh;
    return value && known ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
    if (const cudaError_t error = check_attribute(device, attribute, value)) return fail(error);
    // Nothing is held back that is not used.
    const bool high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    *static_cast<unsigned long long*>(value) = high ? heap().reserved_high(false) : heap().reserved_used();
    return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
    if (const cudaError_t error = check_attribute(device, attribute, value)) return fail(error);
    // High-water marks can only be reset.
    if (attribute == cudaGraphMemAttrUsedMemCurrent || attribute == cudaGraphMemAttrReservedMemCurrent ||
        *static_cast<unsigned long long*>(value) != 0)
        return fail(cudaErrorInvalidValue);
    heap().reserved_high(true);
    return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
    if (const cudaError_t error = enter()) return fail(error);
    return fail(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
