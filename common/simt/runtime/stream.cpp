#include "simt/stream.h"

#include "runtime/memory.h"
#include "runtime/nested_launch.h"
#include "runtime/observe.h"
#include "runtime/stream_state.h"
#include "simt/attributes.h"
#include "simt/virtual_device.h"

namespace simt {
void reset_streams() {
    std::lock_guard lock(state_mutex());
    end_captures();
    for (cudaStream_t stream : streams().live) delete stream;
    streams().live.clear();
    for (cudaEvent_t event : events().live) delete event;
    events().live.clear();
}

}  // namespace simt

using namespace simt;

// ---- Streams ---------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    if (execution.in_lane) {
        if (!stream || flags != cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
        *stream = lane_stream();
        return cudaSuccess;
    }
    if (const cudaError_t error = enter()) return fail(error);
    if (!stream || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)))
        return fail(cudaErrorInvalidValue);
    auto created = std::make_unique<CUstream_st>();
    created->id = new_id();
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
    if (execution.in_lane)
        return fail(stream == lane_stream() ? cudaSuccess : cudaErrorInvalidResourceHandle);
    if (const cudaError_t error = enter()) return fail(error);
    {
        std::lock_guard lock(state_mutex());
        if (!streams().has(stream)) return fail(cudaErrorInvalidResourceHandle);
        leave_capture(stream);
        streams().live.erase(stream);
    }
    // Another host thread may be running an operation of it, which may need the state: wait
    // without holding that.
    { std::lock_guard busy(stream->busy); }
    delete stream;
    return cudaSuccess;
}

/// Resolves a stream for a call that no capture can take: such a call makes the capture invalid.
static cudaError_t resolve_outside_capture(cudaStream_t handle, cudaStream_t* stream) {
    *stream = resolve(handle);
    if (!*stream) return cudaErrorInvalidResourceHandle;
    std::lock_guard lock(state_mutex());
    if (!(*stream)->capture) return cudaSuccess;
    (*stream)->capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    if (const cudaError_t error = enter()) return fail(error);
    cudaStream_t stream;
    if (const cudaError_t error = resolve_outside_capture(handle, &stream)) return fail(error);
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    // Work of other host threads may still be running in this stream: wait for it.
    const cudaError_t error = execute(
        stream, [] { return cudaSuccess; }, nullptr);
    note_wait(stream);
    return fail(error);
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    if (const cudaError_t error = enter()) return fail(error);
    cudaStream_t stream;
    if (const cudaError_t error = resolve_outside_capture(handle, &stream)) return fail(error);
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (executing() || !stream->busy.try_lock()) return cudaErrorNotReady;  // not recorded: it is no failure
    stream->busy.unlock();
    note_wait(stream);
    return cudaSuccess;
}

/// Puts a member of the stream into `*value`.
template <class T>
static cudaError_t get(cudaStream_t handle, T* value, T CUstream_st::*member) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!value) return fail(cudaErrorInvalidValue);
    cudaStream_t stream = resolve(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    *value = stream->*member;
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    return get(stream, flags, &CUstream_st::flags);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return get(stream, priority, &CUstream_st::priority);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
    return get(stream, id, &CUstream_st::id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!device) return fail(cudaErrorInvalidValue);
    if (!resolve(handle)) return fail(cudaErrorInvalidResourceHandle);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID, const cudaStreamAttrValue* value) {
    unsigned int flags = 0;
    return value ? cudaStreamGetFlags(stream, &flags) : fail(cudaErrorInvalidValue);
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value) {
    if (!value) return fail(cudaErrorInvalidValue);
    *value = cudaStreamAttrValue{};
    if (id == cudaLaunchAttributeSynchronizationPolicy) value->syncPolicy = cudaSyncPolicyAuto;
    if (id == cudaLaunchAttributePriority) return cudaStreamGetPriority(stream, &value->priority);
    unsigned int flags = 0;
    return cudaStreamGetFlags(stream, &flags);
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t destination, cudaStream_t source) {
    unsigned int flags = 0;
    if (const cudaError_t error = cudaStreamGetFlags(source, &flags)) return error;
    return cudaStreamGetFlags(destination, &flags);
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
    cudaStream_t resolved;  // CUDA cannot put this older form into a graph
    if (const cudaError_t error = resolve_outside_capture(stream, &resolved)) return fail(error);
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

// ---- Events ----------------------------------------------------------------------------------------------

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
    std::unique_lock lock(state_mutex());
    if (!events().has(event)) return fail(cudaErrorInvalidResourceHandle);
    events().live.erase(event);
    // Operations take this lock while they hold the checks' own: never the other way round.
    lock.unlock();
    observe::event_destroyed(event);
    lock.lock();
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
    std::chrono::duration<float, std::milli> elapsed;
    {
        std::lock_guard lock(state_mutex());
        if (!events().has(start) || !events().has(end)) return fail(cudaErrorInvalidResourceHandle);
        if (start->capture || end->capture) return fail(cudaErrorCapturedEvent);
        if ((start->flags | end->flags) & cudaEventDisableTiming || !start->recorded || !end->recorded)
            return fail(cudaErrorInvalidResourceHandle);
        elapsed = end->time - start->time;
    }
    // Without that lock: see cudaEventDestroy().
    const bool too_early = observe::may_be_ahead(start);
    if (observe::may_be_ahead(end) || too_early) {
        observe::call_fails(
            "on a GPU an event may not have been reached yet, as nothing that the host has waited for comes "
            "after it; the time is not written. Call cudaEventSynchronize on the second event before");
        observe::call_failed(cudaErrorNotReady);
        return cudaErrorNotReady;  // not by fail(): the thread's last error stays what it is
    }
    *milliseconds = elapsed.count();
    return cudaSuccess;
}
