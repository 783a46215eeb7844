// What instrumented code calls in place of malloc, new, memcpy and their like (simt/intercept.h): in a kernel
// the device's heap and checked copies, on the host the C library with a look at device pointers.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "check/host.h"
#include "check/state.h"
#include "runtime/heap.h"
#include "simt/api.h"
#include "simt/device.h"

using namespace simt;
using namespace simt::check;

#define PC __builtin_return_address(0)

extern "C" {
void* __real_memcpy(void* to, const void* from, std::size_t n);
void* __real_memmove(void* to, const void* from, std::size_t n);
void* __real_memset(void* to, int value, std::size_t n);
}

namespace {

bool in_kernel() { return execution.in_lane && !own_work; }

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// The device's heap, as CUDA has it: cudaLimitMallocHeapSize bytes for all kernels, null when they
/// are used up.
void* allocate(std::size_t size, const void* pc) {
    const OwnWork own;
    settle_pending();
    std::size_t limit = 0;
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    if (size == 0 || size > limit || state.device_heap_used > limit - size) return nullptr;
    void* memory = heap().allocate(size, Location::Kind::device);
    if (!memory) return nullptr;
    Array* array = find_array(number(memory));
    array->name = "memory from malloc";
    array->from_kernel = true;
    array->made_at = {pc};
    state.device_heap_used += size;
    return memory;
}

void release(void* memory, const void* pc) {
    if (!memory) return;
    Array* array = find_array(number(memory));
    if (!array || !array->live || !array->from_kernel || array->begin != number(memory)) {
        const OwnWork own;
        const bool twice = array && !array->live && array->from_kernel && array->begin == number(memory);
        Report report = by_current_lane(Tool::memcheck, twice ? Kind::double_free : Kind::invalid_free, pc);
        report.array = array;
        report.address = number(memory);
        report.act = Act::free;
        record(std::move(report));
        return;
    }
    // Whoever still uses it does so in no order with this: freeing counts as writing.
    check_access(array->begin, array->size, AccessKind::write, false, pc);
    const OwnWork own;
    heap().release(memory);
    array->freed_at = {pc};
}

/// free() and delete on the host.
bool refuse_on_host(const void* memory, const void* pc) {
    if (number(memory) - state.heap_begin >= state.heap_size) {
        host_frees(memory);
        return false;
    }
    Report report{};
    report.tool = Tool::memcheck;
    report.kind = Kind::invalid_free;
    report.on_host = true;
    report.pc = pc;
    report.array = find_array(number(memory));
    report.address = number(memory);
    report.act = Act::free;
    record(std::move(report));
    return true;
}

/// Both sides of a copy or fill that the program spells out.
void check_copy(const void* to, const void* from, std::size_t n, const void* pc) {
    if (n == 0) return;
    if (in_kernel()) {
        if (from) check_access(number(from), n, AccessKind::read, false, pc);
        check_access(number(to), n, AccessKind::write, false, pc);
    } else if (!execution.in_lane) {
        if (garbage.size != 0) {
            if (from)
                host_moves(number(to), number(from), n);
            else
                host_touches(number(to), n, true, pc);
        }
        if (number(from) - state.heap_begin < state.heap_size)
            host_access(number(from), n, AccessKind::read, pc);
        if (number(to) - state.heap_begin >= state.heap_size) return;
        host_access(number(to), n, AccessKind::write, pc);
        if (from)
            mark_copied(number(to), number(from), n);
        else
            mark_written(number(to), n);
    }
}

}  // namespace

extern "C" {
void* simt_malloc(std::size_t size);
void simt_free(void* memory);
void* simt_memcpy(void* to, const void* from, std::size_t n);
void* simt_memmove(void* to, const void* from, std::size_t n);
void* simt_memset(void* to, int value, std::size_t n);
void* simt_new(std::size_t size);
void* simt_new_aligned(std::size_t size, std::align_val_t alignment);
void simt_delete(void* memory) noexcept;
void simt_delete_aligned(void* memory, std::align_val_t alignment) noexcept;
void simt_place(void* place, std::size_t size, bool array);
void simt_filled(const volatile void* place, std::size_t size);

void* simt_malloc(std::size_t size) { return in_kernel() ? allocate(size, PC) : std::malloc(size); }
void simt_free(void* memory) {
    if (in_kernel())
        release(memory, PC);
    else if (!refuse_on_host(memory, PC))
        std::free(memory);
}
void* simt_new(std::size_t size) { return in_kernel() ? allocate(size, PC) : ::operator new(size); }
void* simt_new_aligned(std::size_t size, std::align_val_t alignment) {
    return in_kernel() ? allocate(size, PC) : ::operator new(size, alignment);
}
void simt_delete(void* memory) noexcept {
    if (in_kernel())
        release(memory, PC);
    else if (!refuse_on_host(memory, PC))
        ::operator delete(memory);
}
void simt_delete_aligned(void* memory, std::align_val_t alignment) noexcept {
    if (in_kernel())
        release(memory, PC);
    else if (!refuse_on_host(memory, PC))
        ::operator delete(memory, alignment);
}

void simt_place(void* place, std::size_t size, bool array) {
    if (!place || !in_kernel()) return;
    const std::vector<bool> before = array ? std::vector<bool>() : which_are_written(number(place), size);
    check_access(number(place), size, AccessKind::write, false, PC);
    leave_unwritten(number(place), before);
}
void simt_filled(const volatile void* place, std::size_t size) {
    if (!place || !in_kernel()) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(place), end = begin + size;
    // Word by word: one byte of a number that is written may be as it was.
    for (std::uintptr_t at = begin; at < end;) {
        const std::size_t step = at % 4 == 0 && end - at >= 4 ? 4 : 1;
        if (!is_poison(at, step)) mark_written(at, step);
        at += step;
    }
}

void* simt_memcpy(void* to, const void* from, std::size_t n) {
    check_copy(to, from, n, PC);
    return __real_memcpy(to, from, n);
}
void* simt_memmove(void* to, const void* from, std::size_t n) {
    check_copy(to, from, n, PC);
    return __real_memmove(to, from, n);
}
void* simt_memset(void* to, int value, std::size_t n) {
    check_copy(to, nullptr, n, PC);
    return __real_memset(to, value, n);
}
}
