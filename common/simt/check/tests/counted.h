/// @file
/// The launches of counters_test.cpp.
#pragma once

#include <cstddef>

namespace counted {

/// One warp, or as many as the name says; what each does stands beside its kernel.
void copy_strided(int stride, int shift);
void transpose(bool padded);

}  // namespace counted
