#include "runtime/fiber.h"

#include <sys/mman.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace simt {
namespace {

constexpr std::size_t fibers_per_slab = 64;
constexpr std::size_t default_stack_size = 64 * 1024;
constexpr std::size_t max_stack_size = 256 * 1024 * 1024;

std::size_t page_size() {
    static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

std::size_t clamp_stack_size(std::size_t bytes) {
    bytes = bytes < default_stack_size ? default_stack_size : bytes > max_stack_size ? max_stack_size : bytes;
    return (bytes + page_size() - 1) / page_size() * page_size();
}

std::atomic<std::size_t>& stack_size_setting() {
    static std::atomic<std::size_t> size{[] {
        const char* text = std::getenv("RUNGS_SIMT_STACK");
        return clamp_stack_size(text ? std::strtoull(text, nullptr, 0) : 0);
    }()};
    return size;
}

// Guard pages split mappings, and the kernel allows a process about 65,000 of those. Stacks beyond this
// number go without a guard.
constexpr std::size_t max_guards = 24 * 1024;
std::atomic<std::size_t> guards{0};

}  // namespace

std::size_t lane_stack_size() { return stack_size_setting().load(std::memory_order_relaxed); }

void set_lane_stack_size(std::size_t bytes) {
    stack_size_setting().store(clamp_stack_size(bytes), std::memory_order_relaxed);
}

const Context& start_context(Fiber& fiber, void (*entry)()) {
    Context& context = fiber.start;
#if defined(__SANITIZE_ADDRESS__)
    // Lanes leave stacks without unwinding them: their red zones would meet the next lane.
    __asan_unpoison_memory_region(fiber.bottom, fiber.size);
#endif
#if defined(RUNGS_SIMT_UCONTEXT)
    getcontext(&fiber.start_context);
    fiber.start_context.uc_stack.ss_sp = fiber.bottom;
    fiber.start_context.uc_stack.ss_size = static_cast<std::size_t>(fiber.top - fiber.bottom);
    fiber.start_context.uc_link = nullptr;
    makecontext(&fiber.start_context, entry, 0);
    context.sp = &fiber.start_context;
#elif defined(__x86_64__)
    // As after a call: the stack is 8 bytes off a multiple of 16, and the null return
    // address ends backtraces.
    void** sp = reinterpret_cast<void**>(fiber.top) - 1;
    *sp = nullptr;
    context = {sp, nullptr, reinterpret_cast<void*>(entry)};
#else
    context = {fiber.top, nullptr, reinterpret_cast<void*>(entry)};
#endif
    return context;
}

Fiber& FiberPool::take() {
    if (!free_) grow();
    Fiber* fiber = free_;
    free_ = fiber->next;
    return *fiber;
}

void FiberPool::grow() {
    const std::size_t guard = page_size();
    const std::size_t stride = stack_size_ + guard;
    void* memory = mmap(nullptr, stride * fibers_per_slab, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    Fiber* fibers = new Fiber[fibers_per_slab];
    slabs_.push_back(fibers);
    for (std::size_t i = fibers_per_slab; i-- > 0;) {
        char* low = static_cast<char*>(memory) + i * stride;
        Fiber& fiber = fibers[i];
        if (guards.load(std::memory_order_relaxed) < max_guards && mprotect(low, guard, PROT_NONE) == 0) {
            fiber.guarded = true;
            guards.fetch_add(1, std::memory_order_relaxed);
        }
        fiber.bottom = low + guard;
        fiber.size = stack_size_;
        // Eleven lines apart: the hot ends of 64 stacks then cover a page's cache sets evenly.
        fiber.top = fiber.bottom + stack_size_ - (i * 11 % 64) * 64;
#if defined(__SANITIZE_THREAD__)
        fiber.tsan = __tsan_create_fiber(0);
#endif
        give_back(fiber);
    }
}

void FiberPool::reset() {
    free_ = nullptr;
    for (Fiber* slab : slabs_)
        for (std::size_t i = fibers_per_slab; i-- > 0;) give_back(slab[i]);
}

void FiberPool::prepare() {
    if (stack_size_ == lane_stack_size()) return;
    release();
    stack_size_ = lane_stack_size();
}

void FiberPool::release() {
    const std::size_t stride = stack_size_ + page_size();
    for (Fiber* slab : slabs_) {
        munmap(slab[0].bottom - page_size(), stride * fibers_per_slab);
        for (std::size_t i = 0; i < fibers_per_slab; ++i) {
            if (slab[i].guarded) guards.fetch_sub(1, std::memory_order_relaxed);
#if defined(__SANITIZE_THREAD__)
            __tsan_destroy_fiber(slab[i].tsan);
#endif
        }
        delete[] slab;
    }
    slabs_.clear();
    free_ = nullptr;
}

const Fiber* FiberPool::holder(const void* address) const {
    const char* a = static_cast<const char*>(address);
    const std::size_t stride = stack_size_ + page_size();
    for (const Fiber* slab : slabs_) {
        const std::size_t offset = static_cast<std::size_t>(a - (slab[0].bottom - page_size()));
        if (a >= slab[0].bottom && offset < stride * fibers_per_slab) return slab + offset / stride;
    }
    return nullptr;
}

bool FiberPool::in_guard(const void* address) const {
    const char* a = static_cast<const char*>(address);
    for (const Fiber* slab : slabs_)
        for (std::size_t i = 0; i < fibers_per_slab; ++i)
            if (slab[i].guarded && a >= slab[i].bottom - page_size() && a < slab[i].bottom) return true;
    return false;
}

}  // namespace simt
