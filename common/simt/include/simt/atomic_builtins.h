/// @file
/// nvcc's built-in atomic functions, `__nv_atomic_*` (CUDA C++ Programming Guide 13.0, "Built-in atomic
/// functions"), for types of 4 and 8 bytes; loads and stores take 1 and 2 as well.
///
/// Every operation is sequentially consistent, in every scope; check mode goes by the order and the scope
/// that the program names. A loop that polls lets other lanes run, as with the
/// atomic functions (see simt/atomic.h).
#pragma once

#include "simt/atomic.h"

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST

#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

namespace simt {

/// A parameter from which T is not deduced: the built-ins convert.
template <class T>
using Converted = std::enable_if_t<true, T>;

template <class T, std::size_t least>
SIMT_DEVICE void builtin_atomic_takes() {
    static_assert(
        sizeof(T) >= least && sizeof(T) <= 8,
        "the CPU backend has built-in atomics of 4 and 8 bytes, and loads and stores of 1 and 2; for "
        "16, use two of 8, or a lock");
}

constexpr Reach reach_of_builtin(int scope) {
    return scope == __NV_THREAD_SCOPE_THREAD  ? Reach::thread
           : scope == __NV_THREAD_SCOPE_BLOCK ? Reach::block
                                              : Reach::device;
}

template <class T>
using BuiltinBits = std::conditional_t<sizeof(T) == 1, std::uint8_t, Bits<T>>;

}  // namespace simt

template <class T>
SIMT_DEVICE T __nv_atomic_load_n(const T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    simt::builtin_atomic_takes<T, 1>();
    simt::pause(address);
    simt::in_order(address, order, simt::reach_of_builtin(scope));
    const auto* const word = reinterpret_cast<const simt::BuiltinBits<T>*>(address);
    return simt::bits_cast<T>(__atomic_load_n(word, __ATOMIC_SEQ_CST));
}
template <class T>
SIMT_DEVICE void __nv_atomic_load(const T* address, T* result, int order,
                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *result = __nv_atomic_load_n(address, order, scope);
}
template <class T>
SIMT_DEVICE void __nv_atomic_store_n(T* address, simt::Converted<T> value, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {
    simt::builtin_atomic_takes<T, 1>();
    simt::in_order(address, order, simt::reach_of_builtin(scope));
    using Word = simt::BuiltinBits<T>;
    __atomic_store_n(reinterpret_cast<Word*>(address), simt::bits_cast<Word>(value), __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_DEVICE void __nv_atomic_store(T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __nv_atomic_store_n(address, *value, order, scope);
}
template <class T>
SIMT_DEVICE T __nv_atomic_exchange_n(T* address, simt::Converted<T> value, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {
    simt::builtin_atomic_takes<T, 4>();
    simt::in_order(address, order, simt::reach_of_builtin(scope));
    return simt::atomic_update(address, [=](T) { return value; });
}
template <class T>
SIMT_DEVICE void __nv_atomic_exchange(T* address, T* value, T* result, int order,
                                      int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *result = __nv_atomic_exchange_n(address, *value, order, scope);
}
template <class T>
SIMT_DEVICE bool __nv_atomic_compare_exchange_n(T* address, T* expected, simt::Converted<T> value, bool,
                                                int success, int failure,
                                                int scope = __NV_THREAD_SCOPE_SYSTEM) {
    simt::builtin_atomic_takes<T, 4>();
    using Word = simt::Bits<T>;
    const Word desired = simt::bits_cast<Word>(value);
    Word seen = simt::bits_cast<Word>(*expected);
    simt::in_order_of_exchange(address, &seen, sizeof seen, success, failure, simt::reach_of_builtin(scope));
    if (__atomic_compare_exchange_n(reinterpret_cast<Word*>(address), &seen, desired, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
        seen == desired ? simt::pause(address) : simt::changed(address);
        return true;
    }
    simt::pause(address);
    *expected = simt::bits_cast<T>(seen);
    return false;
}
template <class T>
SIMT_DEVICE bool __nv_atomic_compare_exchange(T* address, T* expected, T* value, bool weak, int success,
                                              int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(address, expected, *value, weak, success, failure, scope);
}

// The second form returns nothing.
#define SIMT_BUILTIN_ATOMIC(name, changed)                                                   \
    template <class T>                                                                       \
    SIMT_DEVICE T __nv_atomic_fetch_##name(T* address, simt::Converted<T> value, int order,  \
                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {           \
        simt::builtin_atomic_takes<T, 4>();                                                  \
        simt::in_order(address, order, simt::reach_of_builtin(scope));                       \
        return simt::atomic_update(address, [=](T old) { return static_cast<T>(changed); }); \
    }                                                                                        \
    template <class T>                                                                       \
    SIMT_DEVICE void __nv_atomic_##name(T* address, simt::Converted<T> value, int order,     \
                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {              \
        __nv_atomic_fetch_##name(address, value, order, scope);                              \
    }
SIMT_BUILTIN_ATOMIC(add, old + value)
SIMT_BUILTIN_ATOMIC(sub, old - value)
SIMT_BUILTIN_ATOMIC(and, old& value)
SIMT_BUILTIN_ATOMIC(or, old | value)
SIMT_BUILTIN_ATOMIC(xor, old ^ value)
SIMT_BUILTIN_ATOMIC(min, value < old ? value : old)
SIMT_BUILTIN_ATOMIC(max, old < value ? value : old)
#undef SIMT_BUILTIN_ATOMIC

SIMT_DEVICE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    simt::fence_in_order(order, simt::reach_of_builtin(scope));
}
