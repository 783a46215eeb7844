/// @file
/// Memory that the runtime knows: device allocations, pinned host memory, symbols.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simt/api.h"
#include "simt/stream.h"
#include "simt/symbol.h"

namespace simt {

/// What an address is, as far as copies care.
enum class Space : unsigned char {
    host,      ///< ordinary host memory, unknown to the runtime
    pinned,    ///< host memory from cudaMallocHost() or cudaHostRegister()
    device,    ///< device memory or a symbol
    managed,   ///< managed memory
    promised,  ///< of a graph that has not allocated it, or has freed it: what is enqueued may name it
    invalid    ///< inside the device's address range, but in no allocation
};

/// What [address, address + size) is; `invalid` if it begins in an allocation and leaves it. An empty range
/// at the end of an allocation still belongs to it.
Space classify(const void* address, std::size_t size);

/// For operations when they run: `cudaErrorInvalidValue` if one of these is memory that is only promised.
cudaError_t check_present(const void* address, const void* other = nullptr);

/// Checks one side of a copy against `kind`'s demand. True if kernels can reach [address, address + size).
bool is_device_accessible(const void* address, std::size_t size);

/// Device memory for the runtime itself (arrays), freed by release_device().
void* allocate_device(std::size_t size, Location::Kind kind);
/// False if `pointer` is not the start of a live allocation.
bool release_device(void* pointer);

/// Device memory in use, in bytes.
std::size_t device_memory_used();
/// High-water mark of device_memory_used(); `reset` sets it to the present value.
std::size_t device_memory_high(bool reset = false);

/// Reports damaged red zones of all live allocations to standard error, each once; their number.
int check_red_zones();

/// Frees everything that was allocated on the device or pinned by the runtime.
void reset_memory();

/// `cudaSuccess` if a copy of `count` bytes in direction `kind` is right, else what CUDA returns.
cudaError_t check_copy(const void* destination, const void* source, std::size_t count, cudaMemcpyKind kind);
/// The same for a destination of `to` bytes and a source of `from` bytes, of rows with a distance.
cudaError_t check_copy(const void* destination, std::size_t to, const void* source, std::size_t from,
                       cudaMemcpyKind kind);

/// The same for one side: what [address, address + size) is agrees with what `kind` says of it.
bool side_agrees(const void* address, std::size_t size, cudaMemcpyKind kind, bool is_destination);

/// Says to the checks why it does not.
void explain_side(const void* address, std::size_t size, cudaMemcpyKind kind, bool is_destination);

/// Checks a three-dimensional copy and describes it as an operation.
cudaError_t make_copy(const cudaMemcpy3DParms& copy, Operation* operation);

}  // namespace simt
