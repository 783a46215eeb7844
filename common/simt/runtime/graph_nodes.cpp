// Graphs as they are kept: their nodes, copies of them, and how they run.
#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "runtime/graph_state.h"
#include "runtime/observe.h"

namespace simt {

cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNodeType type, Operation operation,
                         const std::vector<cudaGraphNode_t>& dependencies) {
    auto node = std::make_unique<CUgraphNode_st>();
    node->graph = graph;
    node->type = type;
    node->operation = std::move(operation);
    node->dependencies = dependencies;
    static std::atomic<unsigned long long> next_order{1};
    node->order = next_order++;
    node->kernel.gridDim = node->operation.grid;
    node->kernel.blockDim = node->operation.block;
    node->kernel.sharedMemBytes = static_cast<unsigned>(node->operation.shared_bytes);
    cudaGraphNode_t handle = node.get();
    nodes().live.insert(handle);
    graph->nodes.push_back(std::move(node));
    return handle;
}

cudaGraph_t new_graph() {
    auto* graph = new CUgraph_st;
    graphs().live.insert(graph);
    return graph;
}

void delete_graph(cudaGraph_t graph) {
    for (auto& node : graph->nodes) delete_node_contents(*node);
    for (cudaGraphExec_t executable : executables().live)
        if (executable->graph->original == graph) executable->graph->original = nullptr;
    graphs().live.erase(graph);
    give_objects_up(graph);
    delete graph;
}

std::vector<cudaGraphNode_t> topological_order(cudaGraph_t graph) {
    std::unordered_map<cudaGraphNode_t, std::size_t> missing;
    std::unordered_map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> dependents;
    const auto later = [](cudaGraphNode_t a, cudaGraphNode_t b) { return a->order > b->order; };
    std::vector<cudaGraphNode_t> ready, order;
    for (const auto& node : graph->nodes) {
        missing[node.get()] = node->dependencies.size();
        for (cudaGraphNode_t before : node->dependencies) dependents[before].push_back(node.get());
        if (node->dependencies.empty()) ready.push_back(node.get());
    }
    std::make_heap(ready.begin(), ready.end(), later);
    while (!ready.empty()) {
        std::pop_heap(ready.begin(), ready.end(), later);
        cudaGraphNode_t node = ready.back();
        ready.pop_back();
        order.push_back(node);
        for (cudaGraphNode_t next : dependents[node]) {
            if (--missing[next] != 0) continue;
            ready.push_back(next);
            std::push_heap(ready.begin(), ready.end(), later);
        }
    }
    if (order.size() != graph->nodes.size()) order.clear();
    return order;
}

namespace {

cudaError_t run_graph(cudaGraph_t graph) { return run_nodes(topological_order(graph)); }

cudaError_t run_condition(cudaGraphNode_t node) {
    auto* condition = reinterpret_cast<Condition*>(node->condition.handle);
    const auto value = [condition] { return condition->value.load(std::memory_order_acquire); };
    switch (node->condition.type) {
        case cudaGraphCondTypeIf:
            if (value() != 0) return run_graph(node->bodies[0]);
            return node->bodies.size() > 1 ? run_graph(node->bodies[1]) : cudaSuccess;
        case cudaGraphCondTypeWhile: {
            const std::vector<cudaGraphNode_t> order = topological_order(node->bodies[0]);
            while (value() != 0)
                if (const cudaError_t error = run_nodes(order)) return error;
            return cudaSuccess;
        }
        case cudaGraphCondTypeSwitch: {
            const unsigned chosen = value();
            return chosen < node->bodies.size() ? run_graph(node->bodies[chosen]) : cudaSuccess;
        }
    }
    return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t run_nodes(const std::vector<cudaGraphNode_t>& order) {
    struct Level {
        Level() { observe::graph_begins(); }
        ~Level() { observe::graph_ends(); }
    } level;
    for (cudaGraphNode_t node : order) {
        struct Now {
            explicit Now(cudaGraphNode_t n) : node(n) {
                observe::node_begins(reinterpret_cast<const void* const*>(node->dependencies.data()),
                                     node->dependencies.size(), node->operation.name);
            }
            ~Now() { observe::node_ends(node); }
            cudaGraphNode_t node;
        } now(node);
        if (!node->enabled) continue;
        cudaError_t error = cudaSuccess;
        if (node->type == cudaGraphNodeTypeGraph) {
            error = run_graph(node->child);
        } else if (node->type == cudaGraphNodeTypeConditional) {
            error = run_condition(node);
        } else if (node->operation.run) {
            error = node->operation.run();
        }
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaGraph_t clone_graph(cudaGraph_t original) {
    cudaGraph_t clone = new_graph();
    clone->original = original;
    clone->handles = original->handles;
    clone->objects = original->objects;
    share_objects(clone);
    std::unordered_map<cudaGraphNode_t, cudaGraphNode_t> twin;
    for (const auto& node : original->nodes) {
        auto copy = std::make_unique<CUgraphNode_st>();
        copy->graph = clone;
        copy->type = node->type;
        copy->operation = node->operation;
        copy->enabled = node->enabled;
        copy->original = node.get();
        copy->order = node->order;
        copy->kernel = node->kernel;
        copy->arguments = node->arguments;
        copy->attributes = node->attributes;
        for (auto& argument : copy->arguments) copy->argument_pointers.push_back(argument.data());
        copy->kernel.kernelParams =
            copy->argument_pointers.empty() ? nullptr : copy->argument_pointers.data();
        copy->copy = node->copy;
        copy->copy_known = node->copy_known;
        copy->fill = node->fill;
        copy->host = node->host;
        copy->event = node->event;
        copy->condition = node->condition;
        copy->allocation = node->allocation;
        copy->access = node->access;
        copy->allocation.accessDescs = copy->access.data();
        copy->memory = node->memory;
        if (copy->type == cudaGraphNodeTypeMemAlloc) share_memory(copy->memory);
        const auto own = [](cudaGraph_t graph) {
            cudaGraph_t owned = clone_graph(graph);
            owned->owned_by_node = true;
            return owned;
        };
        if (node->child) copy->child = own(node->child);
        for (cudaGraph_t body : node->bodies) copy->bodies.push_back(own(body));
        copy->condition.phGraph_out = copy->bodies.empty() ? nullptr : copy->bodies.data();
        twin[node.get()] = copy.get();
        nodes().live.insert(copy.get());
        clone->nodes.push_back(std::move(copy));
    }
    for (const auto& node : original->nodes)
        for (cudaGraphNode_t before : node->dependencies)
            twin[node.get()]->dependencies.push_back(twin[before]);
    return clone;
}

cudaGraphNode_t find_twin(cudaGraph_t clone, cudaGraphNode_t node) {
    for (const auto& candidate : clone->nodes)
        if (candidate->original == node) return candidate.get();
    return nullptr;
}

bool has_condition(cudaGraph_t graph) {
    for (const auto& node : graph->nodes) {
        if (node->type == cudaGraphNodeTypeConditional) return true;
        if (node->child && has_condition(node->child)) return true;
    }
    return false;
}

void delete_node_contents(CUgraphNode_st& node) {
    if (node.type == cudaGraphNodeTypeMemAlloc) give_memory_up(node.memory);
    if (node.child) delete_graph(node.child);
    for (cudaGraph_t body : node.bodies) delete_graph(body);
    nodes().live.erase(&node);
}

}  // namespace simt
