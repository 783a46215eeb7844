#pragma once
/// @file
/// The owner of a graph, and of what can be launched of it.

#include "rungs/cuda_check.cuh"
#include "rungs/stream.cuh"

namespace gradient_descent {

/// Empty at first; destroys what it holds. An executable that is still running then runs to its end, and CUDA
/// frees it afterwards: nobody has to wait.
struct Graph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;  ///< nothing, until cudaGraphInstantiate() makes it

    Graph() { CUDA_CHECK(cudaGraphCreate(&graph, 0)); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
        if (executable) static_cast<void>(cudaGraphExecDestroy(executable));
        static_cast<void>(cudaGraphDestroy(graph));
    }

    /// Adds a conditional node, which depends on no other one.
    /// @param type    when its body runs
    /// @param handle  the value that it asks, made by cudaGraphConditionalHandleCreate() for this graph
    /// @returns its body: a graph, empty so far, that belongs to this one
    cudaGraph_t add_conditional(cudaGraphConditionalNodeType type, cudaGraphConditionalHandle handle) {
        cudaGraphNodeParams node{};
        node.type = cudaGraphNodeTypeConditional;
        node.conditional.handle = handle;
        node.conditional.type = type;
        node.conditional.size = 1;
        cudaGraphNode_t added = nullptr;
#if CUDART_VERSION >= 13000
        CUDA_CHECK(cudaGraphAddNode(&added, graph, nullptr, nullptr, 0, &node));
#else
        CUDA_CHECK(cudaGraphAddNode(&added, graph, nullptr, 0, &node));
#endif
        return node.conditional.phGraph_out[0];
    }
};

}  // namespace gradient_descent
