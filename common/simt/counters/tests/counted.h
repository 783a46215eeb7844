/// @file
/// The launches of counters_test.cpp, by name.
#pragma once

namespace counted {

/// Makes the launch `name`, with `n` for what the kernel takes as its parameter.
void run(const char* name, int n = 0);

}  // namespace counted
