#include "simt/error.h"

#include <atomic>

#include "runtime/nested_launch.h"
#include "runtime/observe.h"
#include "simt/lane.h"

namespace simt {
namespace {

std::atomic<cudaError_t> sticky{cudaSuccess};
thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

bool is_sticky(cudaError_t error) {
    switch (error) {
        case cudaErrorECCUncorrectable:
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
            return true;
        default:
            return false;
    }
}

cudaError_t fail(cudaError_t error) {
    if (error == cudaSuccess) return error;
    observe::call_failed(error);
    if (execution.in_lane)
        note_lane_error(error);
    else
        last_error = error;
    if (is_sticky(error)) {
        cudaError_t none = cudaSuccess;
        sticky.compare_exchange_strong(none, error);  // the first crash is the one to report
    }
    return error;
}

cudaError_t sticky_error() { return sticky.load(std::memory_order_acquire); }

void clear_sticky_error() {
    sticky.store(cudaSuccess, std::memory_order_release);
    last_error = cudaSuccess;
}

}  // namespace simt

cudaError_t cudaGetLastError() {
    if (simt::execution.in_lane) return simt::lane_error(true);
    const cudaError_t error = cudaPeekAtLastError();
    simt::last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    if (simt::execution.in_lane) return simt::lane_error(false);
    if (simt::last_error != cudaSuccess) simt::observe::error_read();
    return simt::last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define SIMT_ERROR(name, number, text) \
    case name:                         \
        return #name;
        SIMT_ERROR_CODES
#undef SIMT_ERROR
    }
    return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define SIMT_ERROR(name, number, text) \
    case name:                         \
        return text;
        SIMT_ERROR_CODES
#undef SIMT_ERROR
    }
    return "unrecognized error code";
}
