#include "runtime/crash.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>

#include "runtime/launch_state.h"
#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/worker.h"

namespace simt {
namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, overtime_signal};
constexpr int signal_count = sizeof signals / sizeof *signals;
constexpr std::size_t signal_stack_bytes = 64 * 1024;

struct sigaction previous[signal_count];
std::mutex install_mutex;

// Runs on the root's stack, below the root's suspended frames, once the signal handler has returned.
[[noreturn]] void landing() { this_worker->leave_to_root(); }

void* program_counter(const ucontext_t& context) {
#if defined(__x86_64__)
    return reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<void*>(context.uc_mcontext.pc);
#else
    return nullptr;
#endif
}

#if !defined(RUNGS_SIMT_UCONTEXT)
void land_on_root(ucontext_t& context, const Context& root) {
    const std::uintptr_t below = (reinterpret_cast<std::uintptr_t>(root.sp) - 512) & ~std::uintptr_t{15};
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(below - 8);
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(landing));
#elif defined(__aarch64__)
    context.uc_mcontext.sp = below;
    context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(landing);
#endif
}
#endif

void chain(int number, siginfo_t* info, void* context) {
    for (int i = 0; i < signal_count; ++i) {
        if (signals[i] != number) continue;
        struct sigaction& before = previous[i];
        if (before.sa_flags & SA_SIGINFO) {
            before.sa_sigaction(number, info, context);
        } else if (before.sa_handler == SIG_DFL) {
            // The faulting instruction runs again and meets the default action; an abort() does so by itself.
            sigaction(number, &before, nullptr);
            if (info->si_code <= 0) raise(number);
        } else if (before.sa_handler != SIG_IGN) {
            before.sa_handler(number);
        }
    }
}

/// The program's own machine code; what lies elsewhere is the C library's, which may hold a lock.
struct Text {
    std::uintptr_t begin = 0, size = 0;
} program_text;

void find_text() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void*) {
            for (int i = 0; i < info->dlpi_phnum; ++i)
                if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X))
                    program_text = {info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, info->dlpi_phdr[i].p_memsz};
            return 1;  // the first one is the program
        },
        nullptr);
    void* frame;
    backtrace(&frame, 1);  // loads what it needs now rather than in a handler
}

/// The calls that a lane is in, as a handler sees them: the last entry stays null, where readers stop.
void note_callers(Fault& fault) {
    const int most = static_cast<int>(std::size(fault.callers)) - 1;
    const int n = backtrace(const_cast<void**>(fault.callers), most);
    for (int i = n; i <= most; ++i) fault.callers[i] = nullptr;
    // Unlike its callers, what was interrupted has not called.
    for (const void*& caller : fault.callers)
        if (caller == fault.pc) caller = static_cast<const char*>(fault.pc) + 1;
}

/// The return address of a call that has only just been made.
const void* return_address(const ucontext_t& context) {
#if defined(__x86_64__)
    return *reinterpret_cast<const void* const*>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return reinterpret_cast<const void*>(context.uc_mcontext.regs[30]);
#else
    return nullptr;
#endif
}

/// The watchdog asks a thread to give its launch up.
void handle_overtime(Worker* worker, ucontext_t& context) {
#if !defined(RUNGS_SIMT_UCONTEXT)
    if (!worker || !execution.in_lane || worker->fault.signal != 0 || !worker->launch()) return;
    Launch& launch = *worker->launch();
    if (launch.overdue == 0) return;
    const unsigned asked = ++worker->asked;
    // The checks hold locks of their own: they end the lane themselves, unless it makes no access any more.
    if (observe::on && asked < 25) {
        observe::ask_to_stop();
        return;
    }
    // Inside the C library it is asked again in a moment, for a few seconds.
    const auto pc = reinterpret_cast<std::uintptr_t>(program_counter(context));
    if (pc - program_text.begin >= program_text.size && asked < patience) return;
    Fault& fault = worker->fault;
    fault = {};
    fault.signal = overtime_signal;
    fault.pc = program_counter(context);
    note_callers(fault);
    land_on_root(context, worker->root());
#else
    (void)worker, (void)context;
#endif
}

void handle(int number, siginfo_t* info, void* opaque) {
    ucontext_t& context = *static_cast<ucontext_t*>(opaque);
    Worker* worker = this_worker;
    if (number == overtime_signal && info->si_code == SI_TKILL) {
        handle_overtime(worker, context);
        return;
    }
#if !defined(RUNGS_SIMT_UCONTEXT)
    if (worker && execution.in_lane && worker->fault.signal == 0) {
        // The lane is given up. Its worker goes on from the root, as if the lane had left it.
        Fault& fault = worker->fault;
        fault.signal = number;
        fault.code = info->si_code;
        fault.address = info->si_addr;
        fault.pc = program_counter(context);
        fault.stack_overflow = worker->fibers().in_guard(info->si_addr);
        fault.called = number == SIGSEGV && fault.address == fault.pc;
        for (const void*& caller : fault.callers) caller = nullptr;
        if (fault.stack_overflow)
            note_callers(fault);
        else if (fault.called)
            fault.callers[0] = return_address(context);
        land_on_root(context, worker->root());
        return;
    }
#endif
    chain(number, info, opaque);
}

/// The handler's stack of one thread.
struct SignalStack {
    SignalStack() {
        stack_t current;
        // A sanitizer or a test framework may have given this thread one already.
        if (sigaltstack(nullptr, &current) == 0 && !(current.ss_flags & SS_DISABLE)) return;
        memory =
            mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            memory = nullptr;
            return;
        }
        stack_t stack{};
        stack.ss_sp = memory;
        stack.ss_size = signal_stack_bytes;
        sigaltstack(&stack, nullptr);
    }
    ~SignalStack() {
        if (!memory) return;
        stack_t current;
        if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory) {
            stack_t off{};
            off.ss_flags = SS_DISABLE;
            sigaltstack(&off, nullptr);
        }
        munmap(memory, signal_stack_bytes);
    }
    void* memory = nullptr;
};

}  // namespace

void install_signal_stack() {
    // Asked for anew each time: a test framework may have taken its own away again.
    static thread_local SignalStack stack;
    stack_t current;
    if (sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
        stack.~SignalStack();
        new (&stack) SignalStack;
    }
}

void install_fault_handlers() {
    struct sigaction current;
    if (sigaction(SIGSEGV, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) &&
        current.sa_sigaction == handle)
        return;
    std::lock_guard lock(install_mutex);
    if (program_text.size == 0) find_text();
    for (int i = 0; i < signal_count; ++i) {
        struct sigaction action {};
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | (signals[i] == overtime_signal ? SA_RESTART : 0);
        sigemptyset(&action.sa_mask);
        struct sigaction before;
        sigaction(signals[i], &action, &before);
        if (!(before.sa_flags & SA_SIGINFO) || before.sa_sigaction != handle) previous[i] = before;
    }
}

}  // namespace simt

#if defined(__GLIBC__)
/// What assert() calls, in place of the C library's: an assertion of a lane ends the launch with
/// cudaErrorAssert; one of the host ends the process, as ever.
extern "C" __attribute__((noreturn)) void __assert_fail(const char* assertion, const char* file,
                                                        unsigned line, const char* function) noexcept {
    if (simt::execution.in_lane) {
        const char* slash = std::strrchr(file, '/');
        char text[512];
        std::snprintf(text, sizeof text, "assertion '%s' failed (%s:%u)", assertion, slash ? slash + 1 : file,
                      line);
        simt::observe::failed(simt::check::Kind::assertion, simt::check::Cause::unknown, text, SIMT_SITE);
        simt::Worker& worker = *simt::this_worker;
        worker.fail(
            simt::lane_report(*worker.launch(), *simt::execution.block, cudaErrorAssert, text, nullptr));
        worker.leave_to_root();
    }
    std::fprintf(stderr, "%s:%u: %s: Assertion '%s' failed.\n", file, line, function, assertion);
    std::abort();
}
#endif
