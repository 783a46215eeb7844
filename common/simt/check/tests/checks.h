/// @file
/// Launches that check_test.cpp watches; see checks.cu.
#pragma once

#include <cstddef>
#include <vector>

namespace checks {

/// c = a + b over n elements, in blocks of 32.
void add_vectors(int n);
/// Writes the first elements of n floats; how many bytes nobody wrote.
std::size_t unwritten_tail(int written, int n);
/// What 32 threads wrote, the fourth of which was stopped: -1 where nothing came.
std::vector<int> survivors();
/// Copies 32 float4 by way of shared memory.
void vectors();
/// Two threads write one word.
void race();
/// Each thread of a block reads its neighbour's value, without a barrier.
void neighbour(unsigned threads);

}  // namespace checks
