/// @file
/// What a finding can be, and what to do about it: one table for check mode and for graders that read the
/// reports of another tool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace simt::check {

enum class Kind : std::uint8_t {
    // memcheck
    out_of_bounds,
    misaligned,
    null_pointer,
    host_memory,
    device_memory_on_host,
    use_after_free,
    local_memory,
    constant_write,
    invalid_free,
    double_free,
    leak,
    crash,
    assertion,
    timeout,
    refused_launch,
    wide_shift,
    copy_direction,
    failed_call,
    // racecheck
    write_write,
    read_write,
    atomic_read,
    atomic_write,
    // initcheck
    uninitialised,
    unwritten_copy,
    // synccheck
    divergent_barrier,
    exited_threads,
    wrong_mask,
    inactive_lane,
    deadlock,
    livelock,
    failure,
};

/// How a finding came about, where that decides what to do about it.
enum class Cause : std::uint8_t {
    unknown,
    // of out_of_bounds
    wrapped_index,
    index_below_zero,
    // of crash
    stack_overflow,
    host_function,
    division,
    // of refused_launch
    no_blocks,
    no_threads,
    // of failure
    shared_memory,
};

struct KindWords {
    const char* name;    ///< as Finding::kind has it
    const char* advice;  ///< what to do about it where no more is known
};

/// By kind.
inline constexpr std::array<KindWords, static_cast<std::size_t>(Kind::failure) + 1> kind_words = {{
    {"out-of-bounds", "Compare the index with the size before the access."},
    {"misaligned",
     "Vector types need addresses that are multiples of their size: start at an aligned element."},
    {"null-pointer", "Check that the allocation succeeded and that the pointer was passed to the kernel."},
    {"host-memory",
     "Copy the data to device memory first, or allocate it with cudaMallocManaged or cudaMallocHost."},
    {"device-memory-on-host", "Copy with cudaMemcpy, or allocate with cudaMallocManaged."},
    {"use-after-free", "Free the array after the last kernel that uses it."},
    {"local-memory",
     "Local variables belong to their thread: pass values through shared memory or a shuffle."},
    {"constant-write", "Write constants from the host with cudaMemcpyToSymbol, or use __device__."},
    {"invalid-free", "Free the pointer that the allocation returned, not one into the array."},
    {"double-free", "Give every array one owner."},
    {"leak", "Free it with cudaFree, or let an object own it."},
    {"crash", "A GPU would end the kernel here, and every later call would fail."},
    {"assertion", "What the assertion says does not hold for this thread: correct that, or the assertion."},
    {"timeout",
     "Look at the loop there: an end that is never reached, or a flag that nobody sets; or give "
     "it less work."},
    {"refused-launch",
     "Launch a grid and blocks that a device takes; without cudaGetLastError() after it the error "
     "goes unseen."},
    {"wide-shift",
     "C++ leaves it undefined: compare the amount with the number of bits, or mask it with `& 31`."},
    {"copy-direction",
     "Name the direction that it is: cudaMemcpyDeviceToDevice, HostToDevice or DeviceToHost; or "
     "cudaMemcpyDefault, which asks the pointers."},
    {"failed-call", "Correct the call, and look at what every call of the runtime returns."},
    {"write-write", "Let one thread write, give each thread its own element, or use an atomic."},
    {"read-write",
     "Put __syncthreads() between the two; or, if they are not meant to meet, correct the index, or let one "
     "thread do both."},
    {"atomic-read",
     "Put __syncthreads() between the two, or let one thread do both. If they are meant to meet, read by an "
     "atomic or a volatile access, too."},
    {"atomic-write",
     "Put __syncthreads() between the two, or let one thread do both. If they are meant to meet, store by an "
     "atomic, too."},
    {"uninitialised", "Copy, clear or write the array before it is read."},
    {"unwritten-copy",
     "Launch a thread for every element, (n + threads - 1) / threads blocks of them, and let none of them "
     "leave one out; or copy only what is there."},
    {"divergent-barrier",
     "Every thread of the block has to come to the same __syncthreads(): move it out of the branch."},
    {"exited-threads",
     "Is there a return before the barrier, or before the call of the function that has it? Every thread of "
     "the block has to reach the barrier: move it out of the branch, and let the threads without work "
     "skip the work, not the barrier."},
    {"wrong-mask",
     "A mask names exactly the lanes that make the call; compute it with __ballot_sync before the branch."},
    {"inactive-lane", "Let all lanes of the mask make the call, or read only from lanes that do."},
    {"deadlock", "Every thread that a barrier or a mask names has to come to it."},
    {"livelock",
     "Somebody has to store what they wait for: a thread that runs at the same time, with an atomic or a "
     "volatile store."},
    {"failure", "A GPU, or its compiler, would refuse this kernel."},
}};

/// What to do about it, by cause; nothing for an unknown one.
inline constexpr std::array<const char*, static_cast<std::size_t>(Cause::shared_memory) + 1> cause_advice = {{
    nullptr,
    "Compute the index in 64 bits: make one factor a std::size_t or a long long before the product.",
    "Below 0 an unsigned index begins again at 4294967295: compare before you subtract, or compute with int.",
    "Local arrays and recursion have to fit a thread's stack: "
    "use smaller arrays, shared or global memory, or a loop.",
    "A function has another address on the host: take it in device code, into a __device__ variable, and "
    "fetch it with cudaMemcpyFromSymbol; or make the function a template's argument.",
    "Guard the divisor; a GPU gives a meaningless number there and goes on.",
    "Round the number of blocks up, and launch nothing where there are no elements.",
    "Round the number of threads up, to a warp at least, or launch nothing where there is nothing to do.",
    "Use smaller arrays, or dynamic shared memory: extern __shared__, its size as the launch's third "
    "argument, above 48 KB also cudaFuncSetAttribute.",
}};

/// The name of a kind, as Finding::kind has it.
/// @param kind of a finding
constexpr const char* name_of(Kind kind) { return kind_words[static_cast<std::size_t>(kind)].name; }
/// What to do about a finding of which only the kind is known.
/// @param kind of the finding
constexpr const char* advice_for(Kind kind) { return kind_words[static_cast<std::size_t>(kind)].advice; }
/// What to do about a finding whose cause is known.
/// @param cause of the finding, not `unknown`
constexpr const char* advice_for(Cause cause) { return cause_advice[static_cast<std::size_t>(cause)]; }

}  // namespace simt::check
