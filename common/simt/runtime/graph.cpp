#include "simt/graph.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_map>

#include "runtime/graph_state.h"
#include "runtime/memory.h"
#include "runtime/observe.h"

namespace simt {
namespace {

std::unordered_set<Condition*>& conditions() {
    static auto* set = new std::unordered_set<Condition*>;
    return *set;
}

Condition* condition_of(cudaGraphConditionalHandle handle) {
    auto* condition = reinterpret_cast<Condition*>(handle);
    return conditions().count(condition) ? condition : nullptr;
}

bool valid_dependencies(cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count) {
    if (!graphs().has(graph) || (count > 0 && !dependencies)) return false;
    for (std::size_t i = 0; i < count; ++i) {
        if (!nodes().has(dependencies[i]) || dependencies[i]->graph != graph) return false;
        for (std::size_t j = 0; j < i; ++j)
            if (dependencies[j] == dependencies[i]) return false;
    }
    return true;
}

// Fills a kernel node: copies the arguments and asks the launch for its operation, which also
// checks the launch.
cudaError_t set_kernel(cudaGraphNode_t node, const cudaKernelNodeParams& given) {
    cudaKernelNodeParams p = given;
    const KernelType* const known = kernel_type(p.func.address);
    if (!known) return cudaErrorInvalidDeviceFunction;
    const KernelType& type = *known;
    if (p.extra || (type.count > 0 && !p.kernelParams)) return cudaErrorInvalidValue;
    std::vector<std::vector<unsigned long long>> arguments(type.count);
    std::vector<void*> pointers(type.count);
    for (std::size_t i = 0; i < type.count; ++i) {
        if (!p.kernelParams[i]) return cudaErrorInvalidValue;
        arguments[i].resize((type.sizes[i] + 7) / 8);
        std::memcpy(arguments[i].data(), p.kernelParams[i], type.sizes[i]);
        pointers[i] = arguments[i].data();
    }
    struct Launch {
        const KernelType& type;
        const cudaKernelNodeParams& node;
        bool cooperative;
    };
    const auto set = node->attributes.find(cudaLaunchAttributeCooperative);
    const Launch context{type, p, set != node->attributes.end() && set->second.cooperative != 0};
    Operation operation{};
    const auto launch = [](const void* what) {
        const auto& [kernel, k, cooperative] = *static_cast<const Launch*>(what);
        return kernel.launch(k.func.address, {k.gridDim, k.blockDim, k.sharedMemBytes, nullptr}, cooperative,
                             k.kernelParams);
    };
    if (const cudaError_t error = record(&operation, launch, &context)) return error;
    node->type = cudaGraphNodeTypeKernel;
    node->operation = std::move(operation);
    node->arguments = std::move(arguments);
    node->argument_pointers = std::move(pointers);
    node->kernel = p;
    node->kernel.kernelParams = node->argument_pointers.empty() ? nullptr : node->argument_pointers.data();
    return cudaSuccess;
}

cudaError_t set_copy(cudaGraphNode_t node, const cudaMemcpy3DParms& copy) {
    Operation operation{};
    if (const cudaError_t error = make_copy(copy, &operation)) return error;
    node->type = cudaGraphNodeTypeMemcpy;
    node->operation = std::move(operation);
    node->copy = copy;
    node->copy_known = true;
    return cudaSuccess;
}

cudaError_t set_fill(cudaGraphNode_t node, const cudaMemsetParams& fill) {
    const std::size_t element = fill.elementSize;
    if (element != 1 && element != 2 && element != 4) return cudaErrorInvalidValue;
    if (element < 4 && fill.value >> (8 * element) != 0) return cudaErrorInvalidValue;
    if (fill.width == 0 || fill.height == 0) return cudaErrorInvalidValue;
    const std::size_t row = fill.width * element;
    if (fill.height > 1 && fill.pitch < row) return cudaErrorInvalidValue;
    if (reinterpret_cast<std::size_t>(fill.dst) % element != 0) return cudaErrorInvalidValue;
    if (!is_device_accessible(fill.dst, fill.pitch * (fill.height - 1) + row)) return cudaErrorInvalidValue;
    node->type = cudaGraphNodeTypeMemset;
    node->fill = fill;
    node->operation = {Operation::Kind::memset, "memset node", [fill, element] {
                           if (const cudaError_t absent = check_present(fill.dst)) return absent;
                           for (std::size_t y = 0; y < fill.height; ++y) {
                               char* to = static_cast<char*>(fill.dst) + y * fill.pitch;
                               for (std::size_t x = 0; x < fill.width; ++x)
                                   std::memcpy(to + x * element, &fill.value,
                                               element);  // little-endian: the low bytes
                           }
                           return cudaSuccess;
                       }};
    return cudaSuccess;
}

cudaError_t set_host(cudaGraphNode_t node, const cudaHostNodeParams& host) {
    if (!host.fn) return cudaErrorInvalidValue;
    node->type = cudaGraphNodeTypeHost;
    node->host = host;
    node->operation = {Operation::Kind::host, "host node", [host] {
                           call_host(host.fn, host.userData);
                           return cudaSuccess;
                       }};
    return cudaSuccess;
}

cudaError_t set_event(cudaGraphNode_t node, cudaEvent_t event, bool is_record) {
    if (!events().has(event)) return cudaErrorInvalidResourceHandle;
    node->event = event;
    if (is_record) {
        node->type = cudaGraphNodeTypeEventRecord;
        node->operation = {Operation::Kind::event_record, "event record node",
                           [event] { return stamp_event(event); }};
    } else {
        node->type = cudaGraphNodeTypeWaitEvent;
        node->operation = {Operation::Kind::event_wait, "event wait node",
                           [event] { return observe::operation_waits(event), cudaSuccess; }};
    }
    return cudaSuccess;
}

cudaError_t set_child(cudaGraphNode_t node, cudaGraph_t child) {
    if (!graphs().has(child) || has_condition(child)) return cudaErrorInvalidValue;
    if (has_memory(child)) return cudaErrorNotSupported;
    node->type = cudaGraphNodeTypeGraph;
    node->child = clone_graph(child);
    node->child->owned_by_node = true;
    return cudaSuccess;
}

cudaError_t set_condition(cudaGraphNode_t node, cudaConditionalNodeParams& p) {
    Condition* condition = condition_of(p.handle);
    if (!condition || condition->graph != node->graph) return cudaErrorInvalidValue;
    const bool right = p.type == cudaGraphCondTypeIf      ? p.size == 1 || p.size == 2
                       : p.type == cudaGraphCondTypeWhile ? p.size == 1
                                                          : p.type == cudaGraphCondTypeSwitch && p.size > 0;
    if (!right) return cudaErrorInvalidValue;
    node->type = cudaGraphNodeTypeConditional;
    for (unsigned i = 0; i < p.size; ++i) {
        node->bodies.push_back(new_graph());
        node->bodies.back()->owned_by_node = true;
    }
    p.phGraph_out = node->bodies.data();
    node->condition = p;
    return cudaSuccess;
}

// Adds an empty node and lets `set` make something of it; takes it away again if that fails.
template <class Set>
cudaError_t add(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                std::size_t count, const Set& set) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!result || !valid_dependencies(graph, dependencies, count)) return fail(cudaErrorInvalidValue);
    cudaGraphNode_t node = add_node(graph, cudaGraphNodeTypeEmpty, {Operation::Kind::empty, "empty node", {}},
                                    std::vector<cudaGraphNode_t>(dependencies, dependencies + count));
    if (const cudaError_t error = set(node)) {
        delete_node_contents(*node);
        graph->nodes.pop_back();
        return fail(error);
    }
    *result = node;
    return cudaSuccess;
}

// Adds a node to the graph that `stream` is captured into.
template <class Set>
cudaError_t add_captured(cudaStream_t stream, const Set& set) {
    std::lock_guard lock(state_mutex());
    if (stream->capture->invalidated) return fail(cudaErrorStreamCaptureInvalidated);
    cudaGraphNode_t node = nullptr;
    const cudaError_t error =
        add(&node, stream->capture->graph, stream->frontier.data(), stream->frontier.size(), set);
    if (error == cudaSuccess) stream->frontier = {node};
    return error;
}

// Changes a node of a graph, or its twin in an executable graph. The kind of node must be `type`.
template <class Set>
cudaError_t change(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type, const Set& set) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!nodes().has(node) || node->type != type) return fail(cudaErrorInvalidValue);
    if (executable) {
        if (!executables().has(executable)) return fail(cudaErrorInvalidValue);
        node = find_twin(executable->graph, node);
        if (!node) return fail(cudaErrorInvalidValue);
    }
    return fail(set(node));
}

cudaMemcpy3DParms linear_copy(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(source), bytes, bytes, 1);
    copy.dstPtr = make_cudaPitchedPtr(destination, bytes, bytes, 1);
    copy.extent = make_cudaExtent(bytes, 1, 1);
    copy.kind = kind;
    return copy;
}

// Copies handles out the way CUDA's queries do: the count alone, or as many as fit, then null.
cudaError_t give(const std::vector<cudaGraphNode_t>& from, cudaGraphNode_t* to, std::size_t* count) {
    if (!count) return cudaErrorInvalidValue;
    if (to) {
        for (std::size_t i = 0; i < *count; ++i) to[i] = i < from.size() ? from[i] : nullptr;
        *count = std::min(*count, from.size());
    } else {
        *count = from.size();
    }
    return cudaSuccess;
}

std::vector<cudaGraphNode_t> dependents_of(cudaGraphNode_t node) {
    std::vector<cudaGraphNode_t> result;
    for (const auto& other : node->graph->nodes)
        if (std::count(other->dependencies.begin(), other->dependencies.end(), node))
            result.push_back(other.get());
    return result;
}

}  // namespace

cudaError_t capture_allocation(cudaStream_t stream, std::size_t bytes, void** memory) {
    cudaMemAllocNodeParams p{};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location = {cudaMemLocationTypeDevice, 0};
    p.bytesize = bytes;
    const cudaError_t error = add_captured(stream, [&](cudaGraphNode_t n) { return set_allocation(n, &p); });
    if (error == cudaSuccess) *memory = p.dptr;
    return error;
}

cudaError_t capture_release(cudaStream_t stream, void* memory) {
    return add_captured(stream, [&](cudaGraphNode_t n) { return set_release(n, memory); });
}

}  // namespace simt

using namespace simt;

// ---- Building --------------------------------------------------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!graph || flags != 0) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(state_mutex());
    *graph = new_graph();
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!graphs().has(graph) || graph->owned_by_node) return fail(cudaErrorInvalidValue);
    delete_graph(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!clone || !graphs().has(original)) return fail(cudaErrorInvalidValue);
    if (has_condition(original) || has_memory(original)) return fail(cudaErrorNotSupported);
    *clone = clone_graph(original);
    return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!node || !nodes().has(original) || !graphs().has(clone)) return fail(cudaErrorInvalidValue);
    cudaGraphNode_t twin = find_twin(clone, original);
    if (!twin) return fail(cudaErrorInvalidValue);
    *node = twin;
    return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* parameters) {
    if (!parameters) return fail(cudaErrorInvalidValue);
    return add(node, graph, dependencies, count,
               [&](cudaGraphNode_t n) { return set_kernel(n, *parameters); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
    if (!parameters) return fail(cudaErrorInvalidValue);
    return add(node, graph, dependencies, count, [&](cudaGraphNode_t n) { return set_copy(n, *parameters); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count, void* destination,
                                     const void* source, size_t bytes, cudaMemcpyKind kind) {
    const cudaMemcpy3DParms copy = linear_copy(destination, source, bytes, kind);
    return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

// Address of [offset, offset + bytes) of a symbol.
static cudaError_t symbol_range(const void* symbol, size_t bytes, size_t offset, char** place) {
    size_t size = 0;
    if (const cudaError_t error = cudaGetSymbolSize(&size, symbol)) return error;
    if (offset > size || bytes > size - offset) return fail(cudaErrorInvalidValue);
    *place = static_cast<char*>(const_cast<void*>(symbol)) + offset;
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count,
                                           const void* symbol, const void* source, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
    char* place = nullptr;
    if (const cudaError_t error = symbol_range(symbol, bytes, offset, &place)) return error;
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, place, source, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count,
                                             void* destination, const void* symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind) {
    char* place = nullptr;
    if (const cudaError_t error = symbol_range(symbol, bytes, offset, &place)) return error;
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, destination, place, bytes, kind);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* parameters) {
    if (!parameters) return fail(cudaErrorInvalidValue);
    return add(node, graph, dependencies, count, [&](cudaGraphNode_t n) { return set_fill(n, *parameters); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* parameters) {
    if (!parameters) return fail(cudaErrorInvalidValue);
    return add(node, graph, dependencies, count, [&](cudaGraphNode_t n) { return set_host(n, *parameters); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
    return add(node, graph, dependencies, count, [](cudaGraphNode_t) { return cudaSuccess; });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count, cudaGraph_t child) {
    return add(node, graph, dependencies, count, [&](cudaGraphNode_t n) { return set_child(n, child); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
    return add(node, graph, dependencies, count,
               [&](cudaGraphNode_t n) { return set_event(n, event, true); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count, cudaEvent_t event) {
    return add(node, graph, dependencies, count,
               [&](cudaGraphNode_t n) { return set_event(n, event, false); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
    return add(node, graph, dependencies, count,
               [&](cudaGraphNode_t n) { return set_allocation(n, parameters); });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count, void* memory) {
    return add(node, graph, dependencies, count, [&](cudaGraphNode_t n) { return set_release(n, memory); });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData*, size_t count, cudaGraphNodeParams* parameters) {
    if (!parameters) return fail(cudaErrorInvalidValue);
    cudaGraphNodeParams& p = *parameters;
    return add(node, graph, dependencies, count, [&](cudaGraphNode_t n) {
        switch (p.type) {
            case cudaGraphNodeTypeKernel:
                return set_kernel(n, p.kernel);
            case cudaGraphNodeTypeMemcpy:
                return set_copy(n, p.memcpy.copyParams);
            case cudaGraphNodeTypeMemset:
                return set_fill(n, p.memset);
            case cudaGraphNodeTypeHost:
                return set_host(n, p.host);
            case cudaGraphNodeTypeGraph:
                return set_child(n, p.graph.graph);
            case cudaGraphNodeTypeEmpty:
                return cudaSuccess;
            case cudaGraphNodeTypeWaitEvent:
                return set_event(n, p.eventWait.event, false);
            case cudaGraphNodeTypeEventRecord:
                return set_event(n, p.eventRecord.event, true);
            case cudaGraphNodeTypeConditional:
                return set_condition(n, p.conditional);
            case cudaGraphNodeTypeMemAlloc:
                return set_allocation(n, &p.alloc);
            case cudaGraphNodeTypeMemFree:
                return set_release(n, p.free.dptr);
            default:
                return cudaErrorNotSupported;
        }
    });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!graphs().has(graph) || (count > 0 && (!from || !to))) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        if (!nodes().has(from[i]) || !nodes().has(to[i]) || from[i]->graph != graph ||
            to[i]->graph != graph || from[i] == to[i])
            return fail(cudaErrorInvalidValue);
        const auto& known = to[i]->dependencies;
        if (std::count(known.begin(), known.end(), from[i])) return fail(cudaErrorInvalidValue);
    }
    for (size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
    return cudaSuccess;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!graphs().has(graph) || (count > 0 && (!from || !to))) return fail(cudaErrorInvalidValue);
    if (has_memory(graph)) return fail(cudaErrorNotSupported);
    for (size_t i = 0; i < count; ++i) {
        if (!nodes().has(from[i]) || !nodes().has(to[i])) return fail(cudaErrorInvalidValue);
        auto& known = to[i]->dependencies;
        auto found = std::find(known.begin(), known.end(), from[i]);
        if (found == known.end()) return fail(cudaErrorInvalidValue);
        known.erase(found);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!nodes().has(node)) return fail(cudaErrorInvalidValue);
    cudaGraph_t graph = node->graph;
    if (has_memory(graph)) return fail(cudaErrorNotSupported);
    for (const auto& other : graph->nodes) {
        auto& before = other->dependencies;
        before.erase(std::remove(before.begin(), before.end(), node), before.end());
    }
    delete_node_contents(*node);
    auto mine = std::find_if(graph->nodes.begin(), graph->nodes.end(),
                             [&](const auto& n) { return n.get() == node; });
    graph->nodes.erase(mine);
    return cudaSuccess;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned int default_value, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!handle || !graphs().has(graph) || (flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)))
        return fail(cudaErrorInvalidValue);
    auto* condition =
        new Condition{graph, default_value, (flags & cudaGraphCondAssignDefault) != 0, {default_value}};
    conditions().insert(condition);
    *handle = reinterpret_cast<cudaGraphConditionalHandle>(condition);
    graph->handles.push_back(*handle);
    return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
    if (handle) reinterpret_cast<Condition*>(handle)->value.store(value, std::memory_order_release);
}

// ---- Looking ---------------------------------------------------------------------------------------------

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out, size_t* count) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!graphs().has(graph)) return fail(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return fail(give(all, out, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out, size_t* count) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!graphs().has(graph)) return fail(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> roots;
    for (const auto& node : graph->nodes)
        if (node->dependencies.empty()) roots.push_back(node.get());
    return fail(give(roots, out, count));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!graphs().has(graph) || !count || (from == nullptr) != (to == nullptr))
        return fail(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> begins, ends;
    for (const auto& node : graph->nodes) {
        for (cudaGraphNode_t before : node->dependencies) {
            begins.push_back(before);
            ends.push_back(node.get());
        }
    }
    size_t room = *count;
    if (edges)
        for (size_t i = 0; i < std::min(room, begins.size()); ++i) edges[i] = {};
    give(begins, from, count);
    return fail(give(ends, to, from ? &room : count));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!type || !nodes().has(node)) return fail(cudaErrorInvalidValue);
    *type = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData*,
                                         size_t* count) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!nodes().has(node)) return fail(cudaErrorInvalidValue);
    return fail(give(node->dependencies, out, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData*,
                                           size_t* count) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!nodes().has(node)) return fail(cudaErrorInvalidValue);
    return fail(give(dependents_of(node), out, count));
}

// Reads one parameter member of a node whose kind must be `type`.
template <class T>
static cudaError_t read_node(cudaGraphNode_t node, cudaGraphNodeType type, T CUgraphNode_st::*member,
                             T* out) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!out || !nodes().has(node) || node->type != type) return fail(cudaErrorInvalidValue);
    *out = node->*member;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* out) {
    return read_node(node, cudaGraphNodeTypeKernel, &CUgraphNode_st::kernel, out);
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* out) {
    return read_node(node, cudaGraphNodeTypeMemcpy, &CUgraphNode_st::copy, out);
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* out) {
    return read_node(node, cudaGraphNodeTypeMemset, &CUgraphNode_st::fill, out);
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* out) {
    return read_node(node, cudaGraphNodeTypeHost, &CUgraphNode_st::host, out);
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* out) {
    return read_node(node, cudaGraphNodeTypeGraph, &CUgraphNode_st::child, out);
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
    return read_node(node, cudaGraphNodeTypeEventRecord, &CUgraphNode_st::event, out);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
    return read_node(node, cudaGraphNodeTypeWaitEvent, &CUgraphNode_st::event, out);
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* out) {
    return read_node(node, cudaGraphNodeTypeMemAlloc, &CUgraphNode_st::allocation, out);
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
    return read_node(node, cudaGraphNodeTypeMemFree, &CUgraphNode_st::memory, static_cast<void**>(out));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!graphs().has(graph) || !path) return fail(cudaErrorInvalidValue);
    std::FILE* file = std::fopen(path, "w");
    if (!file) return fail(cudaErrorOperatingSystem);
    static const char* const kinds[] = {"kernel",     "memcpy",       "memset", "host", "graph", "empty",
                                        "event wait", "event record", "signal", "wait", "alloc", "free",
                                        "?",          "conditional"};
    std::fprintf(file, "digraph graph_ {\n");
    for (const auto& node : graph->nodes) {
        std::fprintf(file, "  n%llu [label=\"%s\\n%s\"];\n", node->order, kinds[node->type],
                     node->operation.name ? node->operation.name : "");
        for (cudaGraphNode_t before : node->dependencies)
            std::fprintf(file, "  n%llu -> n%llu;\n", before->order, node->order);
    }
    std::fprintf(file, "}\n");
    return fail(std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
    return cudaGraphExecKernelNodeSetParams(nullptr, node, p);
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
    return cudaGraphExecMemcpyNodeSetParams(nullptr, node, p);
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* destination, const void* source,
                                           size_t bytes, cudaMemcpyKind kind) {
    return cudaGraphExecMemcpyNodeSetParams1D(nullptr, node, destination, source, bytes, kind);
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
    return cudaGraphExecMemsetNodeSetParams(nullptr, node, p);
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
    return cudaGraphExecHostNodeSetParams(nullptr, node, p);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
    if (!p) return fail(cudaErrorInvalidValue);
    return change(executable, node, cudaGraphNodeTypeKernel,
                  [&](cudaGraphNode_t n) { return set_kernel(n, *p); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
    if (!p) return fail(cudaErrorInvalidValue);
    return change(executable, node, cudaGraphNodeTypeMemcpy,
                  [&](cudaGraphNode_t n) { return set_copy(n, *p); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* destination, const void* source, size_t bytes,
                                               cudaMemcpyKind kind) {
    const cudaMemcpy3DParms copy = linear_copy(destination, source, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(executable, node, &copy);
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
    if (!p) return fail(cudaErrorInvalidValue);
    return change(executable, node, cudaGraphNodeTypeMemset,
                  [&](cudaGraphNode_t n) { return set_fill(n, *p); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
    if (!p) return fail(cudaErrorInvalidValue);
    return change(executable, node, cudaGraphNodeTypeHost,
                  [&](cudaGraphNode_t n) { return set_host(n, *p); });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
    return cudaGraphExecNodeSetParams(nullptr, node, p);
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* p) {
    if (!p) return fail(cudaErrorInvalidValue);
    return change(executable, node, p->type, [&](cudaGraphNode_t n) {
        switch (p->type) {
            case cudaGraphNodeTypeKernel:
                return set_kernel(n, p->kernel);
            case cudaGraphNodeTypeMemcpy:
                return set_copy(n, p->memcpy.copyParams);
            case cudaGraphNodeTypeMemset:
                return set_fill(n, p->memset);
            case cudaGraphNodeTypeHost:
                return set_host(n, p->host);
            case cudaGraphNodeTypeWaitEvent:
                return set_event(n, p->eventWait.event, false);
            case cudaGraphNodeTypeEventRecord:
                return set_event(n, p->eventRecord.event, true);
            default:
                return cudaErrorNotSupported;
        }
    });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
    if (!value) return fail(cudaErrorInvalidValue);
    return change(nullptr, node, cudaGraphNodeTypeKernel, [&](cudaGraphNode_t n) {
        if (is_cluster(id, *value)) return cudaErrorNotSupported;
        const auto before = n->attributes;
        n->attributes[id] = *value;
        if (id != cudaLaunchAttributeCooperative) return cudaSuccess;
        const cudaError_t error = set_kernel(n, n->kernel);
        if (error != cudaSuccess) n->attributes = before;
        return error;
    });
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
    if (!value) return fail(cudaErrorInvalidValue);
    return change(nullptr, node, cudaGraphNodeTypeKernel, [&](cudaGraphNode_t n) {
        const auto found = n->attributes.find(id);
        *value = found == n->attributes.end() ? cudaLaunchAttributeValue{} : found->second;
        return cudaSuccess;
    });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t destination, cudaGraphNode_t source) {
    std::map<int, cudaLaunchAttributeValue> attributes;
    if (const cudaError_t error =
            read_node(source, cudaGraphNodeTypeKernel, &CUgraphNode_st::attributes, &attributes))
        return error;
    for (const auto& [id, value] : attributes)
        if (const cudaError_t error =
                cudaGraphKernelNodeSetAttribute(destination, static_cast<cudaLaunchAttributeID>(id), &value))
            return error;
    return cudaSuccess;
}
