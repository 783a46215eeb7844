/// @file
/// What device code calls: barriers, fences, clocks; with the warp operations and atomics.
#pragma once

#include <cassert>

#include "simt/atomic.h"
#include "simt/lane.h"
#include "simt/shared.h"
#include "simt/warp.h"

/// Waits for every thread of the block that has not exited. Calls in different places are one barrier, as on
/// a device; threads that wait for different kinds of barrier are a deadlock, which is reported.
void __syncthreads();
/// As __syncthreads(); how many threads' `predicate` is not zero.
int __syncthreads_count(int predicate);
/// As __syncthreads(); 1 if every thread's `predicate` is not zero.
int __syncthreads_and(int predicate);
/// As __syncthreads(); 1 if any thread's `predicate` is not zero.
int __syncthreads_or(int predicate);

/// Orders this thread's writes before it, for the block, the device, or the system: a full fence here. A loop
/// that polls memory with a fence in it lets other lanes run.
SIMT_DEVICE void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    simt::pause(&simt::execution);
}
SIMT_DEVICE void __threadfence_block() { __threadfence(); }
SIMT_DEVICE void __threadfence_system() { __threadfence(); }

/// Lets other lanes run; does not sleep.
void __nanosleep(unsigned nanoseconds);
/// Ends the launch with cudaErrorLaunchFailure.
[[noreturn]] void __trap();
/// Does nothing: there is no debugger of devices here.
inline void __brkpt() {}

/// Ticks of a clock that is the same for all threads: nanoseconds.
long long clock64();
/// The low half of clock64(), as the C library's clock_t wants it. Outside kernels it is the C library's.
inline unsigned long long __globaltimer() { return static_cast<unsigned long long>(clock64()); }
