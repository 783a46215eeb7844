/// @file
/// Variables at namespace scope that kernels use: `__constant__`, `__device__` and `__managed__`.
///
/// On the CPU such a variable is an ordinary global. The translator writes a Symbol after its definition, so
/// that the runtime knows its address, its size and its name: copies are checked against them.
#pragma once

#include <stddef.h>

#include "simt/structures.h"
#if defined(__cplusplus)
#include <type_traits>

#include "simt/lane.h"
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/// Address of `symbol` as a kernel sees it. `cudaErrorInvalidSymbol` if it is not a device variable.
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol);
/// Size of `symbol` in bytes. `cudaErrorInvalidSymbol` if it is not a device variable.
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol);
/// Copies `count` bytes to `offset` bytes into `symbol`. `cudaErrorInvalidValue` if they do not fit,
/// `cudaErrorInvalidSymbol` if it is not a device variable.
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t count,
                               size_t offset SIMT_DEFAULT(0),
                               enum cudaMemcpyKind kind SIMT_DEFAULT(cudaMemcpyHostToDevice));
cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol, size_t count,
                                 size_t offset SIMT_DEFAULT(0),
                                 enum cudaMemcpyKind kind SIMT_DEFAULT(cudaMemcpyDeviceToHost));
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream SIMT_DEFAULT(0));

#if defined(__cplusplus)
}  // extern "C"

namespace simt {

enum class SymbolKind : unsigned char { constant, device, managed };

/// Registers one variable for as long as it lives.
class Symbol {
  public:
    Symbol(const volatile void* address, size_t size, const char* name, SymbolKind kind);
    ~Symbol();
    Symbol(const Symbol&) = delete;
    Symbol& operator=(const Symbol&) = delete;

  private:
    const void* address_;

  protected:  // Clang warns of a private member that nobody reads, and g++ 11 of what would tell it not to.
    char zone_[64] = {};
};

/// For check mode: memory next to a variable, so that an access past its end meets memory of no variable
/// instead of the next one.
class RedZone {
  public:
    explicit RedZone(const char (&zone)[64]);
};
/// After each variable: a zone among those that are initialised. (The Symbol is one among the zeros.)
#define SIMT_RED_ZONE(name)                                  \
    __attribute__((used)) static char name##_data[64] = {1}; \
    static const ::simt::RedZone name##_zone(name##_data);

/// A `static` variable of a device function, which lies on the device. Constant-initialised: registered by
/// the first lane that meets its declaration.
struct StaticKey {
    bool known = false;
};
/// `static`, of a variable with a constant initialiser: a device runs nothing that could compute another.
#if defined(__clang__)
#define SIMT_STATIC [[clang::require_constant_initialization]] static
#else
#define SIMT_STATIC __constinit static
#endif
/// Registers the variable of `key` forever, unless it is known.
void register_static(StaticKey& key, const void* address, size_t size, const char* name, SymbolKind kind);

/// Address of a variable of any type, volatile or not, without its operator&.
template <class T>
inline const void* symbol_address(const T& symbol) {
    return const_cast<const void*>(
        static_cast<const volatile void*>(&reinterpret_cast<const volatile char&>(symbol)));
}

/// The lane has come to the declaration of `variable`. Constants are no variables: the
/// compiler has their values.
template <class T>
SIMT_DEVICE void device_static(StaticKey& key, T& variable, const char* name, SymbolKind kind) {
    if (std::is_const<std::remove_all_extents_t<T>>::value) return;
#if !defined(SIMT_CHECK)  // there, also the key's accesses would be observed
    if (__builtin_expect(__atomic_load_n(&key.known, __ATOMIC_ACQUIRE), 1)) return;
#endif
    register_static(key, symbol_address(variable), sizeof variable, name, kind);
}

/// A `static` variable of a function that host and device call: each side has one of its own. `variable`
/// gives one for each type of its argument.
template <class F>
SIMT_DEVICE auto& of_side(F variable, const char* name) {
    static StaticKey key;
    if (!runs_lane()) return variable(std::false_type());
    auto& own = variable(std::true_type());
    device_static(key, own, name, SymbolKind::device);
    return own;
}

/// The address that the host has for a device function: one that no lane can call. Run mode
/// has the function's own.
const void* address_on_host(const void* function, const char* name);
template <class R, class... P>
inline R (*of_host(R (*function)(P...), [[maybe_unused]] const char* name))(P...) {
#if defined(SIMT_CHECK)
    const void* const address = address_on_host(reinterpret_cast<const void*>(function), name);
    return reinterpret_cast<R (*)(P...)>(const_cast<void*>(address));
#else
    return function;
#endif
}

#if __cplusplus >= 201703L
/// An instance of a variable template.
template <auto* variable>
SIMT_DEVICE auto& device_variable(const char* name, SymbolKind kind) {
    static StaticKey key;
    device_static(key, *variable, name, kind);
    return *variable;
}
#endif

}  // namespace simt

// The forms that take the variable itself, as CUDA C++ code writes them.
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
    return cudaGetSymbolAddress(address, ::simt::symbol_address(symbol));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
    return cudaGetSymbolSize(size, ::simt::symbol_address(symbol));
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol(::simt::symbol_address(symbol), source, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* destination, const T& symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(destination, ::simt::symbol_address(symbol), count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t count,
                                           size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = 0) {
    return cudaMemcpyToSymbolAsync(::simt::symbol_address(symbol), source, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const T& symbol, size_t count,
                                             size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0) {
    return cudaMemcpyFromSymbolAsync(destination, ::simt::symbol_address(symbol), count, offset, kind,
                                     stream);
}
#endif
