/// @file
/// CUDA's error codes, and how the backend records them.
#pragma once

#include "simt/error_codes.h"

/// Result of every runtime call; numbers and names are CUDA 13's.
enum cudaError {
#define SIMT_ERROR(name, number, text) name = number,
    SIMT_ERROR_CODES
#undef SIMT_ERROR
};
typedef enum cudaError cudaError_t;

#if defined(__cplusplus)
extern "C" {
#endif

/// The last error of this host thread; resets it to `cudaSuccess`. After a sticky error (see simt::fail())
/// the next call that touches the device records it again.
cudaError_t cudaGetLastError(void);
/// The last error of this host thread, left as it is.
cudaError_t cudaPeekAtLastError(void);
/// "cudaErrorInvalidValue", or "unrecognized error code".
const char* cudaGetErrorName(cudaError_t error);
/// "invalid argument", or "unrecognized error code".
const char* cudaGetErrorString(cudaError_t error);

#if defined(__cplusplus)
}  // extern "C"

namespace simt {

/// Records `error` as this host thread's last error and returns it; `cudaSuccess` records nothing.
///
/// Errors that leave a real device unusable (an illegal address, a failed assertion, a launch that crashed
/// ...) are sticky: from then on every call that touches the device returns that error, in every
/// host thread, until cudaDeviceReset().
cudaError_t fail(cudaError_t error);

/// The sticky error, or `cudaSuccess`. Every entry point that touches the device asks first.
cudaError_t sticky_error();

/// True if `error` is one of those that stick.
bool is_sticky(cudaError_t error);

/// Forgets the sticky error: part of cudaDeviceReset().
void clear_sticky_error();

/// For check mode, whose translation writes `cudaFree(p) ? simt::dropped("cudaFree") : (void)0;` where a
/// program drops the error of a call: one that fails becomes a finding, unless the thread asks for
/// its last error later.
void dropped(const char* call);

}  // namespace simt
#endif
