/// @file
/// Stacks and the switch between them.
///
/// The switch is inlined into the function that blocks. A called switch would leave one more entry on the
/// processor's return stack at every change of lanes, and each later `ret` would be mispredicted; inlined,
/// all lanes that block in one place return to one address, and the prediction holds.
#pragma once

#include <cstddef>
#include <vector>

#if !defined(RUNGS_SIMT_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define RUNGS_SIMT_UCONTEXT 1
#endif
#if defined(RUNGS_SIMT_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace simt {

/// Where a suspended piece of code goes on. Callee-saved registers are not here: the switch declares them
/// clobbered, so that the compiler saves on the stack those it uses.
struct Context {
#if defined(RUNGS_SIMT_UCONTEXT)
    ucontext_t* machine = nullptr;  // lies on the suspended stack
#else
    void* sp = nullptr;
    void* frame = nullptr;
    void* pc = nullptr;
#endif
};

/// A stack with a guard page below it.
struct Fiber {
    char* bottom = nullptr;
    std::size_t size = 0;  ///< bytes, guard page not counted
    char* top = nullptr;   ///< where the first frame starts; differs between fibers so that frames do not all
                           ///< fall into the same cache sets
    Fiber* next = nullptr;
    bool guarded = false;
#if defined(RUNGS_SIMT_UCONTEXT)
    ucontext_t start_context;
#endif
#if defined(__SANITIZE_THREAD__)
    void* tsan = nullptr;
#endif
};

/// A context that calls `entry` on `fiber`'s stack; `entry` must not return.
Context start_context(Fiber& fiber, void (*entry)());

/// Suspends the running code into `from` and goes on at `to`.
inline __attribute__((always_inline)) void switch_context(Context& from, const Context& to) {
#if defined(RUNGS_SIMT_UCONTEXT)
    ucontext_t here;
    from.machine = &here;
    swapcontext(&here, to.machine);
#elif defined(__x86_64__)
    Context* f = &from;
    const Context* t = &to;
    asm volatile(
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rsp, 0(%0)\n\t"
        "movq %%rbp, 8(%0)\n\t"
        "movq %%rax, 16(%0)\n\t"
        "movq 0(%1), %%rsp\n\t"
        "movq 8(%1), %%rbp\n\t"
        "jmp *16(%1)\n\t"
        ".p2align 4\n"
        "1:"
        : "+D"(f), "+S"(t)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
          "xmm14", "xmm15", "memory", "cc");
#elif defined(__aarch64__)
    register Context* f asm("x0") = &from;
    register const Context* t asm("x1") = &to;
    asm volatile(
        "adr x9, 1f\n\t"
        "mov x10, sp\n\t"
        "stp x10, x29, [x0]\n\t"
        "str x9, [x0, #16]\n\t"
        "ldp x10, x29, [x1]\n\t"
        "ldr x9, [x1, #16]\n\t"
        "mov sp, x10\n\t"
        "br x9\n"
        "1:"
        : "+r"(f), "+r"(t)
        :
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
          "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1",
          "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
          "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
          "v31", "memory", "cc");
#endif
}

/// Goes on at `to`; the running code is given up.
[[noreturn]] inline __attribute__((always_inline)) void jump_context(const Context& to) {
#if defined(RUNGS_SIMT_UCONTEXT)
    setcontext(to.machine);
#else
    Context given_up;
    switch_context(given_up, to);
#endif
    __builtin_unreachable();
}

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
