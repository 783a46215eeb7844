/// @file
/// How lanes are matched into the instructions of their warp.
///
/// **Recording.** What a lane does between two barriers of its block is a sequence of steps: basic blocks it
/// enters, accesses it makes, functions it enters and leaves. The lanes of a warp mostly do the same, so a
/// warp keeps one tree of sequences: a lane walks along what others have recorded as long as it does the
/// same, and starts a branch where it does not. An step holds the lanes that came by, and their addresses, as
/// a line
/// (`base + lane * stride`) if they lie on one. Recording costs a comparison then, and memory for one lane.
///
/// **Matching.** At the next barrier, or when all lanes of the warp have exited, the steps become the warp's
/// instructions. Without branches each is one. With branches, steps of different branches are one
/// instruction if their lanes came to it in the same call, by the same iterations of the loops around it.
/// Loops are found in the graph of all transitions between basic blocks that the launch has made: an edge
/// into a block that dominates the edge's start closes a loop (A. V. Aho et al., Compilers, 2nd ed., 9.6).
/// This is the reconvergence that compilers aim at: lanes wait for each other at the end of a branch and at
/// the end of a loop, and nowhere else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/block.h"
#include "simt/inspect/counters.h"
#include "simt/lane.h"

namespace simt {
struct Launch;
}

namespace simt::check {

/// What an step is: the upper bits of its key. The lower ones are a return address in the code.
/// `fetch_N`: of a texture that serves N lanes at a time.
enum class StepKind : std::uint64_t { block, read, write, atomic, fetch_4, fetch_8, entry, exit };
constexpr unsigned step_kind_shift = 56;

inline std::uint64_t step_key(StepKind kind, const void* pc) {
    return static_cast<std::uint64_t>(kind) << step_kind_shift | reinterpret_cast<std::uintptr_t>(pc);
}

struct Step {
    std::uint64_t key;  ///< 0: nobody has been here yet
    std::uint64_t base;
    std::int32_t stride;  ///< `scattered`: `base` says where the addresses stand
    std::uint32_t lanes;  ///< mask
    std::uint32_t other;  ///< the next step that came in this one's place, in a branch of its own; 0: none
    std::uint32_t information;  ///< of accesses: bytes a lane; once flushed: the site

    static constexpr std::int32_t scattered = INT32_MIN;
    static constexpr std::uint64_t scattered_mark = std::uint64_t{1} << 63;
};
static_assert(sizeof(Step) == 32, "two a cache line");

using Addresses = std::array<std::uint64_t, 32>;

/// What the lanes of one warp have done since the last barrier. Branches stand one after the other, each
/// ended by an step without a key.
struct WarpTrace {
    std::vector<Step> steps = std::vector<Step>(16);  ///< `size` of them, and one without a key
    std::uint32_t size = 0;
    bool branched = false;
    bool full = false;
    unsigned exited = 0;  ///< lanes
    std::vector<Addresses> scattered;

    /// The current lane's address is not where the line says.
    void bend(Step& step, unsigned lane, std::uint64_t address);
    void clear();
};

/// The current lane in its block.
inline unsigned current_flat() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

struct BlockTrace {
    Step* cursors[max_block_lanes];  ///< where each lane stands in its warp's steps
    WarpTrace warps[max_block_lanes / warp_lanes];
    std::uint64_t number = 0;  ///< of the block, linear
    std::uint64_t barriers = 0;
    bool in_a_row = false;  ///< threadIdx.x is the lane

    unsigned lane() const { return in_a_row ? threadIdx.x : current_flat(); }
    /// Forgets what warp `w` has done.
    void restart(unsigned w);
};

/// Of the block whose lanes run on this thread; nullptr if nobody counts, or the checks are at work.
extern SIMT_THREAD_LOCAL BlockTrace* tracing;

/// Moves the lane's cursor to where step `key` is, or makes it.
void leave_path(BlockTrace& trace, unsigned flat, std::uint64_t key);
/// trace_step() where nobody has gone the same way. A call of its own, with which the caller ends: else every
/// step would save registers for it.
void trace_other_step(BlockTrace& trace, unsigned flat, std::uint64_t key);

/// The current lane enters a basic block or a function, or leaves one.
SIMT_DEVICE void trace_step(BlockTrace& trace, unsigned flat, std::uint64_t key) {
    Step* const step = trace.cursors[flat];
    if (__builtin_expect(step->key != key, 0)) return trace_other_step(trace, flat, key);
    step->lanes |= 1u << flat % warp_lanes;
    trace.cursors[flat] = step + 1;
}

/// trace_access() where nobody has gone the same way, or accessed what lies on this line.
void trace_other_access(BlockTrace& trace, unsigned flat, std::uint64_t key, std::uint64_t address,
                        std::uint32_t width);

/// It accesses `width` bytes at `address`.
SIMT_DEVICE void trace_access(BlockTrace& trace, unsigned flat, std::uint64_t key, std::uint64_t address,
                              std::uint32_t width) {
    const unsigned lane = flat % warp_lanes;
    Step* const step = trace.cursors[flat];
    if (__builtin_expect(
            step->key != key ||
                step->base + static_cast<std::uint64_t>(std::int64_t{step->stride} * lane) != address,
            0))
        return trace_other_access(trace, flat, key, address, width);
    step->lanes |= 1u << lane;
    trace.cursors[flat] = step + 1;
}

// ---- From steps to counts (matching.cpp) -----------------------------------------------------------------

/// A site whose place is not looked up yet.
struct RawSite : MemoryCounters {
    const void* pc = nullptr;
    std::string array;
    Space space = Space::global;
    Access access = Access::read;
    unsigned width = 0;
    unsigned lanes_together = warp_lanes;  ///< that one request covers
};

/// A launch, counted.
struct RawLaunch {
    LaunchCounters counters;  ///< without its sites
    std::vector<RawSite> sites;
};

/// Adds an entry to `launches` for every launch from now on; nullptr: no more.
void count_into(std::vector<RawLaunch>* launches);

/// Where copies, fills and waits are counted; nullptr: nowhere.
extern HostCounters* host_counters;
/// An operation of a stream or of a graph, by its name in the API.
void count_operation(const char* name);
void count_wait();
/// What the running operation, if it is one, copies or fills; `to_host`: to where the host can read it.
void count_bytes(std::size_t bytes, bool to_host);

/// What the runtime tells; see observe.h. Nothing happens unless somebody counts.
namespace counted {
void launch_begins(const Launch& launch);
void launch_ends();
void block_begins(BlockState& block, std::uint64_t number);
/// All lanes of the running block stand at a barrier or have exited.
void barrier(Block& block);
void grid_barrier();
void warp_operation(unsigned operation);
/// The current lane has exited.
void exit();
}  // namespace counted

}  // namespace simt::check
