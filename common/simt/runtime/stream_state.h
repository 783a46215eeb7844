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
    std::vector<cudaGraphNode_t> left;  ///< the last nodes of streams that are gone
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

/// A number that no other stream or capture has.
unsigned long long new_id();

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

/// A stream that goes leaves the capture that it takes part in, with its work; if the capture began in it,
/// that ends. Guarded by state_mutex().
void leave_capture(cudaStream_t stream);
/// Drops all captures in progress. Guarded by state_mutex().
void end_captures();

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
