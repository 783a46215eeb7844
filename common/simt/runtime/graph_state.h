/// @file
/// Graphs as the runtime keeps them. All of this is guarded by state_mutex().
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "runtime/stream_state.h"
#include "simt/attributes.h"

namespace simt {

/// A condition that kernels set and conditional nodes test; its address is the handle. It lives until the
/// graph it was created for is destroyed, and longer while an executable graph may test it: conditions
/// are never freed.
struct Condition {
    cudaGraph_t graph;
    unsigned default_value;
    bool assign_default;
    std::atomic<unsigned> value;
};

/// Adds a node with the given dependencies.
cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNodeType type, Operation operation,
                         const std::vector<cudaGraphNode_t>& dependencies);
cudaGraph_t new_graph();
void delete_graph(cudaGraph_t graph);

/// An order that respects the dependencies: of the nodes that are ready, the one added first. Empty if there
/// is a cycle.
std::vector<cudaGraphNode_t> topological_order(cudaGraph_t graph);
/// Runs the nodes one after the other.
cudaError_t run_nodes(const std::vector<cudaGraphNode_t>& order);
cudaGraph_t clone_graph(cudaGraph_t original);
/// The node of a clone that was made from `node`; null if there is none.
cudaGraphNode_t find_twin(cudaGraph_t clone, cudaGraphNode_t node);
/// True if a node of the graph, or of one inside it, is conditional.
bool has_condition(cudaGraph_t graph);
/// Deletes the graphs that a node owns, gives its memory up, and forgets it.
void delete_node_contents(CUgraphNode_st& node);

/// Makes of `node` one that allocates memory, and tells its address; the same, one that frees it.
cudaError_t set_allocation(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters);
cudaError_t set_release(cudaGraphNode_t node, void* memory);
/// One more node allocates this memory, a copy of the first; one less does. The last one gives it up.
void share_memory(void* memory);
void give_memory_up(void* memory);
/// True if a node of the graph allocates or frees memory. Such a graph is not copied, but by one
/// instantiation.
bool has_memory(cudaGraph_t graph);
/// `cudaErrorInvalidValue` if memory that a launch of these nodes would allocate is still there; with
/// `release`, frees it.
cudaError_t ready_memory(const std::vector<cudaGraphNode_t>& order, bool release);
/// A copy of a graph gets references to its user objects; a graph that goes gives its own back.
void share_objects(cudaGraph_t graph);
void give_objects_up(cudaGraph_t graph);
/// What cudaMallocAsync() and cudaFreeAsync() do in a stream that is captured.
cudaError_t capture_allocation(cudaStream_t stream, std::size_t bytes, void** memory);
cudaError_t capture_release(cudaStream_t stream, void* memory);

}  // namespace simt

/// One node of a graph. Which of the parameter members count depends on `type`.
struct CUgraphNode_st {
    cudaGraph_t graph = nullptr;
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    simt::Operation operation{};
    std::vector<cudaGraphNode_t> dependencies;
    bool enabled = true;
    cudaGraphNode_t original = nullptr;  // of a clone: the node it was cloned from
    unsigned long long order = 0;        // of creation: breaks ties

    cudaKernelNodeParams kernel{};
    std::vector<std::vector<unsigned long long>>
        arguments;  // copies of the kernel's arguments, 8-byte aligned
    std::vector<void*> argument_pointers;
    std::map<int, cudaLaunchAttributeValue> attributes;  // by cudaLaunchAttributeID
    cudaMemcpy3DParms copy{};
    bool copy_known = false;  // false for copies that cudaMemcpy3DParms cannot express as captured
    cudaMemsetParams fill{};
    cudaHostNodeParams host{};
    cudaEvent_t event = nullptr;
    cudaGraph_t child = nullptr;  // owned
    cudaConditionalNodeParams condition{};
    std::vector<cudaGraph_t> bodies;  // owned
    cudaMemAllocNodeParams allocation{};
    std::vector<cudaMemAccessDesc> access;  // where allocation.accessDescs points to
    void* memory = nullptr;                 // that is allocated or freed
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    cudaGraph_t original = nullptr;
    bool owned_by_node = false;
    std::vector<cudaGraphConditionalHandle> handles;
    std::map<cudaUserObject_t, unsigned> objects;  // and how many references to each
};

struct CUgraphExec_st {
    cudaGraph_t graph = nullptr;  // a clone, owned
    std::vector<cudaGraphNode_t> order;
    unsigned long long flags = 0;
};
