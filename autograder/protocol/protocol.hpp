#pragma once
// What judge and worker say to each other. Arguments lie in shared memory; two pipes carry a word a step.
//
//     judge                                   worker (untrusted)
//     writes Request and contents to `in`,
//     fills `out` with poison
//     go: Word{sequence, steps} ──────────▶   prepare: contents to device memory
//                                             run: the rung, then wait for the device
//                                             fetch: device memory to `out`
//     copies `out` away, then stops  ◀──────  done: Word{sequence, steps}
//     the clock, then verifies
//
// `in` is sealed: the worker cannot write, shrink or grow it. `out` cannot be resized. The worker knows no
// seed, no expected value and no verdict; what it says in Reply may only lower what the judge has seen.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace rungs::protocol {

inline constexpr std::uint64_t magic = 0x3130'7367'6e75'72ULL;  // "rungs01"
inline constexpr std::uint64_t ready_sequence = 0;              ///< of the word that a worker starts with

/// Descriptors a worker finds open, after the three standard ones.
enum Descriptor : int { in_memory = 3, out_memory = 4, go_pipe = 5, done_pipe = 6 };

/// `touch` does next to nothing on the device: what it costs is what any call costs at least. `report` hands
/// over what check mode found in the last `run`.
enum Step : std::uint32_t { prepare = 1, run = 2, fetch = 4, all_steps = 7, touch = 8, report = 16 };

/// What travels through the pipes.
struct Word {
    std::uint64_t sequence = 0;  ///< of the request; counts from 1
    std::uint32_t steps = 0;
    std::uint32_t reserved = 0;
};

/// Bytes around the elements of every buffer, there to show who writes past the ends.
inline constexpr std::size_t guard_bytes = 4096;
inline constexpr std::size_t alignment = 512;  ///< what textures want of a pointer on today's GPUs

/// One buffer: guard, misalignment, elements, guard.
struct Region {
    std::uint64_t in_offset = 0;     ///< in `in`: its whole initial content, guards included
    std::uint64_t out_offset = 0;    ///< in `out`: where its whole final content goes
    std::uint64_t bytes = 0;         ///< of the whole region
    std::uint64_t lead = 0;          ///< bytes before the first element
    std::uint64_t skip = 0;          ///< of these, the misalignment alone
    std::uint64_t elements = 0;      ///< bytes of the elements
    std::uint64_t shift = 0;         ///< where device memory begins to be used; moves buffers between calls
    std::uint64_t arena_offset = 0;  ///< of the whole region in the judge's device memory, where that is used
    char name[32] = {};              ///< of the array, for findings
};

struct Number {
    std::uint32_t is_integer = 1;
    std::uint32_t reserved = 0;
    std::int64_t integer = 0;
    double real = 0;
};

inline constexpr std::size_t max_regions = 256;
inline constexpr std::size_t max_numbers = 16;
inline constexpr std::size_t max_calls = 64;

/// At offset 0 of `in`. `calls` calls of one problem, each with its own regions: call i has
/// regions[i * (inputs + outputs)] and following, inputs first; all share the numbers.
struct Request {
    std::uint64_t magic = protocol::magic;
    std::uint64_t sequence = 0;
    char problem[64] = {};
    std::uint32_t calls = 1;
    std::uint32_t inputs = 0;
    std::uint32_t outputs = 0;
    std::uint32_t numbers = 0;
    std::uint32_t use_arena = 0;  ///< regions lie in the judge's device memory, and nothing is fetched
    std::uint32_t exact = 0;      ///< an array is an allocation, for tools that go by these
    std::uint64_t arena_bytes = 0;
    unsigned char arena_handle[64] = {};  ///< cudaIpcMemHandle_t
    // Of check mode alone:
    std::uint64_t order = 0;        ///< in which blocks, warps and lanes run
    std::uint32_t count = 0;        ///< whether to count requests, sectors and so on
    std::uint32_t refuse = 0;       ///< every launch, so that the launcher has to report it
    double launch_seconds = 0;      ///< that a launch may take; then it ends with a finding that has its line
    double l2_bytes = 0;            ///< of the GPU whose time is to be modelled
    std::uint64_t trace_block = 0;  ///< of this block and warp every access is reported, with `count`
    std::uint64_t trace_warp = 0;
    std::uint64_t report_offset = 0, report_bytes = 0;  ///< room for the report, in `out`
    std::uint64_t places_offset = 0, places_bytes = 0;  ///< addr2line's text for Reply::addresses, in `in`
    Number number[max_numbers];
    Region region[max_regions];
};

enum class Status : std::uint32_t { nothing, done, unknown_problem, exception, cuda_error, out_of_memory };

/// What has gone wrong during an order, noted at once: the process may end before it answers.
enum class Claim : std::uint32_t { nothing, deadlock, out_of_memory };

/// How a kernel was launched on the CPU backend. Two launches are of one kind if the same loop runs them,
/// they call the same kernel and their blocks have the same shape. Code is given as its distance from the
/// beginning of the program; 0: there is none.
struct LaunchKind {
    std::uint64_t loop =
        0;  ///< what runs the lanes: one for each place of a launch and its template arguments
    std::uint64_t kernel = 0;        ///< where it is known
    std::uint64_t pointers[2] = {};  ///< the first among the arguments that may be functions
    std::uint32_t block[3] = {};
    std::uint32_t shared_bits = 0;  ///< of the number of bytes of dynamic shared memory
    auto operator<=>(const LaunchKind&) const = default;
};
inline constexpr std::size_t max_launch_kinds = 96;  ///< new ones in a call; the references have 30

/// At offset 0 of `out`. Claims, not facts.
struct Reply {
    std::uint64_t sequence = 0;
    Status status = Status::nothing;
    Claim claim = Claim::nothing;
    std::uint64_t launches = 0;  ///< kernels launched so far in this process; see `counts_launches`
    std::uint64_t to_host = 0;   ///< bytes that the host may have seen of this call; known on a GPU
    std::uint32_t counts_launches = 0;
    std::uint32_t kinds = 0;  ///< of launches, new to this process; those beyond `kind` are never told
    LaunchKind kind[max_launch_kinds];
    double seconds = 0;  ///< of `run`, by the worker's own clock: information only
    /// Of `report`: the bytes of JSON, or, before that, of how many addresses in its code the worker
    /// has to know the lines. It starts no program that could tell: the judge looks them up and
    /// orders `report` again.
    std::uint64_t report_bytes = 0, addresses = 0;
    /// Of the memory that rungs::stream_scratch has given: bytes that are not 0 after `run`, and where the
    /// first of them lies. Known on the CPU backend.
    std::uint64_t scratch_left = 0, scratch_first = 0;
    char text[1024] = {};
    char report[2048] = {};  ///< what the CPU backend says of launches that failed
};

inline constexpr std::size_t request_bytes = 32768;  ///< contents begin here in `in`
inline constexpr std::size_t reply_bytes = 8192;     ///< and here in `out`
static_assert(sizeof(Request) <= request_bytes && sizeof(Reply) <= reply_bytes);

}  // namespace rungs::protocol
