/// @file
/// What the checks know of the host's own calls and reads, where they look at them (watch_host()).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "check/state.h"

namespace simt::check {

// ---- Failed calls (calls.cpp) -----------------------------------------------------------------------------

/// The call that this thread is making fails, and another finding says why.
void call_is_recorded();
/// Puts the failed calls on record that nobody has asked about.
void record_unread_calls();
void forget_unread_calls();

// ---- What the host has of memory that nothing has written (garbage.cpp) -----------------------------------

/// Where on the host such bytes lie: between these, if anywhere.
struct GarbageBounds {
    std::atomic<std::uintptr_t> begin{0}, size{0};
    bool holds(std::uintptr_t address) const {
        return address - begin.load(std::memory_order_relaxed) < size.load(std::memory_order_relaxed);
    }
};
extern GarbageBounds garbage;

/// An access of the host's there has to be looked at.
inline bool concerns_host(std::uintptr_t address) {
    return is_device_address(address) || garbage.holds(address);
}

/// The running operation copies `size` bytes from device memory to where the host can read them.
void copied_to_host(std::uintptr_t to, std::uintptr_t from, std::size_t size);
/// The host reads or writes [address, address + size) of its own memory, some of which may be garbage.
void host_touches(std::uintptr_t address, std::size_t size, bool writes, const void* pc);
/// The host copies [from, from + size) to other memory of its own.
void host_moves(std::uintptr_t to, std::uintptr_t from, std::size_t size);
/// The host frees the block of the C library's heap that begins there.
void host_frees(const void* block);
/// The host reads managed memory.
void host_reads_managed(const Array& array, std::uintptr_t address, std::size_t size, const void* pc);
/// Remembers a launch that begins, so that a copy's finding can name the kernel that wrote a byte.
void note_launch(const Launch& launch);
/// A launch was refused: what it would have written is missing.
void note_refusal();
/// Forgets them, before segments are numbered from 1 again.
void forget_launches();
/// Puts the copies on record.
void record_unwritten_copies();
void forget_unwritten_copies();

}  // namespace simt::check
