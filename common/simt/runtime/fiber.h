/// @file
/// Stacks.
#pragma once

#include <cstddef>
#include <vector>

#include "simt/switch.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace simt {

/// A stack with a guard page below it.
struct Fiber {
    char* bottom = nullptr;
    std::size_t size = 0;  ///< bytes, guard page not counted
    char* top = nullptr;   ///< where the first frame starts; differs between fibers so that frames do not all
                           ///< fall into the same cache sets
    Fiber* next = nullptr;
    bool guarded = false;
    Context start;  ///< set by start_context()
#if defined(RUNGS_SIMT_UCONTEXT)
    ucontext_t start_context;
#endif
#if defined(__SANITIZE_THREAD__)
    void* tsan = nullptr;
#endif
};

/// Makes `fiber.start` a context that calls `entry` on its stack; `entry` must not return.
const Context& start_context(Fiber& fiber, void (*entry)());

/// The stacks of one OS thread. Stacks are made in slabs and never given back: a kernel that needed them once
/// tends to be launched again.
class FiberPool {
  public:
    FiberPool() = default;
    ~FiberPool() { release(); }
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;

    /// A free stack; throws std::bad_alloc when the system gives no more memory.
    Fiber& take();
    void give_back(Fiber& fiber) {
        fiber.next = free_;
        free_ = &fiber;
    }
    /// Takes all stacks back at once, after the lanes on them were abandoned.
    void reset();
    /// Before a launch: follows a change of lane_stack_size(). All stacks must be free.
    void prepare();
    /// The stack that holds `address`, or nullptr.
    const Fiber* holder(const void* address) const;
    /// True if `address` lies in the guard page of one of the stacks. Async-signal-safe.
    bool in_guard(const void* address) const;

  private:
    void grow();
    void release();
    Fiber* free_ = nullptr;
    std::vector<Fiber*> slabs_;  // arrays of fibers_per_slab
    std::size_t stack_size_ = 0;
};

/// Bytes of a lane's stack for slabs made from now on: RUNGS_SIMT_STACK in the environment, else 64 KiB.
std::size_t lane_stack_size();
/// Sets that size (cudaDeviceSetLimit(cudaLimitStackSize)), rounded up to pages. Never below 64 KiB: host
/// frames are larger than a device's, and printf needs its own.
void set_lane_stack_size(std::size_t bytes);

}  // namespace simt
