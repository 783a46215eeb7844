/// @file
/// What device code calls: barriers, fences, clocks; with the warp operations and atomics.
#pragma once

#include <cassert>

#include "simt/atomic.h"
#include "simt/atomic_builtins.h"
#include "simt/lane.h"
#include "simt/shared.h"
#include "simt/switch.h"
#include "simt/warp.h"

namespace simt {
// Half of a wait: the scheduler notes the arrival and decides who runs next; carry_out() goes there.
SIMT_SITED Transfer arrive_at_barrier() SIMT_WAITS;
SIMT_SITED Transfer arrive_at_count(bool vote) SIMT_WAITS;
SIMT_SITED Transfer arrive_at_and(bool vote) SIMT_WAITS;
SIMT_SITED Transfer arrive_at_or(bool vote) SIMT_WAITS;
Transfer arrive_at_sleep() SIMT_WAITS;
int count_result();
int and_result();
int or_result();
/// A fence as the checks see it: for the device, or for the block.
void fence(bool device);
}  // namespace simt

/// Waits for every thread of the block that has not exited. Calls in different places are one barrier, as on
/// a device; threads that wait for different kinds of barrier are a deadlock, which is reported.
SIMT_DEVICE void __syncthreads() { simt::carry_out(simt::arrive_at_barrier()); }
/// As __syncthreads(); how many threads' `predicate` is not zero.
SIMT_DEVICE int __syncthreads_count(int predicate) {
    simt::carry_out(simt::arrive_at_count(predicate != 0));
    return simt::count_result();
}
/// As __syncthreads(); 1 if every thread's `predicate` is not zero.
SIMT_DEVICE int __syncthreads_and(int predicate) {
    simt::carry_out(simt::arrive_at_and(predicate != 0));
    return simt::and_result();
}
/// As __syncthreads(); 1 if any thread's `predicate` is not zero.
SIMT_DEVICE int __syncthreads_or(int predicate) {
    simt::carry_out(simt::arrive_at_or(predicate != 0));
    return simt::or_result();
}

/// Orders this thread's writes before it, for the block, the device, or the system: a full fence here. A loop
/// that polls memory with a fence in it lets other lanes run.
SIMT_DEVICE void __threadfence() {
#if defined(SIMT_CHECK)
    simt::fence(true);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    simt::pause(&simt::execution);
#endif
}
SIMT_DEVICE void __threadfence_block() {
#if defined(SIMT_CHECK)
    simt::fence(false);
#else
    __threadfence();
#endif
}
SIMT_DEVICE void __threadfence_system() { __threadfence(); }

namespace simt {
/// The body of a loop without one: cu2cpp puts it there. In check mode every access lets others run.
SIMT_DEVICE void let_others_run() {
#if !defined(SIMT_CHECK)
    // Not by pause(): what else the loop asks, such as the clock, may have the same place in its table.
    if (__builtin_expect(++execution.spins >= spin_patience, 0)) yield_lane();
#endif
}
}  // namespace simt

/// Lets other lanes run; does not sleep.
SIMT_DEVICE void __nanosleep(unsigned nanoseconds) {
    (void)nanoseconds;
    simt::carry_out(simt::arrive_at_sleep());
}
/// Ends the launch with cudaErrorLaunchFailure.
[[noreturn]] void __trap();
/// Does nothing: there is no debugger of devices here.
inline void __brkpt() {}

/// Ticks of a clock that is the same for all threads: nanoseconds.
long long clock64();
/// The low half of clock64(), as the C library's clock_t wants it. Outside kernels it is the C library's.
