// Calls of the runtime that fail, and whose error the program drops (simt/error.h). On a GPU nothing shows
// then but a wrong result. A thread that asks for its last error later has read it.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>

#include "check/host.h"
#include "runtime/observe.h"
#include "simt/device.h"
#include "simt/error.h"

namespace simt {
namespace check {
namespace {

/// What is known of a call that fails. (An array: a thread_local string would be destroyed before the thread
/// makes its last calls.)
struct Failure {
    char cause[600];
    bool is_recorded;  ///< as another finding
    void clear() { cause[0] = '\0', is_recorded = false; }
};
thread_local Failure coming;  ///< of the call that this thread makes, before it fails
/// The last call of this thread that failed, until its next one begins.
struct FailedCall {
    Failure failure;
    cudaError_t error;
    CallStack stack;
};
thread_local FailedCall failed_call;

/// A failed call that nobody has asked about yet.
struct Unread {
    std::thread::id thread;
    cudaError_t error;
    Report report;
};
struct UnreadCalls {
    std::mutex mutex;
    std::vector<Unread> list;
};
UnreadCalls& unread() {
    static auto* instance = new UnreadCalls;
    return *instance;
}

/// An error that answers a question, or that only this backend returns, is no failure of the program's. Nor
/// is one that sticks: the crash behind it has a finding of its own.
bool is_no_failure(cudaError_t error, const Failure& failure) {
    switch (error) {
        case cudaErrorPeerAccessAlreadyEnabled:
        case cudaErrorPeerAccessNotEnabled:
        case cudaErrorProfilerAlreadyStarted:
        case cudaErrorProfilerAlreadyStopped:
        case cudaErrorNotSupported:
            return true;
        case cudaErrorNotReady:
            return failure.cause[0] == '\0';
        default:
            return is_sticky(error);
    }
}

/// The usual cause of an error, for where the call has named none.
const char* usual_cause(cudaError_t error) {
    switch (error) {
        case cudaErrorInvalidResourceHandle:
            return "a stream, an event or another object that it is given was never created, or has been "
                   "destroyed";
        case cudaErrorInvalidDevice:
            return "there is one device, and its number is 0";
        case cudaErrorInvalidPitchValue:
            return "a row is wider than the distance between two rows";
        case cudaErrorInvalidMemcpyDirection:
            return "it has no such direction";
        case cudaErrorNotPermitted:
            return "a host function in a stream must not call the runtime";
        case cudaErrorStreamCaptureUnsupported:
            return "while a stream is being captured, this call would wait for the device";
        case cudaErrorStreamCaptureImplicit:
            return "the default stream takes no part in a capture: work goes into the stream that is "
                   "captured";
        case cudaErrorStreamCaptureInvalidated:
            return "an earlier call made the capture invalid";
        case cudaErrorStreamCaptureUnjoined:
            return "a stream that joined the capture has not been joined to its first stream again";
        case cudaErrorStreamCaptureIsolation:
        case cudaErrorCapturedEvent:
            return "an event of the capture is used outside of it, or the other way round";
        default:
            return "";
    }
}

}  // namespace

void call_is_recorded() { coming.is_recorded = true; }

void record_unread_calls() {
    std::vector<Unread> list;
    {
        std::lock_guard lock(unread().mutex);
        list.swap(unread().list);
    }
    for (Unread& one : list) record(std::move(one.report));
}

void forget_unread_calls() {
    std::lock_guard lock(unread().mutex);
    unread().list.clear();
}

}  // namespace check

using namespace check;

void dropped(const char* name) {
    if (execution.in_lane || !state.watches_host) return;
    const OwnWork own;
    FailedCall call = failed_call;
    if (call.error == cudaSuccess)  // it has not gone through fail()
        call = {coming, cudaErrorNotReady, calls_up_to(SIMT_SITE)};
    const cudaError_t error = call.error;
    observe::call_begins();
    if (call.failure.is_recorded || is_no_failure(error, call.failure)) return;
    Report report{};
    report.tool = Tool::memcheck;
    report.kind = Kind::failed_call;
    report.on_host = true;
    report.stack = call.stack;
    const char* const why = call.failure.cause[0] ? call.failure.cause : usual_cause(error);
    report.text = std::string(name) + " returns " + cudaGetErrorName(error) + " (" +
                  cudaGetErrorString(error) + "), and nothing reads that" + (*why ? ": " : "") + why;
    std::lock_guard lock(unread().mutex);
    auto& list = unread().list;
    const auto thread = std::this_thread::get_id();
    const auto known = std::find_if(list.begin(), list.end(), [&](const Unread& one) {
        return one.thread == thread && one.error == error && one.report.stack == report.stack;
    });
    if (known == list.end())
        list.push_back({thread, error, std::move(report)});
    else
        ++known->report.times;
}

namespace observe {

void call_begins() {
    if (execution.in_lane) return;
    coming.clear();
    failed_call.error = cudaSuccess;
}

void call_fails(const std::string& why) {
    if (execution.in_lane) return;
    const std::size_t size = std::min(why.size(), sizeof coming.cause - 1);
    std::memcpy(coming.cause, why.data(), size);
    coming.cause[size] = '\0';
}

void call_failed(cudaError_t error) {
    if (execution.in_lane || !state.watches_host) return;
    const OwnWork own;
    // What calls another function of the runtime may pass its error on.
    const bool passed_on = error == failed_call.error && !coming.is_recorded && coming.cause[0] == '\0';
    if (!passed_on) failed_call.failure = coming;
    failed_call.error = error;
    failed_call.stack = calls_up_to(nullptr);
    coming.clear();
}

void error_read() {
    const auto thread = std::this_thread::get_id();
    std::lock_guard lock(unread().mutex);
    std::erase_if(unread().list,
                  [&](const Unread& one) { return one.thread == thread && one.error != cudaErrorNotReady; });
}

}  // namespace observe
}  // namespace simt
