/// @file
/// Streams, events and graphs as the runtime keeps them, and the checks at the door of every API function.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "simt/api.h"
#include "simt/graph.h"
#include "simt/stream.h"

namespace simt {

/// First line of every API function: `cudaErrorNotPermitted` inside a host function of a stream, the sticky
/// error after a crash, else `cudaSuccess`.
cudaError_t enter();
/// The same for calls that a capture forbids because they may wait for the device (cudaMalloc, cudaEventQuery
/// ...): also `cudaErrorStreamCaptureUnsupported`, and the captures become invalid.
cudaError_t enter_unsafe();

/// Guards streams, events, captures and graphs; never held while an operation runs. Recursive: a function
/// that holds it may call another that takes it.
std::recursive_mutex& state_mutex();

/// A capture in progress: the streams that take part add their work to `graph`.
struct Capture {
    cudaGraph_t graph = nullptr;
    bool owns_graph = true;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    unsigned long long id = 0;
    cudaStream_t origin = nullptr;
    std::thread::id thread;
    bool invalidated = false;
    std::unordered_set<cudaStream_t> streams;
};

/// The set of handles of one type that were created and not yet destroyed. Guarded by state_mutex().
template <class Handle>
struct Registry {
    std::unordered_set<Handle> live;
    bool has(Handle handle) const { return live.count(handle) != 0; }
};
Registry<cudaStream_t>& streams();
Registry<cudaEvent_t>& events();
Registry<cudaGraph_t>& graphs();
Registry<cudaGraphNode_t>& nodes();
Registry<cudaGraphExec_t>& executables();

/// The stream behind a handle (0, cudaStreamLegacy, cudaStreamPerThread or a created one); null if
/// there is none.
cudaStream_t resolve(cudaStream_t stream);
bool is_legacy(cudaStream_t resolved);

/// Runs `action` in `stream` now, holding the locks that keep operations of a stream apart. `name` as
/// Operation's; null: it does nothing but wait.
cudaError_t execute(cudaStream_t resolved, const Action& action, const char* name);
/// Tells the checks that the host has waited for `stream`.
void note_wait(cudaStream_t resolved);
/// True while this host thread runs an operation.
bool executing();

/// Calls a host function with the mark that makes API calls in it fail.
void call_host(cudaHostFn_t function, void* user_data);

/// Runs `make(context)` so that the operation it enqueues lands in `into` instead of a stream.
cudaError_t record(Operation* into, cudaError_t (*make)(const void*), const void* context);
/// Stamps an event with the present time.
cudaError_t stamp_event(cudaEvent_t event);

/// Adds a node with the given dependencies. Guarded by state_mutex().
cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNodeType type, Operation operation,
                         const std::vector<cudaGraphNode_t>& dependencies);
cudaGraph_t new_graph();
void delete_graph(cudaGraph_t graph);

/// Destroys all streams, events, graphs: cudaDeviceReset().
void reset_streams();
void reset_textures();
void reset_graphs();

}  // namespace simt

struct CUstream_st {
    unsigned long long id = 0;
    unsigned flags = 0;
    int priority = 0;
    std::recursive_mutex busy;  // held while an operation of this stream runs
    std::shared_ptr<simt::Capture> capture;
    std::vector<cudaGraphNode_t> frontier;  // what the next captured operation depends on
};

struct CUevent_st {
    unsigned flags = 0;
    bool recorded = false;
    std::chrono::steady_clock::time_point time;
    std::shared_ptr<simt::Capture> capture;
    std::vector<cudaGraphNode_t> frontier;
};

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
    cudaMemcpy3DParms copy{};
    bool copy_known = false;  // false for copies that cudaMemcpy3DParms cannot express as captured
    cudaMemsetParams fill{};
    cudaHostNodeParams host{};
    cudaEvent_t event = nullptr;
    cudaGraph_t child = nullptr;  // owned
    cudaConditionalNodeParams condition{};
    std::vector<cudaGraph_t> bodies;  // owned
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    cudaGraph_t original = nullptr;
    bool owned_by_node = false;
    std::vector<cudaGraphConditionalHandle> handles;
};

struct CUgraphExec_st {
    cudaGraph_t graph = nullptr;  // a clone, owned
    std::vector<cudaGraphNode_t> order;
    unsigned long long flags = 0;
};
