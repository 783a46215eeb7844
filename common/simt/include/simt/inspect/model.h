/// @file
/// Modelled time: how long a named GPU would take for what check mode has counted. A small roofline model:
/// each launch costs its start and the slowest of a few rates, whose constants were measured once on that GPU
/// and are in a data file. It sees no clock, so the same program has the same modelled
/// time on every machine.
///
/// In the program, in check mode (simt/inspect/profile.h):
///
///     simt::check::Counting counting;
///     simt::model::Traffic traffic;
///     run();
///     const auto call = simt::model::profile(counting, traffic);
///
/// and there or elsewhere, with the library `simt_model`:
///
///     const auto machine = simt::model::read_machine("model/h200.toml");
///     const double seconds = simt::model::predict(machine, call).seconds;
///
/// The formulas, and how far they can be trusted: docs/model.md.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

namespace simt::model {

/// A GPU's constants, in seconds, bytes, cycles and operations. Where each comes from is said beside it in
/// the data file.
struct Machine {
    std::string name;
    int multiprocessors = 0;
    double clock = 0;  ///< cycles per second, under load

    double launch = 0;       ///< seconds that a kernel which fills the GPU adds to a stream of kernels
    double fill = 0;         ///< seconds that a cudaMemsetAsync() of a few bytes adds
    double copy = 0;         ///< seconds that a cudaMemcpyAsync() of a few bytes adds
    double wait = 0;         ///< seconds that a stream idles because the host waited for it
    double host_launch = 0;  ///< seconds that the host needs for a launch
    double blocks = 0;       ///< blocks started per second

    double dram_read = 0;              ///< bytes per second, reading alone
    double dram_copy = 0;              ///< bytes per second, as many written as read
    double l2_read = 0, l2_write = 0;  ///< bytes per second between L2 and the multiprocessors
    double l2_bytes = 0;               ///< of data that stay in L2 while as much again passes
    double l1_bytes = 0;               ///< of a multiprocessor, together with shared memory

    double dram_latency = 0, l2_latency = 0, l1_latency = 0;  ///< cycles from a load to its use
    double shared_latency = 0, shuffle_latency = 0;           ///< cycles
    double instruction_latency = 0;  ///< cycles between two instructions of a warp that need each other
    double barrier = 0;              ///< cycles of a __syncthreads()

    double issue = 0;             ///< warp instructions a cycle and multiprocessor
    double issue_double = 0;      ///< of these, arithmetic of doubles
    double issue_special = 0;     ///< of these, reciprocals and roots
    double l1_request = 0;        ///< cycles of a multiprocessor for a coalesced request to global memory
    double l1_line = 0;           ///< cycles for each 128-byte line of it, if those are more
    double shared_wavefront = 0;  ///< cycles
    double shuffle = 0;           ///< cycles

    double atomic_same = 0;    ///< atomics on one word, by all threads together, a second
    double atomic_spread = 0;  ///< atomics on different words, a second

    double grid_barrier = 0;  ///< seconds of a grid.sync()
    double overlap = 0;       ///< how sharply the slowest rate decides: the exponent of the norm
};

/// A broken data file: what() names file, line and key.
class MachineError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads a machine's data file, such as model/h200.toml. Every key must be there, and no other.
/// @throws MachineError
Machine read_machine(const std::filesystem::path& file);

/// What the model needs to know of one launch. Plain numbers: they can be written down and sent elsewhere.
struct LaunchProfile {
    std::string kernel;
    double blocks = 0, threads = 0;  ///< of the grid; of a block
    double shared_bytes = 0;         ///< of a block
    double grid_barriers = 0;

    double instructions = 0;  ///< of warps, estimated
    double doubles = 0;       ///< of these, arithmetic of doubles
    double special = 0;       ///< of these, divisions and roots
    double requests = 0;      ///< of warps to global memory, and textures
    double lines = 0;         ///< 128-byte lines of these requests
    double wavefronts = 0;    ///< of shared memory
    double shuffles = 0;      ///< and votes, of warps
    double barriers = 0;      ///< __syncthreads() of all blocks

    double sectors = 0;             ///< that loads asked for, request by request
    double block_sectors = 0;       ///< that loads asked for, each once a block: what L1 cannot save
    double written_sectors = 0;     ///< that stores sent to L2
    double dram_read_sectors = 0;   ///< that were not in L2
    double dram_write_sectors = 0;  ///< that have to leave L2

    double atomics = 0;       ///< of lanes
    double atomics_same = 0;  ///< of these, on the busiest word

    // The longest way through a block, on average over blocks: what has to happen one after the other.
    double load_rounds = 0;    ///< loads from global memory that wait for the ones before
    double l2_rounds = 0;      ///< of these, with a sector from L2 that is new to the block
    double dram_rounds = 0;    ///< of these, with one from memory
    double shared_rounds = 0;  ///< the same for shared memory
    double sync_rounds = 0;    ///< shuffles, votes and warp barriers
    double block_barriers = 0;
    double block_instructions = 0;  ///< of one warp
};

/// What the model needs to know of one call: its launches and what else the host queued.
struct CallProfile {
    std::vector<LaunchProfile> launches;
    double fills = 0, filled_bytes = 0;
    double copies = 0, copied_bytes = 0;
    double waits = 0;  ///< of the host, before it can queue more
};

/// Lines of text, and back. @throws std::runtime_error for text that write() has not made
void write(std::ostream& out, const CallProfile& call);
CallProfile read_profile(std::istream& in);

/// The modelled time of one launch, and what it consists of.
struct LaunchPrediction {
    std::string kernel;
    double seconds = 0;
    std::string limit;  ///< the slowest rate: "memory", "L2", "L1 and shared", "instructions", "latency", ...
    struct Term {
        const char* name;
        double seconds;
    };
    std::vector<Term> terms;  ///< each as if it were alone; the start of the launch is the first
};

struct Prediction {
    double seconds = 0;
    std::vector<LaunchPrediction> launches;
};

Prediction predict(const Machine& machine, const CallProfile& call);

/// A table for people: each launch, its time, what limits it.
std::string to_text(const Prediction& prediction);

}  // namespace simt::model
