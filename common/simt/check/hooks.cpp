// What instrumented code calls: the functions that -fsanitize=thread and -fsanitize=bounds expect from the
// sanitizers' libraries, in whose place this file is linked.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "check/host.h"
#include "check/state.h"
#include "simt/device.h"

using namespace simt;
using namespace simt::check;

namespace simt::check {
void host_access(std::uintptr_t address, std::size_t size, AccessKind kind, const void* pc) {
    Array* array = find_array(address);
    // By the name of a variable the host has its own copy, unless it is managed.
    if (!array) return;
    if ((array->memory == Memory::symbol || array->memory == Memory::constant) && !array->on_host) return;
    if (array->memory != Memory::device) {
        const bool reads = kind == AccessKind::read || kind == AccessKind::volatile_read;
        // Atomics and volatile accesses are how a host talks to a running kernel.
        if (reads || kind == AccessKind::write) host_races(*array, address, size, !reads, pc);
        if (array->memory != Memory::managed || !state.watches_host) return;
        // (The cells are a running kernel's.)
        const auto lock = between_operations();
        if (!lock.owns_lock() || !array->live || !array->holds(address, size)) return;
        if (reads)
            host_reads_managed(*array, address, size, pc);
        else
            mark_written(address, size);
        return;
    }
    Report report{};
    report.tool = Tool::memcheck;
    report.kind = Kind::device_memory_on_host;
    report.on_host = true;
    report.pc = pc;
    report.act =
        kind == AccessKind::read || kind == AccessKind::volatile_read || kind == AccessKind::atomic_load
            ? Act::read
            : Act::write;
    report.size = size;
    report.array = array;
    report.address = address;
    record(std::move(report));
}

void access_by_host(std::uintptr_t address, std::size_t size, AccessKind kind, const void* pc) {
    if (garbage.holds(address))
        host_touches(
            address, size,
            kind != AccessKind::read && kind != AccessKind::volatile_read && kind != AccessKind::atomic_load,
            pc);
    if (is_device_address(address)) host_access(address, size, kind, pc);
}
}  // namespace simt::check

namespace {

inline __attribute__((always_inline)) void access(const volatile void* p, std::size_t size, AccessKind kind,
                                                  bool aligned, const void* pc) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (__builtin_expect(execution.in_lane, 1))
        check_access(address, size, kind, aligned, pc);
    else if (__builtin_expect(concerns_host(address), 0))
        access_by_host(address, size, kind, pc);
}

/// A byte of the compiler's that says whether a static variable of a function has been constructed. Device
/// code has such variables, too: of a `struct S { S() {} };`.
bool is_guard(const volatile void* p, std::size_t size, int order) {
    return size == 1 && order == __ATOMIC_ACQUIRE &&
           !find_array_in_kernel(reinterpret_cast<std::uintptr_t>(p));
}

std::mutex wide_mutex;  // for 16-byte atomics

}  // namespace

#define PC __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
// `caller` is where the function returns to.
void __tsan_func_entry(void* caller) {
    if (BlockTrace* trace = tracing; trace && execution.in_lane)
        trace_step(*trace, trace->lane(), step_key(StepKind::entry, caller));
}
void __tsan_func_exit() {
    if (BlockTrace* trace = tracing; trace && execution.in_lane)
        trace_step(*trace, trace->lane(), step_key(StepKind::exit, nullptr));
}
/// From -fsanitize-coverage=trace-pc: a basic block begins.
void __sanitizer_cov_trace_pc() {
    note_block(PC);
    if (BlockTrace* trace = tracing; trace && execution.in_lane)
        trace_step(*trace, trace->lane(), step_key(StepKind::block, PC));
}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

void __tsan_read_range(void* p, unsigned long n) {
    if (n) access(p, n, AccessKind::read, false, PC);
}
void __tsan_write_range(void* p, unsigned long n) {
    if (n) access(p, n, AccessKind::write, false, PC);
}
// The pointer of an object with virtual functions to their table.
void __tsan_vptr_read(void** p) { access(p, sizeof *p, AccessKind::read, true, PC); }
void __tsan_vptr_update(void** p, void*) { access(p, sizeof *p, AccessKind::write, true, PC); }

// Atomics are real: launches run on one thread, but host threads use these too.
#define SIMT_FETCH(bits, T, name, builtin)                          \
    T __tsan_atomic##bits##_fetch_##name(volatile T* p, T v, int) { \
        access(p, sizeof(T), AccessKind::atomic, true, PC);         \
        return builtin(p, v, __ATOMIC_SEQ_CST);                     \
    }
#define SIMT_ATOMICS(bits, T)                                                                          \
    T __tsan_atomic##bits##_load(const volatile T* p, int order) {                                     \
        if (!is_guard(p, sizeof(T), order)) access(p, sizeof(T), AccessKind::atomic_load, true, PC);   \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                  \
    void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                                        \
        access(p, sizeof(T), AccessKind::atomic_store, true, PC);                                      \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                  \
    T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                                        \
        access(p, sizeof(T), AccessKind::atomic, true, PC);                                            \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                            \
    }                                                                                                  \
    SIMT_FETCH(bits, T, add, __atomic_fetch_add)                                                       \
    SIMT_FETCH(bits, T, sub, __atomic_fetch_sub)                                                       \
    SIMT_FETCH(bits, T, and, __atomic_fetch_and)                                                       \
    SIMT_FETCH(bits, T, or, __atomic_fetch_or)                                                         \
    SIMT_FETCH(bits, T, xor, __atomic_fetch_xor)                                                       \
    SIMT_FETCH(bits, T, nand, __atomic_fetch_nand)                                                     \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {     \
        compares(p, expected, sizeof(T));                                                              \
        access(p, sizeof(T), AccessKind::atomic, true, PC);                                            \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {       \
        compares(p, expected, sizeof(T));                                                              \
        access(p, sizeof(T), AccessKind::atomic, true, PC);                                            \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }                                                                                                  \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {           \
        compares(p, &expected, sizeof(T));                                                             \
        access(p, sizeof(T), AccessKind::atomic, true, PC);                                            \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
        return expected;                                                                               \
    }
SIMT_ATOMICS(8, std::uint8_t)
SIMT_ATOMICS(16, std::uint16_t)
SIMT_ATOMICS(32, std::uint32_t)
SIMT_ATOMICS(64, std::uint64_t)
#undef SIMT_ATOMICS
#undef SIMT_FETCH

__extension__ typedef unsigned __int128 Wide;
#define SIMT_WIDE(name, expression)                               \
    Wide __tsan_atomic128_##name(volatile Wide* p, Wide v, int) { \
        access(p, sizeof(Wide), AccessKind::atomic, true, PC);    \
        std::lock_guard lock(wide_mutex);                         \
        const Wide old = *p;                                      \
        *p = expression;                                          \
        return old;                                               \
    }
SIMT_WIDE(exchange, v)
SIMT_WIDE(fetch_add, old + v)
SIMT_WIDE(fetch_sub, old - v)
SIMT_WIDE(fetch_and, old& v)
SIMT_WIDE(fetch_or, old | v)
SIMT_WIDE(fetch_xor, old ^ v)
SIMT_WIDE(fetch_nand, ~(old& v))
#undef SIMT_WIDE
Wide __tsan_atomic128_load(const volatile Wide* p, int) {
    access(p, sizeof(Wide), AccessKind::atomic_load, true, PC);
    std::lock_guard lock(wide_mutex);
    return *p;
}
void __tsan_atomic128_store(volatile Wide* p, Wide v, int) {
    access(p, sizeof(Wide), AccessKind::atomic_store, true, PC);
    std::lock_guard lock(wide_mutex);
    *p = v;
}
Wide __tsan_atomic128_compare_exchange_val(volatile Wide* p, Wide expected, Wide v, int, int) {
    access(p, sizeof(Wide), AccessKind::atomic, true, PC);
    std::lock_guard lock(wide_mutex);
    const Wide old = *p;
    if (old == expected) *p = v;
    return old;
}
int __tsan_atomic128_compare_exchange_strong(volatile Wide* p, Wide* expected, Wide v, int, int) {
    access(p, sizeof(Wide), AccessKind::atomic, true, PC);
    std::lock_guard lock(wide_mutex);
    const Wide old = *p;
    if (old == *expected) {
        *p = v;
        return 1;
    }
    *expected = old;
    return 0;
}
int __tsan_atomic128_compare_exchange_weak(volatile Wide* p, Wide* expected, Wide v, int a, int b) {
    return __tsan_atomic128_compare_exchange_strong(p, expected, v, a, b);
}

void __tsan_atomic_thread_fence(int) {
    if (execution.in_lane) simt::fence(true);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

// ---- Copies and fills, by -Wl,--wrap ----------------------------------------------------------------------

void* __real_memcpy(void* to, const void* from, std::size_t n);
void* __real_memmove(void* to, const void* from, std::size_t n);
void* __real_memset(void* to, int value, std::size_t n);

void* __wrap_memcpy(void* to, const void* from, std::size_t n);
void* __wrap_memmove(void* to, const void* from, std::size_t n);
void* __wrap_memset(void* to, int value, std::size_t n);
void* __tsan_memcpy(void* to, const void* from, std::size_t n);
void* __tsan_memmove(void* to, const void* from, std::size_t n);
void* __tsan_memset(void* to, int value, std::size_t n);
}

namespace {

/// Memory that the checks know. Copies of anything else are nobody's concern: --wrap catches the runtime's
/// own and the host's as well.
bool concerns(std::uintptr_t address) {
    return is_device_address(address) || address - state.shared_begin < state.shared_size;
}

void observe_copy(void* to, const void* from, std::size_t n, const void* pc) {
    const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
    const bool writes = concerns(target), reads = from && concerns(source);
    if (n == 0) return;
    if (garbage.size != 0 && !execution.in_lane && !own_work) {
        if (from)
            host_moves(target, source, n);
        else
            host_touches(target, n, true, pc);
    }
    if (!(writes || reads)) return;
    if (execution.in_lane) {
        if (own_work) return;
        // A copy of a struct, as Clang makes it: known on one side, so it is a kernel's.
        if (from) check_access(source, n, AccessKind::read, false, pc);
        check_access(target, n, AccessKind::write, false, pc);
    } else {
        operation_copies(target, source, n);
        const Array* const array = writes ? find_array(target) : nullptr;
        count_bytes(n, reads && (!array || array->on_host));
        if (state.watches_host && reads && (!array || array->on_host)) copied_to_host(target, source, n);
        if (!writes) return;
        if (from)
            mark_copied(target, source, n);
        else
            mark_written(target, n);
    }
}

}  // namespace

extern "C" {
void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
    observe_copy(to, from, n, PC);
    return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, std::size_t n) {
    observe_copy(to, from, n, PC);
    return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, std::size_t n) {
    observe_copy(to, nullptr, n, PC);
    return __real_memset(to, value, n);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
    observe_copy(to, from, n, PC);
    return __real_memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
    observe_copy(to, from, n, PC);
    return __real_memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, std::size_t n) {
    observe_copy(to, nullptr, n, PC);
    return __real_memset(to, value, n);
}
}

// ---- What the C library stores for a kernel, by -Wl,--wrap ------------------------------------------------

namespace {

/// Stores as an assignment of the caller's would.
template <class T>
inline __attribute__((always_inline)) void store(T* to, T value, const void* pc) {
    access(to, sizeof value, AccessKind::write, true, pc);
    *to = value;
}

/// Does a format write to where an argument points: `%n`?
bool writes(const char* format) {
    while ((format = std::strchr(format, '%'))) {
        format += 1 + std::strspn(format + 1, "0123456789$ #+-'*.hlLqjzt");
        if (*format == 'n') return true;
        if (*format != 0) ++format;
    }
    return false;
}

}  // namespace

extern "C" {
#define SIMT_STORES(T, name_modf, name_frexp, name_remquo, name_sincos) \
    T __real_##name_modf(T x, T* whole);                                \
    T __wrap_##name_modf(T x, T* whole);                                \
    T __real_##name_frexp(T x, int* exponent);                          \
    T __wrap_##name_frexp(T x, int* exponent);                          \
    T __real_##name_remquo(T x, T y, int* quotient);                    \
    T __wrap_##name_remquo(T x, T y, int* quotient);                    \
    void __real_##name_sincos(T x, T* sine, T* cosine);                 \
    void __wrap_##name_sincos(T x, T* sine, T* cosine);                 \
    T __wrap_##name_modf(T x, T* whole) {                               \
        T value;                                                        \
        const T rest = __real_##name_modf(x, &value);                   \
        store(whole, value, PC);                                        \
        return rest;                                                    \
    }                                                                   \
    T __wrap_##name_frexp(T x, int* exponent) {                         \
        int value;                                                      \
        const T mantissa = __real_##name_frexp(x, &value);              \
        store(exponent, value, PC);                                     \
        return mantissa;                                                \
    }                                                                   \
    T __wrap_##name_remquo(T x, T y, int* quotient) {                   \
        int value;                                                      \
        const T rest = __real_##name_remquo(x, y, &value);              \
        store(quotient, value, PC);                                     \
        return rest;                                                    \
    }                                                                   \
    void __wrap_##name_sincos(T x, T* sine, T* cosine) {                \
        T values[2];                                                    \
        __real_##name_sincos(x, &values[0], &values[1]);                \
        store(sine, values[0], PC);                                     \
        store(cosine, values[1], PC);                                   \
    }
SIMT_STORES(float, modff, frexpf, remquof, sincosf)
SIMT_STORES(double, modf, frexp, remquo, sincos)
#undef SIMT_STORES

int __wrap_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
int __wrap_printf(const char* format, ...) {
    if (execution.in_lane && !own_work && format && writes(format)) {
        const OwnWork own;
        Report report = by_current_lane(Tool::memcheck, Kind::failure, PC);
        report.text = "printf with %n, which no device has";
        record(std::move(report));
        return 0;
    }
    va_list arguments;
    va_start(arguments, format);
    const int printed = std::vprintf(format, arguments);
    va_end(arguments);
    return printed;
}
}

// ---- -fsanitize=bounds ------------------------------------------------------------------------------------

namespace {

// The layouts are fixed by the compilers.
struct SourceLocation {
    const char* file;
    std::uint32_t line, column;
};
struct TypeDescriptor {
    std::uint16_t kind, info;
    char name[1];
};
struct OutOfBounds {
    SourceLocation location;
    const TypeDescriptor *array, *index;
};

void out_of_bounds(const OutOfBounds& data, std::uintptr_t index, const void* pc) {
    long long value = static_cast<long long>(index);
    if (data.index->info & 1) {
        const int width = 1 << (data.index->info >> 1);
        if (width < 64) value = static_cast<long long>(index << (64 - width)) >> (64 - width);
    }
    const char* slash = std::strrchr(data.location.file, '/');
    {
        const OwnWork own;
        Report report = by_current_lane(Tool::memcheck, Kind::out_of_bounds, pc);
        report.on_host = !execution.in_lane;
        report.place.file = slash ? slash + 1 : data.location.file;
        const Place place = locate(pc);
        report.place.path = place.path.ends_with('/' + report.place.file) ? place.path : data.location.file;
        report.place.line = data.location.line;
        report.place.column = data.location.column;
        report.place.function = place.function;
        // Below -2^29 it overflowed; shortly below 2^32 it is an unsigned one that went below 0.
        constexpr long long least = -(1ll << 29), behind_unsigned = 1ll << 32, few = 96;
        report.text = "Index " + std::to_string(value) + " is out of range for an array of type " +
                      data.array->name + (value < least ? ": it has wrapped." : ".");
        if (value < least)
            report.cause = Cause::wrapped_index;
        else if (value < behind_unsigned && value >= behind_unsigned - few)
            report.cause = Cause::index_below_zero;
        report.act = Act::access;
        record(std::move(report));
    }
    if (!execution.in_lane) return;
    state.stopped = true;
    ++state.block->stopped;
    this_worker->stop_lane();
}

}  // namespace

extern "C" {
void __ubsan_handle_out_of_bounds(void* data, std::uintptr_t index) {
    out_of_bounds(*static_cast<const OutOfBounds*>(data), index, PC);
}
void __ubsan_handle_out_of_bounds_abort(void* data, std::uintptr_t index) {
    out_of_bounds(*static_cast<const OutOfBounds*>(data), index, PC);
}
}
