/// @file
/// Shared memory. The translator turns
///
///     __shared__ float tile[16][17];
///
/// into a static SharedKey, a type, and a reference that shared() gives. Each instantiation of a template has
/// its own key, hence its own array, as on a device.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simt/lane.h"

namespace simt {

/// One `__shared__` declaration. Constant-initialised: registered by the first lane that meets it.
struct SharedKey {
    unsigned index = 0;
};

/// Gives the array of `key` its place in the running block: the first touch of a key in a block comes here.
/// New memory is poisoned (0xFF bytes: NaN, -1), because real shared memory holds garbage.
/// `site`: in whose name it fails, if not the caller's.
void* allocate_shared(SharedKey& key, const char* name, std::size_t size, std::size_t alignment,
                      const void* site = nullptr);

/// Poisons the dynamic shared memory of the running block, and returns it.
void* prepare_dynamic_shared();

/// The shape of a `__shared__` declaration, for messages.
struct SharedShape {
    std::size_t element;  ///< bytes
    std::size_t columns;  ///< extent of the last of two or more dimensions, else 0
};
/// shared() and dynamic_shared() of a check build: out of line, so that their own accesses are not observed.
void* find_shared(SharedKey& key, const char* name, std::size_t size, std::size_t alignment,
                  SharedShape shape);
void* find_dynamic_shared(const char* name);

/// The running block's instance of a `__shared__` declaration.
template <class T>
SIMT_DEVICE T& shared(SharedKey& key, const char* name) {
#if defined(SIMT_CHECK)
    constexpr unsigned rank = std::rank<T>::value;
    return *static_cast<T*>(find_shared(key, name, sizeof(T), alignof(T),
                                        {sizeof(std::remove_all_extents_t<T>), rank > 1 ? std::extent < T,
                                         rank == 0 ? 0 : rank - 1 > ::value : 0}));
#else
    const SharedMark mark = execution.marks[__atomic_load_n(&key.index, __ATOMIC_RELAXED)];
    if (__builtin_expect(mark.serial == execution.serial, 1))
        return *reinterpret_cast<T*>(execution.static_shared + mark.offset);
    return *static_cast<T*>(allocate_shared(key, name, sizeof(T), alignof(T)));
#endif
}

/// The running block's dynamic shared memory: the third launch parameter's bytes, aligned to 1024.
/// `name`: of the declaration, one of those that mean this memory.
template <class T>
SIMT_DEVICE T* dynamic_shared([[maybe_unused]] const char* name) {
#if defined(SIMT_CHECK)
    return static_cast<T*>(find_dynamic_shared(name));
#else
    if (__builtin_expect(execution.dynamic_serial == execution.serial, 1))
        return reinterpret_cast<T*>(execution.dynamic_shared);
    return static_cast<T*>(prepare_dynamic_shared());
#endif
}

/// `extern __shared__ T x[];` at namespace scope: looks the block's memory up at each use.
template <class T>
struct DynamicShared {
    const char* name;
    operator T*() const { return dynamic_shared<T>(name); }
    T* operator&() const { return dynamic_shared<T>(name); }
};

}  // namespace simt
