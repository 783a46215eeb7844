/// @file
/// What device code sees of the lane that runs it: CUDA's built-in variables, and the few words of scheduler
/// state that inlined code needs.
///
/// Every OS thread runs one lane at a time, and a block never leaves the thread that started it. So the
/// current lane is a set of thread-local variables that the scheduler rewrites whenever it changes lanes.
/// They are plain memory on purpose: compilers can neither hoist `threadIdx` out of the loop over lanes nor
/// carry it across a barrier in a register that belongs to another lane.
///
/// What a kernel's compiler sees of these headers is the same in check mode, except for the bodies of
/// functions: no program can be another one where it is checked. So each name is declared in both modes, also
/// where only one of them defines it.
#pragma once

#include "simt/types.h"

/// Device functions of the runtime are inlined at every level of optimisation, so that the call sites they
/// leave in reports lie in the kernel.
#define SIMT_DEVICE inline __attribute__((always_inline))

/// On functions whose call sites reports name: two calls in different places stay two calls.
#if defined(__clang__)
#define SIMT_SITED __attribute__((nomerge))
#else
#define SIMT_SITED
#endif

/// On the first half of a wait: no basic block begins between it and the second.
#define SIMT_WAITS noexcept

#define SIMT_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

/// CUDA's built-in variables of the current lane. (Variables rather than macros: CUDA's own structures and
/// much host code use `gridDim` and `blockDim` as names of members and locals.)
extern SIMT_THREAD_LOCAL uint3 threadIdx;
extern SIMT_THREAD_LOCAL uint3 blockIdx;
extern SIMT_THREAD_LOCAL dim3 blockDim;
extern SIMT_THREAD_LOCAL dim3 gridDim;

/// Lanes of a warp.
constexpr int warpSize = 32;

namespace simt {

struct Block;
struct Lane;
struct Context;

/// The place of a shared array of the running block, and the run of the block in which it was decided.
struct SharedMark {
    unsigned serial;
    unsigned offset;
};

/// Scheduler state that inlined device code reads. One an OS thread.
struct Execution {
    /// The lanes of this block start in ascending order and none of them has blocked yet: the next lane is
    /// one increment away.
    bool fast;
    /// Code of a lane runs on this thread now.
    bool in_lane;
    /// Blocks may be run by loops over their lanes (simt/lanes.h), and one is.
    bool loops;
    bool whole;
    /// Repeats of operations that changed nothing, in this lane since it last got the processor, and the last
    /// addresses of such: a spin loop in the making.
    unsigned spins;
    const volatile void* spin_address[4];
    /// Atomic operations that changed what they met: lanes that make such do more than poll.
    unsigned changes;
    /// The body of the kernel, with its arguments.
    const void* closure;
    /// The current lane's record. Null on the fast path, where lanes need none until one blocks,
    /// and outside lanes.
    Lane* lane;
    /// Of a lane that is about to make way: where to keep it.
    Context* leaving;
    /// The block that runs; its number of use, which dates `marks`; and its shared memory.
    Block* block;
    unsigned serial;
    unsigned dynamic_serial;
    SharedMark* marks;
    char* static_shared;
    char* dynamic_shared;
};
extern SIMT_THREAD_LOCAL Execution execution;

/// Code of a lane runs now: what `__CUDA_ARCH__` says at compile time, in functions that
/// host and device call.
bool runs_lane_unobserved();
SIMT_DEVICE bool runs_lane() {
#if defined(SIMT_CHECK) && !defined(SIMT_RUNTIME)
    return runs_lane_unobserved();
#else
    return execution.in_lane;
#endif
}
constexpr bool on_device() { return !__builtin_is_constant_evaluated() && runs_lane(); }

/// Where a suspended piece of code goes on. Callee-saved registers are not here: switches declare them
/// clobbered, so that the compiler saves on the stack those it uses.
struct Context {
    void* sp = nullptr;
    void* frame = nullptr;
    void* pc = nullptr;
};

/// Ends the current lane and makes the next one current. Returns nullptr if that one is to run on this fiber,
/// else where to go on instead: nothing is left to this fiber.
const Context* advance_lane();
/// advance_lane() with the short cut that lane_loop() takes inline, for check builds.
const Context* next_lane();
/// In a handler: keeps the text of the exception; then, outside it: reports it as the lane's failure.
void note_exception();
[[noreturn]] void fail_with_exception();

/// Lets every other lane that can run do so before this one goes on. Device code in a spin loop and a block
/// that waits for another block end up here.
void yield_lane();

/// Ends the launch with cudaErrorLaunchFailure and a report that names the current lane and `text`.
[[noreturn]] void fail_lane(const char* text, const void* site);

/// The call site of the runtime function that uses this, for reports. Not for inline functions.
#define SIMT_SITE __builtin_return_address(0)

}  // namespace simt
