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
/// Reads four float4 of one object in shared memory, the third of which nothing has written.
void unwritten_row();
/// Copies 32 float4 by way of shared memory.
void vectors();
/// The library reads elements 0 to 64 of 64 for a kernel. The line of the call.
unsigned library_past_end();
/// Element by element, what each lane of a tile gets of vectors by shuffles and through an atomic; 0
/// where it is right.
int shuffled_vectors();
/// What `__CUDA_ARCH__` is in a function for host and device, called by a kernel and here; 1:
/// it is not defined.
std::vector<int> sides();
/// Blocks leave a 1 each, and the one with the last ticket adds them up; it may wait for those that are not
/// there yet. One call.
int collected(unsigned blocks, bool waits);
/// How a block learns that another's number is there.
enum class Poll { update, exchange, load, volatile_load, several, vote };
/// How many of `blocks` blocks got a semaphore of one permit, which they try for by taking it
/// and giving it back.
int permits(unsigned blocks);
/// What the last of `blocks` blocks reads of a number that the first has left; tickets say who is first.
int handed_over(unsigned blocks, Poll how);
/// Two threads write one word.
void race();
/// Two functions of stores.cuh store outside their array, one of them inlined. The lines of the calls.
std::vector<unsigned> stores_of_header();
/// Each thread of a block reads its neighbour's value, without a barrier.
void neighbour(unsigned threads);
/// Threads read their neighbour's word and write their own, in rounds: the barrier between the two is there,
/// and the one after the write is missing.
void rounds(unsigned threads);
/// Two warps add to one word without an atomic; `the_same`: each adds 0.
void adds_up(bool the_same);
/// Each of 64 threads writes what its neighbour holds, on one line.
void shifts_in_place(unsigned blocks);
/// The same by a warp, in shared memory.
void shifts_in_place_of_warp();
/// A thread reads so many bytes before an array that was freed, by an index of another array.
void comes_beside_freed(std::ptrdiff_t bytes_before_freed);
/// Thread 0 reads element i - 1 of an unsigned i, of shared or of global memory.
void goes_below_zero(bool shared);
/// Reads byte row * width of an array of `bytes`, with a product of `width` bits. False: there
/// is no such memory.
bool index_of(unsigned width, std::size_t bytes);
/// Reads one byte of an array of `bytes`, which `cleared` says is 0. False: there is no such memory.
bool touches_little(std::size_t bytes, bool cleared);
/// Two arrays that are both extern __shared__, in a race; of one name in two functions, if `same`.
void dynamic_arrays(bool same);
/// Copies `copied` of 64 ints, and reads all.
void copies_a_part(int copied);
/// A recursion without end. The line where it calls itself.
unsigned endless_recursion();
/// Calls a device function by an address that the host took, or device code. The line of the call.
unsigned calls_by_address(bool of_host);
/// A lambda in a member function names a member. Its line.
unsigned captures_this();
/// Thread 0 waits at a barrier of its own.
void own_barrier();
/// 0 + 1 + ... + 7, which eight lanes of so many threads add up by shuffles with this mask.
int eight_lanes(unsigned threads, unsigned mask);
/// All but n threads of a block return before its barrier.
void early_return(unsigned threads, unsigned n);

/// The lines of a kernel's two branches.
struct Branches {
    unsigned taken, other;
};
/// A thread takes the first for a number that is not negative, else the other.
Branches branches(int number);

}  // namespace checks
