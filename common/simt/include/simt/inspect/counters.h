/// @file
/// What a launch asked of the hardware, counted in check mode: requests, sectors, wavefronts, barriers, lanes
/// active. The counts follow from the source and its inputs alone; they depend neither on the machine nor on
/// the order in which lanes, warps and blocks ran. Link `simt_check`, compile the kernels with
/// simt_add_checked_kernels(), and let a Counting live while they run:
///
///     simt::check::Counting counting;
///     kernel<<<grid, block>>>(in, out, n);
///     for (const auto& launch : counting.launches()) std::fputs(to_text(launch).c_str(), stdout);
///
/// **Terms** are Nsight Compute's. A *request* is one memory instruction of a warp, whatever its lanes
/// access. A *sector* is an aligned piece of 32 bytes of global memory; a *wavefront* is one pass through
/// shared memory's 32 banks of 4 bytes. The names that `ncu` has for metrics are next to the
/// fields, `OP` being `ld`, `st`, or `atom` and `red` together.
///
/// **What is counted** is the kernel as written: the lanes of a warp execute an instruction together if they
/// come to it by the same loop iterations, the reconvergence that compilers aim at. Registers, spills,
/// instructions that access no memory, and what the caches do with the sectors are not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simt/inspect/check.h"

namespace simt::check {

/// Sums over requests. Counts are of warps' instructions, not of threads, unless they say lanes.
struct MemoryCounters {
    /// Global: `l1tex__t_requests_pipe_lsu_mem_global_op_OP.sum`. Shared:
    /// `smsp__inst_executed_op_shared_OP.sum`. Texture: `l1tex__t_requests_pipe_tex_mem_texture.sum`, one for
    /// every eight lanes of linear memory, every four of all else.
    std::uint64_t requests = 0;
    std::uint64_t lanes = 0;  ///< that took part
    /// Global and texture: distinct 32-byte sectors of each request; of atomics, each as often as lanes meet
    /// at one of its words: `l1tex__t_sectors_pipe_lsu_mem_global_op_OP.sum`.
    std::uint64_t sectors = 0;
    /// Global: distinct 128-byte lines of each request; L1 looks up one a cycle.
    std::uint64_t lines = 0;
    /// The fewest sectors that hold as many distinct bytes; sectors / ideal_sectors says how scattered the
    /// lanes' addresses are.
    std::uint64_t ideal_sectors = 0;
    /// Shared: `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_OP.sum`.
    std::uint64_t wavefronts = 0;
    std::uint64_t ideal_wavefronts = 0;  ///< as if no two lanes had met in a bank
    std::uint64_t requested_bytes = 0;   ///< lanes times width
    std::uint64_t useful_bytes = 0;      ///< distinct bytes of each request
    /// Atomics: distinct addresses of each request, and the most lanes that met at one of them: the steps
    /// that cannot overlap.
    std::uint64_t addresses = 0, serial_steps = 0;

    MemoryCounters& operator+=(const MemoryCounters& other);
    MemoryCounters operator*(std::uint64_t times) const;

    /// Bytes between L1 and L2 if nothing hits L1.
    std::uint64_t moved_bytes() const { return sectors * 32; }
    /// `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_OP.sum`
    std::uint64_t bank_conflicts() const { return wavefronts - ideal_wavefronts; }
    /// `l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_OP.ratio`; 0 without requests.
    double sectors_per_request() const { return ratio(sectors, requests); }
    double wavefronts_per_request() const { return ratio(wavefronts, requests); }
    double lanes_per_request() const { return ratio(lanes, requests); }
    /// Of the bytes moved: 1 is perfect.
    double useful_share() const { return ratio(useful_bytes, moved_bytes()); }

  private:
    static double ratio(std::uint64_t a, std::uint64_t b) {
        return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
    }
};

/// Requests of one line of the source to one array, by one kind of access of one width.
struct SiteCounters : MemoryCounters {
    Place place;
    std::string array;  ///< as the program names it
    Space space = Space::global;
    Access access = Access::read;
    unsigned width = 0;  ///< bytes a lane
};

/// What a launch touched of one array, at least once. This is what no cache can save: with everything cold,
/// `dram__bytes_read.sum` is at least 32 times `read_sectors` as long as the array fits no cache.
struct ArrayCounters {
    std::string array;
    Space space = Space::global;
    bool on_host = false;   ///< the host can read it, too: pinned and managed memory
    std::size_t bytes = 0;  ///< of the whole array
    std::uint64_t read_sectors = 0, written_sectors = 0, touched_sectors = 0;
};

/// Instructions of warps that compute, as the CPU's compiler made them: an estimate of the GPU's, which two
/// compilers make differently. What waits for memory, and what a GPU does without (checks, the stack), is
/// not among them.
struct Arithmetic {
    std::uint64_t floats = 0, doubles = 0;  ///< sums, products, comparisons, conversions
    std::uint64_t fusable = 0;  ///< products of these that a sum in the same basic block can take along
    std::uint64_t special = 0;  ///< divisions and roots
    std::uint64_t divisions = 0, wide_divisions = 0;  ///< of integers: up to 32 bits, 64 bits
    std::uint64_t integers = 0;                       ///< sums, products, shifts, comparisons, addresses
    std::uint64_t branches = 0;
    Arithmetic& operator+=(const Arithmetic& other);
};

/// One launch.
struct LaunchCounters {
    std::string kernel;
    dim3 grid, block;                ///< `launch__grid_size`, `launch__block_size`
    std::size_t static_shared = 0;   ///< bytes: `launch__shared_mem_per_block_static`
    std::size_t dynamic_shared = 0;  ///< bytes: `launch__shared_mem_per_block_dynamic`
    std::uint64_t blocks = 0;        ///< that ran
    std::uint64_t warps = 0;         ///< `smsp__warps_launched.sum`
    std::uint64_t threads = 0;
    bool cooperative = false;

    std::uint64_t barriers = 0;       ///< completed `__syncthreads()` and the like, of all blocks
    std::uint64_t max_barriers = 0;   ///< of one block
    std::uint64_t grid_barriers = 0;  ///< `grid.sync()`: of the grid
    std::uint64_t warp_syncs = 0;     ///< `__syncwarp()`, by warp
    std::uint64_t shuffles = 0;       ///< by warp
    std::uint64_t votes = 0;          ///< votes, matches, reductions, `__activemask()`, by warp

    /// Basic blocks of the machine code that warps went through, and lanes in them. Where the compiler turns
    /// a branch into a select there is none: compare only what one compiler made.
    std::uint64_t basic_blocks = 0, active_lanes = 0;
    /// The longest way of one warp, in basic blocks, and of one warp's memory requests.
    std::uint64_t max_warp_basic_blocks = 0, max_warp_requests = 0;
    Arithmetic arithmetic;  ///< in these basic blocks; none but on x86-64
    /// Lanes active, as a share of 32: near `smsp__thread_inst_executed_per_inst_executed.ratio` / 32.
    double simt_efficiency() const {
        return basic_blocks == 0
                   ? 1
                   : static_cast<double>(active_lanes) / (32 * static_cast<double>(basic_blocks));
    }

    /// By file and line, then array; empty if the launch accessed nothing.
    std::vector<SiteCounters> sites;
    std::vector<ArrayCounters> arrays;  ///< of global memory
    /// Sums over sites.
    MemoryCounters total(Space space, Access access) const;
    MemoryCounters total(Space space) const;

    /// False if something was too much to follow: a thread that made millions of accesses between two
    /// synchronisations. Counts are then too low.
    bool exact = true;
};

/// What the host asked for between start() and stop().
struct HostCounters {
    std::uint64_t launches = 0;
    std::uint64_t copies = 0, copied_bytes = 0;
    std::uint64_t bytes_to_host = 0;  ///< of the device's memory, copied to where the host can read them
    std::uint64_t fills = 0, filled_bytes = 0;
    std::uint64_t waits = 0;  ///< for a stream, an event or the device, also in a cudaMemcpy()
};

/// Counts while it lives, or from start() to stop(). At most one at a time. Allocate nothing on the device
/// meanwhile that needs to be free of counting: everything that runs is counted.
class Counting {
  public:
    Counting();  ///< starts
    ~Counting();
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    void stop();   ///< keeps what was counted
    void start();  ///< goes on
    void clear();  ///< forgets it

    /// One entry a launch, in order.
    const std::vector<LaunchCounters>& launches();
    const HostCounters& host() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// All launches' sites, merged by line, array, kind and width; most expensive first: by sectors of global and
/// wavefronts of shared memory.
std::vector<SiteCounters> merge_sites(const std::vector<LaunchCounters>& launches);

/// A table for people.
std::string to_text(const LaunchCounters& launch);
/// A JSON array of objects, one a launch. Names as above.
std::string to_json(const std::vector<LaunchCounters>& launches);

const char* to_string(Space space);
const char* to_string(Access access);

/// The rule by which shared memory serves one request: lanes in groups of 32 (up to 4 bytes each), 16 (8) or
/// 8 (16); a group takes as many wavefronts as its busiest bank has distinct words. In a load, two
/// neighbouring groups are one where every active lane i has the address of lane i^1, or every one that of
/// lane i^2, as a broadcast has. Measured: counters/tests/golden.
struct Wavefronts {
    unsigned count, ideal;
};
/// `offsets`: of each lane, bytes from the start of shared memory; `lanes`: mask of those that take part.
Wavefronts shared_wavefronts(unsigned width, std::uint32_t lanes, const std::uint32_t offsets[32],
                             bool load = true);

}  // namespace simt::check
