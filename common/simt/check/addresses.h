/// @file
/// Whose memory an address is, and what is said of one that is nobody's.
#pragma once

#include "check/state.h"

namespace simt::check {

/// "read", "write" or "atomic".
const char* kind_name(AccessKind kind);
/// Puts a bad access on record and ends the current lane. `guessed`: as in Report.
[[gnu::noinline, gnu::cold, noreturn]] void bad(Kind what, std::uintptr_t address, std::size_t size,
                                                AccessKind kind, const Array* array, const void* pc,
                                                bool guessed = false);
/// The array of the heap nearest to an address that is in none.
const Array* nearest(std::uintptr_t address);
/// A shared array that ends before the address, or the first one.
const Array* nearest_shared(std::uintptr_t address);
/// An address that is neither the heap's nor shared: nullptr if the access does not matter.
Array* elsewhere(std::uintptr_t address, std::size_t size, AccessKind kind, const void* pc);

}  // namespace simt::check
