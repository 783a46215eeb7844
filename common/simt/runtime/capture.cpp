// Operations on their way into a stream, or into the graph that captures it.
#include <algorithm>
#include <utility>

#include "runtime/graph_state.h"
#include "runtime/memory.h"

namespace simt {
namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// All captures in progress. Guarded by state_mutex().
std::vector<std::shared_ptr<Capture>>& captures() {
    static auto* list = new std::vector<std::shared_ptr<Capture>>;
    return *list;
}

// Drops a capture: the streams in it are free again.
void end_capture(const std::shared_ptr<Capture>& capture) {
    for (cudaStream_t stream : capture->streams) {
        stream->capture.reset();
        stream->frontier.clear();
    }
    capture->streams.clear();
    std::erase(captures(), capture);
}

// Whether `capture` forbids this host thread to make calls that may wait for the device.
bool forbids(const Capture& capture) {
    if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
    if (capture.thread == std::this_thread::get_id()) return capture.mode != cudaStreamCaptureModeRelaxed;
    return thread_mode == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

thread_local Operation* recorder = nullptr;

/// The kind of node that an operation becomes when it is captured; by Operation::Kind.
constexpr cudaGraphNodeType node_types[] = {
    cudaGraphNodeTypeKernel,   cudaGraphNodeTypeMemcpy,      cudaGraphNodeTypeMemset,
    cudaGraphNodeTypeHost,     cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent,
    cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree,     cudaGraphNodeTypeGraph,
    cudaGraphNodeTypeEmpty,    cudaGraphNodeTypeEmpty,
};

}  // namespace

cudaError_t enter_unsafe() {
    if (const cudaError_t error = enter()) return error;
    std::lock_guard lock(state_mutex());
    bool forbidden = false;
    for (const auto& capture : captures()) {
        if (!forbids(*capture)) continue;
        capture->invalidated = true;
        forbidden = true;
    }
    return forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t record(Operation* into, cudaError_t (*make)(const void*), const void* context) {
    Operation* outer = recorder;
    recorder = into;
    const cudaError_t error = make(context);
    recorder = outer;
    return error;
}

cudaError_t enqueue(cudaStream_t handle, Operation operation) {
    if (recorder) {
        *recorder = std::move(operation);
        return cudaSuccess;
    }
    cudaStream_t stream = resolve(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!executing()) {
        std::lock_guard lock(state_mutex());
        if (stream->capture) {
            if (stream->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
            const cudaGraphNodeType type = node_types[static_cast<int>(operation.kind)];
            cudaGraphNode_t node =
                add_node(stream->capture->graph, type, std::move(operation), stream->frontier);
            stream->frontier = {node};
            return cudaSuccess;
        }
        if (is_legacy(stream)) {
            // The legacy stream would have to wait for the blocking streams that are being captured.
            bool implicit = false;
            for (const auto& capture : captures()) {
                for (cudaStream_t captured : capture->streams) {
                    if (captured->flags & cudaStreamNonBlocking) continue;
                    capture->invalidated = true;
                    implicit = true;
                }
            }
            if (implicit) return cudaErrorStreamCaptureImplicit;
        }
    }
    return execute(stream, operation.run, operation.name);
}

void leave_capture(cudaStream_t stream) {
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return;
    capture->streams.erase(stream);
    if (capture->origin == stream) {
        end_capture(capture);
        return;
    }
    capture->left.insert(capture->left.end(), stream->frontier.begin(), stream->frontier.end());
}

void end_captures() {
    while (!captures().empty()) end_capture(captures().back());
}

}  // namespace simt

using namespace simt;

static cudaError_t begin_capture(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, cudaStreamCaptureMode mode) {
    if (const cudaError_t error = enter()) return fail(error);
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
        return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (is_legacy(stream)) return fail(cudaErrorStreamCaptureUnsupported);
    std::lock_guard lock(state_mutex());
    if (stream->capture) return fail(cudaErrorIllegalState);
    if (graph && !graphs().has(graph)) return fail(cudaErrorInvalidValue);
    if (count > 0 && !dependencies) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i)
        if (!nodes().has(dependencies[i])) return fail(cudaErrorInvalidValue);
    auto capture = std::make_shared<Capture>();
    capture->owns_graph = graph == nullptr;
    capture->graph = graph ? graph : new_graph();
    capture->mode = mode;
    capture->id = new_id();
    capture->origin = stream;
    capture->thread = std::this_thread::get_id();
    capture->streams.insert(stream);
    stream->capture = capture;
    stream->frontier.assign(dependencies, dependencies + count);
    captures().push_back(capture);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return begin_capture(stream, nullptr, nullptr, 0, mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                                          size_t count, cudaStreamCaptureMode mode) {
    if (!graph) return fail(cudaErrorInvalidValue);
    return begin_capture(stream, graph, dependencies, count, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    if (const cudaError_t error = enter()) return fail(error);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    std::lock_guard lock(state_mutex());
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return fail(graph ? cudaErrorIllegalState : cudaErrorInvalidValue);
    // Who captured into a graph of his own has it already.
    if (!graph && capture->owns_graph) return fail(cudaErrorInvalidValue);
    if (capture->origin != stream) {
        capture->invalidated = true;
        return fail(cudaErrorStreamCaptureUnmatched);
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
        return fail(cudaErrorStreamCaptureWrongThread);
    cudaError_t error = capture->invalidated ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (error == cudaSuccess) {
        // Every stream that took part must have been joined: its last nodes precede the origin's.
        std::unordered_set<cudaGraphNode_t> before;
        std::vector<cudaGraphNode_t> work = stream->frontier;
        while (!work.empty()) {
            cudaGraphNode_t node = work.back();
            work.pop_back();
            if (before.insert(node).second)
                work.insert(work.end(), node->dependencies.begin(), node->dependencies.end());
        }
        std::vector<cudaGraphNode_t> last = capture->left;
        for (cudaStream_t other : capture->streams)
            last.insert(last.end(), other->frontier.begin(), other->frontier.end());
        for (cudaGraphNode_t node : last)
            if (!before.count(node)) error = cudaErrorStreamCaptureUnjoined;
    }
    cudaGraph_t captured = capture->graph;
    const bool owned = capture->owns_graph;
    end_capture(capture);
    if (error != cudaSuccess) {
        if (owned) delete_graph(captured);
        if (graph) *graph = nullptr;
        return fail(error);
    }
    if (graph) *graph = captured;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     size_t* count) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!status) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    std::lock_guard lock(state_mutex());
    if (is_legacy(stream)) {
        for (const auto& capture : captures())
            for (cudaStream_t captured : capture->streams)
                if (!(captured->flags & cudaStreamNonBlocking)) return fail(cudaErrorStreamCaptureImplicit);
    }
    if (!stream->capture) {
        *status = cudaStreamCaptureStatusNone;
        return cudaSuccess;
    }
    *status =
        stream->capture->invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (stream->capture->invalidated) return cudaSuccess;
    if (id) *id = stream->capture->id;
    if (graph) *graph = stream->capture->graph;
    if (dependencies) *dependencies = stream->frontier.data();
    if (edges) *edges = nullptr;
    if (count) *count = stream->frontier.size();
    return cudaSuccess;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t count, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (flags > cudaStreamSetCaptureDependencies || (count > 0 && !dependencies))
        return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    std::lock_guard lock(state_mutex());
    if (!stream->capture) return fail(cudaErrorIllegalState);
    for (size_t i = 0; i < count; ++i)
        if (!nodes().has(dependencies[i]) || dependencies[i]->graph != stream->capture->graph)
            return fail(cudaErrorInvalidValue);
    if (flags == cudaStreamSetCaptureDependencies) stream->frontier.clear();
    stream->frontier.insert(stream->frontier.end(), dependencies, dependencies + count);
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
        return fail(cudaErrorInvalidValue);
    std::swap(*mode, thread_mode);
    return cudaSuccess;
}
