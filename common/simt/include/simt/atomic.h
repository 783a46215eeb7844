/// @file
/// Atomics and cached loads and stores.
///
/// They are atomic across the OS threads that run blocks; the `_block` and `_system` forms are the same
/// operation. Lanes run one after the other, so a loop that polls memory would never see it change: an
/// operation that changes nothing, many times in a row at one address, therefore lets other lanes, and if
/// these wait too other blocks, run.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt/lane.h"
#include "simt/types.h"

namespace simt {

/// Repeats of a fruitless operation after which other lanes run.
constexpr unsigned spin_patience = 32;

/// pause() and changed() of a check build, out of line: their own accesses are not observed.
void pause_unobserved(const volatile void* address);
void changed_unobserved(const volatile void* address);
/// Who sees what an operation or a fence orders.
enum class Reach : unsigned char { thread, block, device };
/// What the next operation of this thread, at `address`, orders by itself: an `__ATOMIC_*`. CUDA's atomic
/// functions, of which nothing is said, order nothing without a fence.
void order_unobserved(const volatile void* address, int order, Reach reach);
/// The same of a compare-and-swap, which is a load in order `failure` unless it finds `*expected`.
void exchange_order_unobserved(const volatile void* address, const void* expected, std::size_t size,
                               int order, int failure, Reach reach);
/// A fence of a given order.
void fence_unobserved(int order, Reach reach);
/// Replaces `*old` by `desired`, unless it has changed; then gives what is there.
bool exchange_unobserved(std::uint16_t* address, std::uint16_t* old, std::uint16_t desired);
bool exchange_unobserved(std::uint32_t* address, std::uint32_t* old, std::uint32_t desired);
bool exchange_unobserved(std::uint64_t* address, std::uint64_t* old, std::uint64_t desired);

/// Counts an operation at `address` that changed nothing: is it one too many?
SIMT_DEVICE bool in_vain(const volatile void* address) {
    // Four addresses, because loops poll a flag here and a counter there.
    const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(address);
    const volatile void*& last = execution.spin_address[(bits >> 2 ^ bits >> 7) & 3];
    if (last == address) return __builtin_expect(++execution.spins >= spin_patience, 0);
    last = address;
    return false;
}
/// Counts one, and lets others run after so many.
SIMT_DEVICE void pause(const volatile void* address) {
#if defined(SIMT_CHECK) && !defined(SIMT_RUNTIME)
    pause_unobserved(address);
#else
    if (in_vain(address)) yield_lane();
#endif
}
/// Counts an operation that changed what it met.
SIMT_DEVICE void changed([[maybe_unused]] const volatile void* address) {
#if defined(SIMT_CHECK) && !defined(SIMT_RUNTIME)
    changed_unobserved(address);
#else
    ++execution.changes;
#endif
}

/// See order_unobserved(): here all operations are sequentially consistent, and only the checks ask.
SIMT_DEVICE void in_order([[maybe_unused]] const volatile void* address, [[maybe_unused]] int order,
                          [[maybe_unused]] Reach reach) {
#if defined(SIMT_CHECK) && !defined(SIMT_RUNTIME)
    order_unobserved(address, order, reach);
#endif
}
SIMT_DEVICE void in_order_of_exchange([[maybe_unused]] const volatile void* address,
                                      [[maybe_unused]] const void* expected,
                                      [[maybe_unused]] std::size_t size, [[maybe_unused]] int order,
                                      [[maybe_unused]] int failure, [[maybe_unused]] Reach reach) {
#if defined(SIMT_CHECK) && !defined(SIMT_RUNTIME)
    exchange_order_unobserved(address, expected, size, order, failure, reach);
#endif
}
/// A fence that orders what `order` says, for those in `reach`.
SIMT_DEVICE void fence_in_order([[maybe_unused]] int order, [[maybe_unused]] Reach reach) {
#if defined(SIMT_CHECK) && !defined(SIMT_RUNTIME)
    fence_unobserved(order, reach);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/// The order of a compare-and-swap that fails, where one order is given for both.
constexpr int order_of_failure(int order) {
    return order == __ATOMIC_ACQ_REL   ? __ATOMIC_ACQUIRE
           : order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED
                                       : order;
}

/// A value of T is its bytes. (In check mode CUDA's vectors copy themselves: see simt/types.h.)
#if RUNGS_SIMT_WHOLE_VECTORS
template <class T>
constexpr bool is_bytes = std::is_trivially_destructible<T>::value;
#else
template <class T>
constexpr bool is_bytes = std::is_trivially_copyable<T>::value;
#endif

/// The integer that is as wide as T, for compare-and-swap on its bits.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class To, class From>
SIMT_DEVICE To bits_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "same width");
    To to;
    __builtin_memcpy(static_cast<void*>(&to), &from, sizeof to);
    return to;
}

/// Replaces `*address` by `f(*address)`; returns the old value.
template <class T, class F>
SIMT_DEVICE T atomic_update(T* address, F f) {
    using B = Bits<T>;
    B* word = reinterpret_cast<B*>(address);
#if defined(SIMT_CHECK) && !defined(SIMT_RUNTIME)
    // One operation, and not the two of the loop below: the checks see the first, which changes nothing.
    B old = __atomic_fetch_or(word, B(0), __ATOMIC_SEQ_CST);
    for (;;) {
        const T before = bits_cast<T>(old);
        const B desired = bits_cast<B>(static_cast<T>(f(before)));
        if (!exchange_unobserved(word, &old, desired)) continue;
        // Only now may others run: what they leave here, the next operation is the first to see.
        if (desired == old)
            pause(address);
        else
            changed(address);
        return before;
    }
#else
    B old = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
        const T before = bits_cast<T>(old);
        const B desired = bits_cast<B>(static_cast<T>(f(before)));
        if (desired == old) {
            // Reads of a flag are often written as updates that change nothing.
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
            pause(address);
            return before;
        }
        if (__atomic_compare_exchange_n(word, &old, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            changed(address);
            return before;
        }
    }
#endif
}

}  // namespace simt

// CUDA names the types of each operation; a template would accept calls that a device compiler rejects.
#define SIMT_ATOMIC(suffix, T)                                                                            \
    SIMT_DEVICE T atomicAdd##suffix(T* address, T value) {                                                \
        const T old = __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);                               \
        value == 0 ? simt::pause(address) : simt::changed(address);                                       \
        return old;                                                                                       \
    }                                                                                                     \
    SIMT_DEVICE T atomicExch##suffix(T* address, T value) {                                               \
        const T old = __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                              \
        old == value ? simt::pause(address) : simt::changed(address);                                     \
        return old;                                                                                       \
    }                                                                                                     \
    SIMT_DEVICE T atomicCAS##suffix(T* address, T compare, T value) {                                     \
        T old = compare;                                                                                  \
        const bool stored =                                                                               \
            __atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        (stored && compare != value) ? simt::changed(address) : simt::pause(address);                     \
        return old;                                                                                       \
    }                                                                                                     \
    SIMT_DEVICE T atomicMin##suffix(T* address, T value) {                                                \
        return simt::atomic_update(address, [=](T old) { return value < old ? value : old; });            \
    }                                                                                                     \
    SIMT_DEVICE T atomicMax##suffix(T* address, T value) {                                                \
        return simt::atomic_update(address, [=](T old) { return value > old ? value : old; });            \
    }                                                                                                     \
    SIMT_DEVICE T atomicAnd##suffix(T* address, T value) {                                                \
        return simt::atomic_update(address, [=](T old) { return old & value; });                          \
    }                                                                                                     \
    SIMT_DEVICE T atomicOr##suffix(T* address, T value) {                                                 \
        return simt::atomic_update(address, [=](T old) { return old | value; });                          \
    }                                                                                                     \
    SIMT_DEVICE T atomicXor##suffix(T* address, T value) {                                                \
        return simt::atomic_update(address, [=](T old) { return old ^ value; });                          \
    }

#define SIMT_ATOMIC_FLOAT(suffix, T)                                             \
    SIMT_DEVICE T atomicAdd##suffix(T* address, T value) {                       \
        return simt::atomic_update(address, [=](T old) { return old + value; }); \
    }                                                                            \
    SIMT_DEVICE T atomicExch##suffix(T* address, T value) {                      \
        return simt::atomic_update(address, [=](T) { return value; });           \
    }

// The vector forms are atomic by component, as on a device.
#define SIMT_ATOMIC_SCOPE(suffix)                                                                            \
    SIMT_ATOMIC(suffix, int)                                                                                 \
    SIMT_ATOMIC(suffix, unsigned)                                                                            \
    SIMT_ATOMIC(suffix, unsigned long long)                                                                  \
    SIMT_ATOMIC(suffix, long long)                                                                           \
    SIMT_ATOMIC(suffix, unsigned long)                                                                       \
    SIMT_ATOMIC(suffix, long)                                                                                \
    SIMT_ATOMIC_FLOAT(suffix, float)                                                                         \
    SIMT_ATOMIC_FLOAT(suffix, double)                                                                        \
    SIMT_DEVICE int atomicSub##suffix(int* address, int value) {                                             \
        const auto old = __atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST);                               \
        value == 0 ? simt::pause(address) : simt::changed(address);                                          \
        return old;                                                                                          \
    }                                                                                                        \
    SIMT_DEVICE unsigned atomicSub##suffix(unsigned* address, unsigned value) {                              \
        const auto old = __atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST);                               \
        value == 0 ? simt::pause(address) : simt::changed(address);                                          \
        return old;                                                                                          \
    }                                                                                                        \
    SIMT_DEVICE unsigned atomicInc##suffix(unsigned* address, unsigned limit) {                              \
        return simt::atomic_update(address, [=](unsigned old) { return old >= limit ? 0u : old + 1; });      \
    }                                                                                                        \
    SIMT_DEVICE unsigned atomicDec##suffix(unsigned* address, unsigned limit) {                              \
        return simt::atomic_update(address,                                                                  \
                                   [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; }); \
    }                                                                                                        \
    SIMT_DEVICE float2 atomicAdd##suffix(float2* address, float2 value) {                                    \
        return float2{atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y)};     \
    }                                                                                                        \
    SIMT_DEVICE float4 atomicAdd##suffix(float4* address, float4 value) {                                    \
        return float4{atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y),      \
                      atomicAdd##suffix(&address->z, value.z), atomicAdd##suffix(&address->w, value.w)};     \
    }

SIMT_ATOMIC_SCOPE()
SIMT_ATOMIC_SCOPE(_block)
SIMT_ATOMIC_SCOPE(_system)

#undef SIMT_ATOMIC_SCOPE
#undef SIMT_ATOMIC_FLOAT
#undef SIMT_ATOMIC

/// Compare-and-swap of 16 bits.
SIMT_DEVICE unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value) {
    unsigned short old = compare;
    const bool stored =
        __atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    (stored && compare != value) ? simt::changed(address) : simt::pause(address);
    return old;
}

// On a device of compute capability 9.0 these take 16 bytes, too.
#define SIMT_ATOMIC_WIDE(suffix)                                                              \
    template <class T, std::enable_if_t<sizeof(T) == 16, int> = 0>                            \
    SIMT_DEVICE T atomicCAS##suffix(T*, T, T) {                                               \
        static_assert(sizeof(T) < 16,                                                         \
                      "the CPU backend has no atomics of 16 bytes; use two of 8, or a lock"); \
        return {};                                                                            \
    }                                                                                         \
    template <class T, std::enable_if_t<sizeof(T) == 16, int> = 0>                            \
    SIMT_DEVICE T atomicExch##suffix(T*, T) {                                                 \
        static_assert(sizeof(T) < 16,                                                         \
                      "the CPU backend has no atomics of 16 bytes; use two of 8, or a lock"); \
        return {};                                                                            \
    }
SIMT_ATOMIC_WIDE()
SIMT_ATOMIC_WIDE(_block)
SIMT_ATOMIC_WIDE(_system)
#undef SIMT_ATOMIC_WIDE

namespace simt {
/// A load that others may write to meanwhile: the checks take volatile loads for such.
template <class T>
SIMT_DEVICE T load_polled(const T* address) {
#if defined(SIMT_CHECK)
    if constexpr (std::is_arithmetic<T>::value) return *static_cast<const volatile T*>(address);
#endif
    return *address;
}
}  // namespace simt

/// Loads with a cache hint: plain loads here. All but __ldg() may be what a spin loop polls.
template <class T>
SIMT_DEVICE T __ldg(const T* address) {
    return *address;
}

#define SIMT_LOAD(name)                        \
    template <class T>                         \
    SIMT_DEVICE T name(const T* address) {     \
        simt::pause(address);                  \
        __asm__ __volatile__("" ::: "memory"); \
        return simt::load_polled(address);     \
    }
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcv)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD

/// Stores with a cache hint: plain stores here.
#define SIMT_STORE(name)                         \
    template <class T>                           \
    SIMT_DEVICE void name(T* address, T value) { \
        *address = value;                        \
        __asm__ __volatile__("" ::: "memory");   \
    }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE
