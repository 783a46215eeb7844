/// @file
/// The switch between stacks.
///
/// It is inlined into the kernel, at every barrier. A called switch would cost twice as much: the function
/// around it would save all callee-saved registers, whether the kernel uses them or not, and every change of
/// lanes would leave the processor's prediction of return addresses one entry off.
#pragma once

#include "simt/lane.h"

#if !defined(RUNGS_SIMT_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define RUNGS_SIMT_UCONTEXT 1
#endif
#if defined(RUNGS_SIMT_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(SIMT_CHECK)
// Instrumented, but not by the sanitizers' libraries.
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// Sanitizers hear of every change of stacks, which needs the runtime's help.
#define SIMT_SANITIZED 1
#endif

#if defined(__AVX512F__)
#define SIMT_WIDE_REGISTERS                                                                              \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", \
        "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define SIMT_WIDE_REGISTERS
#endif

namespace simt {

/// Suspends the running code into `from` and goes on at `to`.
SIMT_DEVICE void switch_context(Context& from, const Context& to) {
#if defined(RUNGS_SIMT_UCONTEXT)
    ucontext_t here;
    from.sp = &here;
    swapcontext(&here, static_cast<const ucontext_t*>(to.sp));
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
[[noreturn]] SIMT_DEVICE void jump_context(const Context& to) {
#if defined(RUNGS_SIMT_UCONTEXT)
    setcontext(static_cast<const ucontext_t*>(to.sp));
#else
    Context given_up;
    switch_context(given_up, to);
#endif
    __builtin_unreachable();
}

/// A change of lanes that the scheduler has decided on: where to go on. nullptr: the lane keeps the
/// processor. `execution.leaving` is where the lane that makes way is to be kept. (One word, because
/// compilers return two by way of memory.)
using Transfer = const Context*;

/// For check mode: a Transfer in a form that instrumented code carries out without a branch, between whose
/// sides it would report a step of a lane that is no longer the current one.
struct Change {
    Context* from;
    const Context* to;
};
/// For nullptr: a change to the caller itself.
Change change_of(Transfer to) SIMT_WAITS;

/// Carries `to` out with the sanitizers' knowledge.
void transfer_with_notice(Transfer to);

/// Carries `to` out: returns when the lane has the processor again.
SIMT_DEVICE void carry_out(Transfer to) {
#if defined(SIMT_CHECK)
    const Change change = change_of(to);
    switch_context(*change.from, *change.to);
#elif defined(SIMT_SANITIZED)
    if (to) transfer_with_notice(to);
#else
    if (to) switch_context(*execution.leaving, *to);
#endif
}

/// Goes on at `next`, giving up the running stack.
[[noreturn]] void leave_with_notice(const Context* next);
[[noreturn]] SIMT_DEVICE void leave_for(const Context* next) {
#if defined(SIMT_SANITIZED)
    leave_with_notice(next);
#else
    jump_context(*next);
#endif
}
/// First thing on a new stack, for sanitizers.
void notice_new_stack();

}  // namespace simt
