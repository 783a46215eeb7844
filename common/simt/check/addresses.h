/// @file
/// Whose memory an address is, and what is said of one that is nobody's.
#pragma once

#include "check/state.h"
#include "runtime/worker.h"

namespace simt::check {

/// "read", "write" or "atomic".
Act act_of(AccessKind kind);
/// Puts a bad access on record and ends the current lane. `guessed`: as in Report.
[[gnu::noinline, gnu::cold, noreturn]] void bad(Kind what, std::uintptr_t address, std::size_t size,
                                                AccessKind kind, const Array* array, const void* pc,
                                                bool guessed = false, std::int64_t meant = 0);
/// The array from whose begin an unsigned index of 32 bits has gone below 0, by elements of `size`: 2^32
/// elements further. A guess.
Array* below_zero(std::uintptr_t address, std::size_t size);
/// Element `index` of the array was meant, and an index of 32 bits has overflowed. Without an array: nothing
/// looks like that.
struct Wrapped {
    const Array* array = nullptr;
    std::int64_t index = 0;
};
Wrapped wrapped(std::uintptr_t address, std::size_t size);
/// The array of the heap nearest to an address that is in none.
const Array* nearest(std::uintptr_t address);
/// A shared array that ends before the address, or the first one.
const Array* nearest_shared(std::uintptr_t address);
inline bool lies_on(const Fiber& fiber, std::uintptr_t address) {
    return address - reinterpret_cast<std::uintptr_t>(fiber.bottom) < fiber.size;
}
/// A thread-local variable of the runtime's or of the C library's: threadIdx is one.
SIMT_DEVICE bool is_thread_local(std::uintptr_t address) {
    const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    return address - (thread - 16384) < 16384 + 4096;
}
/// What only the current lane accesses: its locals and parameters, and thread-local variables.
SIMT_DEVICE bool is_own(std::uintptr_t address) {
    if (is_thread_local(address)) return true;
    const Fiber* own = execution.lane ? execution.lane->fiber : this_worker->first();
    return own && lies_on(*own, address);
}
/// An address that is neither the heap's nor shared nor is_own(): nullptr if the access does not matter.
/// `before`: the array that the place in the code went to before in this launch, or nullptr.
Array* elsewhere(std::uintptr_t address, std::size_t size, AccessKind kind, const Array* before,
                 const void* pc);

}  // namespace simt::check
