#pragma once
// The judge's large arrays (judge/large_blocks.cpp) take no part in what a child of this process has.

#include <cstddef>

namespace rungs::judge {

/// Addresses of this process that no child inherits, in bytes.
std::size_t addresses_kept_from_children();

}  // namespace rungs::judge
