/// @file
/// What a basic block computes, read from the CPU's machine code.
#pragma once

#include "simt/inspect/counters.h"

namespace simt::check {

/// What the code from `pc` on computes until the next basic block begins. `pc`: the return address of the
/// callback that every basic block begins with. Only for x86-64; elsewhere, and at an instruction that it
/// does not know, what was found until there.
Arithmetic arithmetic_at(const void* pc);

/// The same for any code: stops after `bytes` bytes, and at a call of `begin_of_block`.
Arithmetic arithmetic_of(const unsigned char* code, std::size_t bytes, const void* begin_of_block);

}  // namespace simt::check
