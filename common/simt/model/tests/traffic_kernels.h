/// @file
/// Launches that model_test.cpp watches; see traffic.cu.
#pragma once

namespace traffic {

/// Copies n floats, twice, by two launches.
void copy_twice(int n);
/// Each of `blocks` blocks of 64 threads reads n floats `rounds` times and writes 64.
void read_by_blocks(int blocks, int n, int rounds);
/// Copies n floats on the device by a kernel and by cudaMemcpy(), and 100 of them to the host.
void copy_back(int n);
/// 32 threads add two loads.
void load_two();
/// A tree of 6 barriers in each block of 64 threads.
void reduce(int blocks);
/// 64 threads load from shared memory in a loop.
void loop_over_shared(int rounds);
/// 1024 threads count in `words` words, a power of two up to 256.
void count_in(unsigned words);

}  // namespace traffic
