#include "simt/stream.h"

#include <atomic>
#include <shared_mutex>

#include "runtime/memory.h"
#include "runtime/observe.h"
#include "runtime/stream_state.h"
#include "simt/virtual_device.h"

namespace simt {
namespace {

thread_local int execution_depth = 0;
thread_local bool in_host_function = false;
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

std::atomic<unsigned long long> next_id{1};

// All captures in progress. Guarded by state_mutex().
std::vector<std::shared_ptr<Capture>>& captures() {
    static auto* list = new std::vector<std::shared_ptr<Capture>>;
    return *list;
}

// The legacy default stream waits for all blocking streams and they for it: blocking streams hold this
// shared, the legacy stream exclusively.
std::shared_mutex& legacy_order() {
    static auto* mutex = new std::shared_mutex;
    return *mutex;
}

CUstream_st* legacy_stream() {
    static auto* stream = [] {
        auto* s = new CUstream_st;
        s->id = next_id++;
        return s;
    }();
    return stream;
}

CUstream_st* per_thread_stream() {
    thread_local std::unique_ptr<CUstream_st> stream;
    if (!stream) {
        stream = std::make_unique<CUstream_st>();
        stream->id = next_id++;
    }
    return stream.get();
}

// Drops a capture: the streams in it are free again.
void end_capture(const std::shared_ptr<Capture>& capture) {
    for (cudaStream_t stream : capture->streams) {
        stream->capture.reset();
        stream->frontier.clear();
    }
    capture->streams.clear();
    auto& list = captures();
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] == capture) {
            list.erase(list.begin() + static_cast<long>(i));
            break;
        }
    }
}

// Whether `capture` forbids this host thread to make calls that may wait for the device.
bool forbids(const Capture& capture) {
    if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
    if (capture.thread == std::this_thread::get_id()) return capture.mode != cudaStreamCaptureModeRelaxed;
    return thread_mode == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

}  // namespace

std::recursive_mutex& state_mutex() {
    static auto* mutex = new std::recursive_mutex;
    return *mutex;
}

template <class Handle>
static Registry<Handle>& registry() {
    static auto* instance = new Registry<Handle>;
    return *instance;
}
Registry<cudaStream_t>& streams() { return registry<cudaStream_t>(); }
Registry<cudaEvent_t>& events() { return registry<cudaEvent_t>(); }
Registry<cudaGraph_t>& graphs() { return registry<cudaGraph_t>(); }
Registry<cudaGraphNode_t>& nodes() { return registry<cudaGraphNode_t>(); }
Registry<cudaGraphExec_t>& executables() { return registry<cudaGraphExec_t>(); }

cudaError_t enter() { return in_host_function ? cudaErrorNotPermitted : sticky_error(); }

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

cudaStream_t resolve(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return legacy_stream();
    if (stream == cudaStreamPerThread) return per_thread_stream();
    std::lock_guard lock(state_mutex());
    return streams().has(stream) ? stream : nullptr;
}

bool is_legacy(cudaStream_t resolved) { return resolved == legacy_stream(); }

bool executing() { return execution_depth > 0; }

void note_wait(cudaStream_t stream) {
    observe::host_waits(stream->id, is_legacy(stream), !(stream->flags & cudaStreamNonBlocking));
}

cudaError_t execute(cudaStream_t stream, const Action& action, const char* name) {
    // An operation that launches work (a host thread inside a kernel's emulation) is already ordered.
    if (execution_depth > 0) return action();
    std::shared_lock<std::shared_mutex> shared(legacy_order(), std::defer_lock);
    std::unique_lock<std::shared_mutex> exclusive(legacy_order(), std::defer_lock);
    if (is_legacy(stream)) {
        exclusive.lock();
    } else if (!(stream->flags & cudaStreamNonBlocking)) {
        shared.lock();
    }
    std::lock_guard busy(stream->busy);
    if (const cudaError_t error = sticky_error()) return error;
    struct Depth {
        Depth(cudaStream_t s, const char* n) : stream(s), name(n) {
            ++execution_depth;
            observe::operation_begins(stream->id, is_legacy(stream), !(stream->flags & cudaStreamNonBlocking),
                                      name);
        }
        ~Depth() {
            observe::operation_ends(stream->id, name);
            --execution_depth;
        }
        cudaStream_t stream;
        const char* name;
    } depth(stream, name);
    return action();
}

namespace {
thread_local Operation* recorder = nullptr;

/// The kind of node that an operation becomes when it is captured.
cudaGraphNodeType node_type_of(Operation::Kind kind) {
    switch (kind) {
        case Operation::Kind::kernel:
            return cudaGraphNodeTypeKernel;
        case Operation::Kind::memcpy:
            return cudaGraphNodeTypeMemcpy;
        case Operation::Kind::memset:
            return cudaGraphNodeTypeMemset;
        case Operation::Kind::host:
            return cudaGraphNodeTypeHost;
        case Operation::Kind::event_record:
            return cudaGraphNodeTypeEventRecord;
        case Operation::Kind::event_wait:
            return cudaGraphNodeTypeWaitEvent;
        case Operation::Kind::child_graph:
            return cudaGraphNodeTypeGraph;
        case Operation::Kind::allocate:
            return cudaGraphNodeTypeMemAlloc;
        case Operation::Kind::free:
            return cudaGraphNodeTypeMemFree;
        default:
            return cudaGraphNodeTypeEmpty;
    }
}
}  // namespace

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
    if (execution_depth == 0) {
        std::lock_guard lock(state_mutex());
        if (stream->capture) {
            if (stream->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
            const cudaGraphNodeType type = node_type_of(operation.kind);
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

void call_host(cudaHostFn_t function, void* user_data) {
    struct Mark {
        Mark() { in_host_function = true; }
        ~Mark() { in_host_function = false; }
    } mark;
    observe::host_function_begins();
    function(user_data);
}

void reset_streams() {
    std::lock_guard lock(state_mutex());
    while (!captures().empty()) end_capture(captures().back());
    for (cudaStream_t stream : streams().live) delete stream;
    streams().live.clear();
    for (cudaEvent_t event : events().live) delete event;
    events().live.clear();
}

}  // namespace simt

using namespace simt;

// ---- Streams
// -----------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!stream || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)))
        return fail(cudaErrorInvalidValue);
    auto created = std::make_unique<CUstream_st>();
    created->id = next_id++;
    created->flags = flags;
    // A priority out of range is moved into it, as CUDA does.
    created->priority =
        priority < VirtualDevice::greatest_stream_priority ? VirtualDevice::greatest_stream_priority
        : priority > VirtualDevice::least_stream_priority  ? VirtualDevice::least_stream_priority
                                                           : priority;
    std::lock_guard lock(state_mutex());
    streams().live.insert(created.get());
    *stream = created.release();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    {
        std::lock_guard lock(state_mutex());
        if (!streams().has(stream)) return fail(cudaErrorInvalidResourceHandle);
        if (auto capture = stream->capture) {
            // Its capture can never be ended properly any more.
            capture->invalidated = true;
            capture->streams.erase(stream);
            if (capture->origin == stream) end_capture(capture);
        }
        streams().live.erase(stream);
    }
    // Another host thread may be running an operation of it, which may need the state: wait
    // without holding that.
    { std::lock_guard busy(stream->busy); }
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    if (const cudaError_t error = enter()) return fail(error);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    {
        std::lock_guard lock(state_mutex());
        if (stream->capture) {
            stream->capture->invalidated = true;
            return fail(cudaErrorStreamCaptureUnsupported);
        }
    }
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    // Work of other host threads may still be running in this stream: wait for it.
    const cudaError_t error = execute(
        stream, [] { return cudaSuccess; }, nullptr);
    note_wait(stream);
    return fail(error);
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    if (const cudaError_t error = enter()) return fail(error);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    {
        std::lock_guard lock(state_mutex());
        if (stream->capture) {
            stream->capture->invalidated = true;
            return fail(cudaErrorStreamCaptureUnsupported);
        }
    }
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (executing() || !stream->busy.try_lock()) return cudaErrorNotReady;  // not recorded: it is no failure
    stream->busy.unlock();
    note_wait(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!flags) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    *flags = stream->flags;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!priority) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    *priority = stream->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!id) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    *id = stream->id;
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!device) return fail(cudaErrorInvalidValue);
    if (!resolve(handle)) return fail(cudaErrorInvalidResourceHandle);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!function) return fail(cudaErrorInvalidValue);
    return fail(enqueue(stream, {Operation::Kind::host, "cudaLaunchHostFunc", [=] {
                                     call_host(function, user_data);
                                     return cudaSuccess;
                                 }}));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data,
                                  unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!callback || flags != 0) return fail(cudaErrorInvalidValue);
    cudaStream_t resolved = resolve(stream);
    if (!resolved) return fail(cudaErrorInvalidResourceHandle);
    {
        std::lock_guard lock(state_mutex());
        if (resolved->capture) {  // CUDA cannot put this older form into a graph
            resolved->capture->invalidated = true;
            return fail(cudaErrorStreamCaptureUnsupported);
        }
    }
    struct Call {
        cudaStreamCallback_t callback;
        cudaStream_t stream;
        void* user_data;
    };
    return fail(enqueue(stream, {Operation::Kind::host, "cudaStreamAddCallback", [=] {
                                     Call call{callback, stream, user_data};
                                     call_host(
                                         [](void* data) {
                                             auto* c = static_cast<Call*>(data);
                                             c->callback(c->stream, cudaSuccess, c->user_data);
                                         },
                                         &call);
                                     return cudaSuccess;
                                 }}));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (flags & ~1u) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    std::unique_lock lock(state_mutex());
    if (!stream || !events().has(event)) return fail(cudaErrorInvalidResourceHandle);
    if (event->capture && !event->capture->streams.empty()) {
        // The fork or join of a capture.
        if (is_legacy(stream)) return fail(cudaErrorStreamCaptureImplicit);
        if (stream->capture && stream->capture != event->capture) return fail(cudaErrorStreamCaptureMerge);
        stream->capture = event->capture;
        stream->capture->streams.insert(stream);
        for (cudaGraphNode_t node : event->frontier) {
            bool known = false;
            for (cudaGraphNode_t mine : stream->frontier) known |= mine == node;
            if (!known) stream->frontier.push_back(node);
        }
        return cudaSuccess;
    }
    if (stream->capture) {
        if (!event->recorded) return cudaSuccess;
        stream->capture->invalidated = true;
        return fail(cudaErrorStreamCaptureIsolation);
    }
    lock.unlock();
    // Whatever was recorded has finished; what is checked is that this was no accident.
    if constexpr (observe::on)
        return fail(execute(
            stream, [event] { return observe::operation_waits(event), cudaSuccess; }, "cudaStreamWaitEvent"));
    return cudaSuccess;
}

// ---- Events
// ------------------------------------------------------------------------------------------------------

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    constexpr unsigned all = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!event || (flags & ~all)) return fail(cudaErrorInvalidValue);
    if (flags & cudaEventInterprocess)
        return fail(flags & cudaEventDisableTiming ? cudaErrorNotSupported : cudaErrorInvalidValue);
    auto created = std::make_unique<CUevent_st>();
    created->flags = flags;
    std::lock_guard lock(state_mutex());
    events().live.insert(created.get());
    *event = created.release();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(state_mutex());
    if (!events().has(event)) return fail(cudaErrorInvalidResourceHandle);
    events().live.erase(event);
    observe::event_destroyed(event);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

namespace simt {
// Stamps the event, if it still lives.
cudaError_t stamp_event(cudaEvent_t event) {
    std::lock_guard lock(state_mutex());
    if (!events().has(event)) return cudaErrorInvalidResourceHandle;
    event->recorded = true;
    event->capture.reset();
    event->frontier.clear();
    event->time = std::chrono::steady_clock::now();
    observe::event_recorded(event);
    return cudaSuccess;
}
}  // namespace simt

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned int flags) {
    if (const cudaError_t error = enter()) return fail(error);
    if (flags & ~static_cast<unsigned>(cudaEventRecordExternal)) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    {
        std::lock_guard lock(state_mutex());
        if (!stream || !events().has(event)) return fail(cudaErrorInvalidResourceHandle);
        if (stream->capture && !(flags & cudaEventRecordExternal)) {
            // In a capture an event only remembers where the stream stands; it adds no node.
            if (stream->capture->invalidated) return fail(cudaErrorStreamCaptureInvalidated);
            event->capture = stream->capture;
            event->frontier = stream->frontier;
            event->recorded = true;
            return cudaSuccess;
        }
        if (flags && !stream->capture) return fail(cudaErrorIllegalState);
    }
    return fail(enqueue(
        handle, {Operation::Kind::event_record, "cudaEventRecord", [event] { return stamp_event(event); }}));
}

// The checks that waiting for an event and asking for it share.
static cudaError_t check_event(cudaEvent_t event) {
    std::lock_guard lock(state_mutex());
    if (!events().has(event)) return cudaErrorInvalidResourceHandle;
    if (event->capture) {
        event->capture->invalidated = true;
        return cudaErrorCapturedEvent;
    }
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (const cudaError_t error = enter()) return fail(error);
    if (const cudaError_t error = check_event(event)) return fail(error);
    observe::host_waits_for_event(event);
    return fail(enter_unsafe());
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!milliseconds) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(state_mutex());
    if (!events().has(start) || !events().has(end)) return fail(cudaErrorInvalidResourceHandle);
    if (start->capture || end->capture) return fail(cudaErrorCapturedEvent);
    if ((start->flags | end->flags) & cudaEventDisableTiming || !start->recorded || !end->recorded)
        return fail(cudaErrorInvalidResourceHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}

// ---- Capture
// -----------------------------------------------------------------------------------------------------

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
    capture->id = next_id++;
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
        for (cudaStream_t other : capture->streams)
            for (cudaGraphNode_t node : other->frontier)
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
