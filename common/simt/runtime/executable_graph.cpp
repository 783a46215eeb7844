// Graphs that can be launched.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/graph_state.h"
#include "runtime/memory.h"

namespace simt {

void reset_graphs() {
    std::lock_guard lock(state_mutex());
    while (!executables().live.empty()) {
        cudaGraphExec_t executable = *executables().live.begin();
        delete_graph(executable->graph);
        executables().live.erase(executable);
        delete executable;
    }
    std::vector<cudaGraph_t> roots;
    for (cudaGraph_t graph : graphs().live)
        if (!graph->owned_by_node) roots.push_back(graph);
    for (cudaGraph_t graph : roots) delete_graph(graph);
}

}  // namespace simt

using namespace simt;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    constexpr unsigned long long all = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                       cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagDeviceLaunch |
                                       cudaGraphInstantiateFlagUseNodePriority;
    if (!executable || !graphs().has(graph) || (flags & ~all)) return fail(cudaErrorInvalidValue);
    // Launching graphs from kernels is not possible here.
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) return fail(cudaErrorNotSupported);
    if (!graph->nodes.empty() && topological_order(graph).empty())
        return fail(cudaErrorInvalidValue);  // a cycle
    if (has_memory(graph))
        for (cudaGraphExec_t other : executables().live)
            if (other->graph->original == graph) return fail(cudaErrorNotSupported);
    auto created = std::make_unique<CUgraphExec_st>();
    created->graph = clone_graph(graph);
    created->graph->owned_by_node = true;
    created->order = topological_order(created->graph);
    created->flags = flags;
    executables().live.insert(created.get());
    *executable = created.release();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
    return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!executables().has(executable)) return fail(cudaErrorInvalidValue);
    executables().live.erase(executable);
    delete_graph(executable->graph);
    delete executable;
    return cudaSuccess;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!flags || !executables().has(executable)) return fail(cudaErrorInvalidValue);
    *flags = executable->flags;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
    if (const cudaError_t error = enter()) return fail(error);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    Operation operation{Operation::Kind::child_graph, "cudaGraphLaunch", {}};
    {
        std::lock_guard lock(state_mutex());
        if (!executables().has(executable)) return fail(cudaErrorInvalidValue);
        if (stream->capture) {
            // A launch in a capture becomes a child graph.
            if (stream->capture->invalidated) return fail(cudaErrorStreamCaptureInvalidated);
            if (has_memory(executable->graph)) return fail(cudaErrorNotSupported);
            cudaGraphNode_t node =
                add_node(stream->capture->graph, cudaGraphNodeTypeGraph, operation, stream->frontier);
            node->child = clone_graph(executable->graph);
            node->child->owned_by_node = true;
            stream->frontier = {node};
            return cudaSuccess;
        }
    }
    operation.run = [executable] {
        const bool release = executable->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
        if (const cudaError_t error = ready_memory(executable->order, release)) return error;
        for (cudaGraphConditionalHandle h : executable->graph->handles) {
            auto* condition = reinterpret_cast<Condition*>(h);
            if (condition->assign_default) condition->value = condition->default_value;
        }
        return run_nodes(executable->order);
    };
    return fail(enqueue(handle, std::move(operation)));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!executables().has(executable)) return fail(cudaErrorInvalidValue);
    return fail(resolve(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!info || !executables().has(executable) || !graphs().has(graph)) return fail(cudaErrorInvalidValue);
    *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    const auto refuse = [&](cudaGraphExecUpdateResult why, cudaGraphNode_t node) {
        *info = {why, node, nullptr};
        return fail(cudaErrorGraphExecUpdateFailure);
    };
    if (has_memory(executable->graph) || has_memory(graph))
        return refuse(cudaGraphExecUpdateErrorNotSupported, nullptr);
    // Nodes are paired in the order in which they were added, which is how equal code builds equal graphs.
    auto& mine = executable->graph->nodes;
    if (mine.size() != graph->nodes.size()) return refuse(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    std::unordered_map<cudaGraphNode_t, std::size_t> my_index, its_index;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        my_index[mine[i].get()] = i;
        its_index[graph->nodes[i].get()] = i;
    }
    for (std::size_t i = 0; i < mine.size(); ++i) {
        const auto& node = graph->nodes[i];
        if (mine[i]->type != node->type) return refuse(cudaGraphExecUpdateErrorNodeTypeChanged, node.get());
        std::vector<std::size_t> a, b;
        for (cudaGraphNode_t before : mine[i]->dependencies) a.push_back(my_index[before]);
        for (cudaGraphNode_t before : node->dependencies) b.push_back(its_index[before]);
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        if (a != b) return refuse(cudaGraphExecUpdateErrorTopologyChanged, node.get());
        if (node->type == cudaGraphNodeTypeConditional)
            return refuse(cudaGraphExecUpdateErrorNotSupported, node.get());
    }
    // Handles of the executable graph's nodes stay those of the graph it was made from.
    cudaGraph_t fresh = clone_graph(graph);
    fresh->owned_by_node = true;
    fresh->handles = executable->graph->handles;
    for (std::size_t i = 0; i < mine.size(); ++i) fresh->nodes[i]->original = mine[i]->original;
    delete_graph(executable->graph);
    executable->graph = fresh;
    executable->order = topological_order(fresh);
    return cudaSuccess;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int enabled) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!executables().has(executable) || !nodes().has(node)) return fail(cudaErrorInvalidValue);
    cudaGraphNode_t twin = find_twin(executable->graph, node);
    // CUDA lets only these kinds be switched off.
    if (!twin || (twin->type != cudaGraphNodeTypeKernel && twin->type != cudaGraphNodeTypeMemcpy &&
                  twin->type != cudaGraphNodeTypeMemset))
        return fail(cudaErrorInvalidValue);
    twin->enabled = enabled != 0;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int* enabled) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!enabled || !executables().has(executable) || !nodes().has(node)) return fail(cudaErrorInvalidValue);
    cudaGraphNode_t twin = find_twin(executable->graph, node);
    if (!twin) return fail(cudaErrorInvalidValue);
    *enabled = twin->enabled;
    return cudaSuccess;
}
