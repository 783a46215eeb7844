#include "runtime/stream_state.h"

#include <atomic>
#include <shared_mutex>

#include "runtime/memory.h"
#include "runtime/observe.h"

namespace simt {
namespace {

thread_local int execution_depth = 0;
thread_local bool in_host_function = false;

// The legacy default stream waits for all blocking streams and they for it: blocking streams hold this
// shared, the legacy stream exclusively.
std::shared_mutex& legacy_order() {
    static auto* mutex = new std::shared_mutex;
    return *mutex;
}

CUstream_st* legacy_stream() {
    static auto* stream = [] {
        auto* s = new CUstream_st;
        s->id = new_id();
        return s;
    }();
    return stream;
}

CUstream_st* per_thread_stream() {
    thread_local std::unique_ptr<CUstream_st> stream;
    if (!stream) {
        stream = std::make_unique<CUstream_st>();
        stream->id = new_id();
    }
    return stream.get();
}

}  // namespace

unsigned long long new_id() {
    static std::atomic<unsigned long long> next{1};
    return next++;
}

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

cudaError_t enter() {
    observe::call_begins();
    return in_host_function ? cudaErrorNotPermitted : sticky_error();
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

void call_host(cudaHostFn_t function, void* user_data) {
    struct Mark {
        Mark() { in_host_function = true; }
        ~Mark() { in_host_function = false; }
    } mark;
    observe::host_function_begins();
    function(user_data);
}

}  // namespace simt
