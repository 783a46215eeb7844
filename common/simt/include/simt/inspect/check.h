/// @file
/// What check mode found, for tests and graders. Link `simt_check` instead of `simt`, and compile the kernels
/// with simt_add_checked_kernels(); then run as ever and ask here.
///
/// The vocabulary is compute-sanitizer's: *memcheck*, *racecheck*, *initcheck*, *synccheck*. A lane that is
/// about to make a bad access ends before it does; the other lanes go on. Findings of one cause are merged
/// and counted; their order does not depend on the order in which lanes ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simt/inspect/kinds.h"
#include "simt/types.h"

namespace simt::check {

enum class Tool : std::uint8_t { memcheck, racecheck, initcheck, synccheck };
/// An error is wrong on some device or in some order. A warning works on today's devices. A note is harmless
/// by luck: threads that race to store one and the same value.
enum class Severity : std::uint8_t { error, warning, note };

/// A place in a source file; empty and 0 where it is not known.
struct Place {
    std::string file;  ///< without its directories
    unsigned line = 0;
    unsigned column = 0;
    std::string function;
    /// The nearest call of a function of another file that led there; "" and 0: there is none.
    std::string caller_file = {};
    unsigned caller_line = 0;
    std::string path = {};  ///< of the file, with its directories, as the compiler knew it
};

/// One side of a finding: who, where, what.
struct Side {
    Place place;
    std::string access;  ///< "write of 4 bytes", "atomic", "barrier"
    uint3 thread = {}, block = {};
    /// Of a race between operations of streams: the kernel whose thread this is, "" if it is none; what it is
    /// otherwise ("cudaMemcpyAsync", "the host"); and its stream ("stream 3", "the default stream").
    std::string kernel, operation, stream;
};

struct Finding {
    Tool tool = Tool::memcheck;
    Severity severity = Severity::error;
    std::string kind;    ///< the name of a Kind: "out-of-bounds"
    std::string kernel;  ///< as launched; "" on the host
    Side side;
    bool has_other = false;
    Side other;  ///< of a race or of a divergent barrier
    /// The array: as the program names it where it allocates, or as it declares it; "" if there is none.
    std::string array;
    std::ptrdiff_t index = 0;  ///< in elements; may be negative or beyond the end
    std::size_t element = 0;   ///< bytes
    std::size_t extent = 0;    ///< elements of the array
    std::string message;       ///< what happened, in one sentence
    std::string advice;        ///< what to do about it, in one sentence
    std::uint64_t count = 0;   ///< how often
};

/// All findings since the last clear(), most severe first, then by file and line.
std::vector<Finding> findings();
/// Forgets all findings, and what is known to follow from them.
void clear();
/// Turns on or off, as it is at first, that the host's own calls are checked as well as kernels: calls that
/// fail and whose error nobody reads, and copies to the host of what nothing has written. While it is on,
/// cudaEventElapsedTime() returns cudaErrorNotReady for an event that a GPU may not have reached yet.
void watch_host(bool on);
/// How many device allocations there have been in the process.
std::uint64_t allocations();
/// Adds a finding for every device allocation after the first `since` ones that is still live. Call it where
/// all of these should be freed.
void find_leaks(std::uint64_t since = 0);

/// Of the allocation that `pointer` is in only the `bytes` from `pointer` on are an array, called `name`,
/// which has a value where it is `written`; the rest is nobody's. A multiple of 4 bytes
/// into it, between launches.
void narrow(const void* pointer, std::size_t bytes, const char* name, bool written);

/// How many of the bytes [pointer, pointer + bytes) of device memory nothing has written since
/// they were allocated.
std::size_t unwritten(const void* pointer, std::size_t bytes);

/// Several lines for people.
std::string to_text(const Finding& finding);
/// A JSON array of objects, one a finding.
std::string to_json(const std::vector<Finding>& findings);
/// `text` as a JSON string, with its quotation marks.
std::string json_text(const std::string& text);

const char* to_string(Tool tool);
const char* to_string(Severity severity);

/// Which basic blocks of the program have run for the first time since the last call of this function: the
/// addresses in the program's file that their calls of the hook return to. Empty where code
/// was compiled without -fsanitize-coverage=trace-pc.
std::vector<std::uintptr_t> take_blocks();

// ---- Observers --------------------------------------------------------------------------------------------

enum class Access : std::uint8_t { read, write, atomic };
enum class Space : std::uint8_t { global, shared, constant, texture };

/// One access of one lane that passed all checks; seen before it happens.
struct Event {
    const void* pc;  ///< return address of the callback: unique to the access in the machine code
    std::uintptr_t address;
    std::size_t size;
    Access access;
    Space space;
    std::uint64_t block;    ///< linear
    unsigned warp, lane;    ///< of the block, of the warp
    const char* array;      ///< its name
    std::uintptr_t origin;  ///< where the array starts; offsets in shared memory keep their banks
};

/// Sees what happens in launches, on the thread that launches. Do not allocate device memory in it.
class Observer {
  public:
    virtual ~Observer() = default;
    /// The linear number of the block whose accesses it is shown; nullopt: all blocks' are.
    std::optional<std::uint64_t> block_of_accesses;
    virtual void launch_begins(const char* kernel, dim3 grid, dim3 block) {
        (void)kernel, (void)grid, (void)block;
    }
    virtual void launch_ends() {}
    virtual void block_begins(std::uint64_t block) { (void)block; }
    virtual void access(const Event& event) { (void)event; }
    /// A barrier of the block is complete.
    virtual void block_synchronised(std::uint64_t block) { (void)block; }
    /// The lanes of a mask have met.
    virtual void warp_synchronised(std::uint64_t block, unsigned warp, unsigned lanes) {
        (void)block, (void)warp, (void)lanes;
    }
};

void add_observer(Observer& observer);
void remove_observer(Observer& observer);

/// Address and name of a piece of code, from its debug information: the innermost function that is not the
/// runtime's. `return_address` as Event::pc has it.
Place locate(const void* return_address);

/// Returns what `addr2line -a -C -f -i -e path offsets...` prints.
using Symboliser = std::string (*)(const std::string& path, const std::vector<std::uintptr_t>& offsets);
/// Asks `symboliser` instead of running addr2line, for processes that may start no other. What it answers
/// with an empty text stays unknown and is asked for again next time. nullptr: addr2line again.
void set_symboliser(Symboliser symboliser);

}  // namespace simt::check
