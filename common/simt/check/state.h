/// @file
/// What check mode remembers: arrays with a shadow cell for every word, and who is ordered after whom.
///
/// **Time.** A *segment* is what one warp does between two synchronisations; segments have rising numbers.
/// "Access `a`, by lane i in segment s, happened before what lane j does now" is then one comparison: with
/// the segment that was next when the launch, or the grid's last barrier, began; with the one that was next
/// at the block's last barrier; or, in the same warp, with what lane j knows of lane i (one number for the
/// warp as long as all its lanes meet, a vector clock once some of them meet without the others); or, in
/// another warp, with what was next when the two last met as parts of a tile. What remains is ordered only if
/// a barrier in two halves lies between (see Knowledge), or if a fence and an atomic release it and an atomic
/// acquires it. The releasing atomic itself comes before the acquiring one at the same address, which takes
/// its place in the cell.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "check/cell.h"
#include "check/trace.h"
#include "runtime/worker.h"
#include "simt/inspect/check.h"
#include "simt/shared.h"

namespace simt::check {

/// What is never destroyed: a program's findings are put into words when its static objects are gone, in
/// whatever order they went.
template <class T>
union Lasting {
    T value{};
    constexpr Lasting() {}
    constexpr ~Lasting() {}
    Lasting(const Lasting&) = delete;
    Lasting& operator=(const Lasting&) = delete;
};

enum class Memory : std::uint8_t { device, managed, pinned, symbol, constant, shared, dynamic_shared };

using CallStack = std::array<const void*, 12>;

/// A part of a large array whose cells are made when something accesses less than all of it.
struct Piece {
    Cell all = {};  ///< what each of them is until then; of one lane, without a second
    bool made = false;
};
constexpr unsigned piece_shift = 20;                       ///< log2 of its bytes
constexpr std::size_t large_array = std::size_t{8} << 20;  ///< bytes from which on an array has pieces

/// An allocation, a variable at namespace scope, or a shared array of a running block.
struct Array {
    std::uintptr_t begin = 0;
    std::size_t size = 0;  ///< bytes
    Cell* cells = nullptr;
    CellRest* rest = nullptr;        ///< of each cell
    std::vector<Piece> pieces = {};  ///< of a large one
    unsigned shift = 2;              ///< log2 of the bytes of a cell
    Memory memory = Memory::device;
    bool live = true;
    bool on_host = false;       ///< the host can read it, too
    bool from_kernel = false;   ///< a kernel's malloc or new
    std::uint64_t serial = 0;   ///< how many allocations were made before
    bool tracks_values = true;  ///< initcheck applies: memory is garbage until it is written
    SharedShape shape = {};
    std::string name;
    CallStack made_at = {}, freed_at = {};

    bool holds(std::uintptr_t address, std::size_t bytes) const {
        return address - begin < size && bytes <= size - (address - begin);
    }
    /// The cell of the byte at `offset`, which may be its piece's.
    const Cell& cell_at(std::size_t offset) const {
        if (!pieces.empty() && !pieces[offset >> piece_shift].made) return pieces[offset >> piece_shift].all;
        return cells[offset >> shift];
    }
    /// Something has written the byte at `offset`.
    bool is_written(std::size_t offset) const { return cell_at(offset).is_initialised(); }
    std::size_t cell_count() const { return shift == 0 ? size : (size + 3) / 4; }
    CellRest& rest_of(const Cell& cell) const { return rest[&cell - cells]; }
    /// Mask of the lanes that share the first read or atomic.
    std::uint32_t lanes_of(const Cell& cell) const {
        return cell.first_has_several_lanes() ? rest_of(cell).lanes : 1u << cell.first_lane();
    }
    void add_lane(Cell& cell, unsigned lane) const {
        if (!cell.first_has_several_lanes()) {
            if (cell.first_lane() == lane) return;
            rest_of(cell).lanes = 1u << cell.first_lane();
            cell.set_several_lanes();
        }
        rest_of(cell).lanes |= 1u << lane;
    }
    /// Segment of the second read or atomic; 0: there is none.
    std::uint32_t second_of(const Cell& cell) const { return cell.has_second() ? rest_of(cell).second : 0; }
};

struct Segment {
    std::uint32_t block;  ///< linear
    std::uint32_t warp;
};

/// The clocks of a warp whose lanes have met in parts.
struct LaneClocks {
    std::uint32_t known[warp_lanes][warp_lanes];  ///< [j][i]: j is after all segments of i before this one
    std::uint32_t segment[warp_lanes];            ///< 0: to be made
};

/// By warp of the block: somebody is after all its segments before this one, for meetings of tiles.
using WarpsMet = std::array<std::uint32_t, max_block_warps>;

struct WarpClock {
    std::uint32_t segment = 0;  ///< 0: to be made
    std::uint32_t base = 0;     ///< all lanes are after all segments before this one
    bool partial = false;       ///< `lanes` holds instead
    std::unique_ptr<LaneClocks> lanes;
};

struct Signal;

/// A lane saw the first `count` releases of `signal`.
struct Acquisition {
    const Signal* signal;
    std::uint32_t count;
    std::uint32_t segment, warp, lane;
    bool device;  ///< not only those of its own block
};
using Acquisitions = std::vector<Acquisition>;

/// What an atomic operation orders by itself, if it says so: one of cuda::atomic.
struct Ordering {
    std::uintptr_t address = 0;  ///< 0: none
    bool acquires = false, releases = false, device = false;
};

/// What somebody knows of lanes of several blocks, by way of barriers in two halves.
struct Knowledge {
    /// By block: of each of its lanes, all segments before this one are known.
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_block;
    Acquisitions acquisitions;  ///< what else these lanes had been told

    /// Of lane `lane` in segment `s`; lane 32: of some lane of its warp.
    bool covers(std::uint32_t s, const Segment& segment, unsigned lane) const;
    bool includes(const Knowledge& other) const;
    void add(const Knowledge& other);
};
using SharedKnowledge = std::shared_ptr<const Knowledge>;

/// A barrier in two halves.
struct PhaseRecord {
    Knowledge arrived;      ///< what those who have arrived so far knew
    SharedKnowledge ended;  ///< the same when the last phase ended
};

/// A lane's last fence: everything that came before it then.
struct Fence {
    std::uint32_t segment = 0;  ///< of its own: all before this one
    std::uint32_t block_base = 0;
    std::uint32_t known[warp_lanes] = {};  ///< of the lanes of its warp
    WarpsMet met = {};                     ///< of the other warps of its block
    bool device = false;
    SharedKnowledge told;
};

/// A lane changed an atomic, in whose list this stands, after a fence or by an operation that is one.
struct Release {
    std::uint32_t block, warp, lane;
    Fence fence;
    std::shared_ptr<const Acquisitions> told;  ///< its block's; the lane knew some of the first `count`
    std::uint32_t count;
};

/// A launch that has ended but for those that its lanes have made.
struct ParentLaunch {
    std::uint32_t first_segment, end;  ///< of its own
    const char* name;                  ///< as Grid has them
    const void* function;
    dim3 grid, block;
    std::uint32_t signals;          ///< State::signals_forgotten then
    std::vector<Release> launches;  ///< what each launch by a lane comes after; without those to the tail
    std::size_t begun = 0;          ///< of these
    bool tail = false;              ///< the running one comes after all
};

/// An address that atomics use to synchronise.
struct Signal {
    std::vector<Release> releases;
    std::unordered_multimap<std::uint32_t, std::uint32_t> of_block;  ///< indices of `releases`
};

struct BarrierSite {
    const void* site;
    int kind;
    unsigned lanes;
    unsigned first;  ///< lane of the block
};

struct BlockState {
    std::uint32_t number = 0;
    std::uint32_t base = 0;
    WarpClock warps[max_block_warps];
    WarpsMet met[max_block_warps] = {};  ///< what each warp knows of the others
    bool has_met = false;                ///< `met` is not all zeros
    std::vector<Array> shared;
    std::size_t last_shared = 0;
    std::vector<BarrierSite> sites;  ///< of the barrier that lanes wait at
    std::shared_ptr<Acquisitions> acquisitions = std::make_shared<Acquisitions>();
    std::size_t released_at = 0;                         ///< of these, so many stand in releases
    std::uint32_t signals = 0;                           ///< State::signals_forgotten then
    std::unordered_map<unsigned, Acquisitions> relaxed;  ///< by lane: what it takes at its next fence
    std::unordered_map<unsigned, Fence> fences;          ///< by lane
    std::vector<SharedKnowledge> told;  ///< by lane, once one has waited at a barrier in two halves
    unsigned stopped = 0;               ///< lanes that a bad access ended
    Cell* cells = nullptr;              ///< one for every byte of shared memory
    CellRest* rest = nullptr;
    std::size_t cell_count = 0;
    std::unique_ptr<BlockTrace> trace;  ///< once somebody has counted
    ~BlockState();
};

/// Everything. One thread at a time uses it in launches; host code only reads the table of pages.
struct State {
    // The device heap and the table that says which array each of its pages belongs to.
    std::uintptr_t heap_begin = 0;
    std::size_t heap_size = 0;
    Array** pages = nullptr;

    // The running launch.
    const Launch* launch = nullptr;
    const char* kernel = nullptr;
    std::uint32_t first_segment = 1;  ///< of the launch
    std::uint32_t next_segment = 1;
    std::uint32_t order_base = 1;   ///< everything before it is ordered before everything in the launch now
    std::uint32_t launch_base = 1;  ///< so is what the launch did before it
    std::vector<Segment> segments;
    std::uint32_t segments_from = 1;  ///< number of segments[0]
    bool host_is_behind = false;      ///< operations of streams have not been waited for
    std::unordered_map<std::uintptr_t, Signal> signals;
    std::size_t releases = 0;                      ///< in all of these
    std::uint32_t signals_forgotten = 0;           ///< how often
    Ordering ordering;                             ///< of the next atomic operation
    std::vector<Release> lane_launches;            ///< by lanes of the running launch: what they come after
    std::vector<ParentLaunch> parents;             ///< launches around the running one
    std::map<std::uintptr_t, PhaseRecord> phases;  ///< by address
    bool fences = false;                           ///< the launch has used one, or a barrier in two halves
    bool tiles = false;                            ///< the launch has made tiles of more than a warp
    std::vector<const char*> dynamic_names;        ///< of dynamic shared memory in the launch
    bool stopped = false;   ///< a lane was stopped since clear(): what is missing may follow from that
    bool counting = false;  ///< the launch is being counted
    bool in_a_row = false;  ///< threadIdx.x is the lane of the block
    /// Grows whenever an array comes, goes or changes its cells, and when another block runs.
    std::uint32_t layout = 1;

    // The running block.
    BlockState* block = nullptr;
    std::uint64_t block_number = 0;
    std::uintptr_t shared_begin = 0;
    std::size_t shared_size = 0;

    std::size_t device_heap_used = 0;  ///< bytes that kernels have allocated

    // All symbols lie between these.
    std::uintptr_t symbols_begin = 0;
    std::size_t symbols_size = 0;
    std::vector<Observer*> observers;
    std::map<std::uintptr_t, Array*> live;  ///< allocations of the heap
    bool watches_host = false;              ///< watch_host()
    std::uint64_t allocations = 0;          ///< ever made
};
extern State state;

/// The heap of the device, or among the variables at namespace scope.
inline bool is_device_address(std::uintptr_t address) {
    return address - state.heap_begin < state.heap_size || address - state.symbols_begin < state.symbols_size;
}

/// The checks themselves are at work on this thread: what it accesses meanwhile is none of the kernel's.
extern SIMT_THREAD_LOCAL bool own_work;

/// Marks a piece of the checks' own work; does not span a change of lanes.
struct OwnWork {
    OwnWork() : before(own_work), trace(tracing) {
        own_work = true;
        tracing = nullptr;
    }
    ~OwnWork() {
        own_work = before;
        tracing = trace;
    }
    OwnWork(const OwnWork&) = delete;
    OwnWork& operator=(const OwnWork&) = delete;
    bool before;
    BlockTrace* trace;
};

constexpr unsigned page_shift = 12;

/// Cells hold small numbers for places in the machine code; never 0.
constexpr std::uint16_t unknown_code = 1;
std::uint16_t code_of(const void* address);
const void* code_address(std::uint16_t code);

/// Gives a new array its cells, all zero. @throws std::bad_alloc
void give_cells(Array& array);
/// Makes the cells of all pieces that [offset, offset + size) meets. An array without pieces has its cells.
void make_cells(Array& array, std::size_t offset, std::size_t size);
/// Calls `f(cell, offset, whole)` for the cells of [offset, offset + size): each alone, or, as `whole`, one
/// that stands for all of a piece in that range whose cells are not made. If that returns false, they are
/// made first.
template <class F>
void for_cells(Array& array, std::size_t offset, std::size_t size, F f) {
    const std::size_t end = offset + size;
    while (offset < end) {
        std::size_t stop = end;
        if (!array.pieces.empty()) {
            const std::size_t first = offset >> piece_shift << piece_shift;
            const std::size_t behind = std::min(first + (std::size_t{1} << piece_shift), array.size);
            stop = std::min(end, behind);
            Piece& piece = array.pieces[offset >> piece_shift];
            if (!piece.made && offset == first && stop == behind && f(piece.all, offset, true)) {
                offset = stop;
                continue;
            }
            if (!piece.made) make_cells(array, offset, stop - offset);
        }
        const std::size_t last = (stop - 1) >> array.shift;
        for (std::size_t i = offset >> array.shift; i <= last; ++i)
            f(array.cells[i], i << array.shift, false);
        offset = stop;
    }
}
/// Memory for `count` cells, all zero, and behind them as many rests. @throws std::bad_alloc
Cell* map_cells(std::size_t count);
inline CellRest* rest_behind(Cell* cells, std::size_t count) {
    return reinterpret_cast<CellRest*>(cells + count);
}
void unmap_cells(Cell* cells, std::size_t count);

/// What one access did; see access.cpp.
enum class AccessKind : std::uint8_t {
    read,
    write,
    atomic,
    atomic_load,
    atomic_store,
    volatile_read,
    volatile_write,
    fetch  ///< a read by a texture or surface object
};

/// The current lane is about to access [address, address + size). Does not return if that would be bad.
/// `aligned`: the type promises that the address is a multiple of the size.
void check_access(std::uintptr_t address, std::size_t size, AccessKind kind, bool aligned, const void* pc);
/// The host is about to access the heap.
void host_access(std::uintptr_t address, std::size_t size, AccessKind kind, const void* pc);
/// The host is about to access any memory.
void access_by_host(std::uintptr_t address, std::size_t size, AccessKind kind, const void* pc);
/// As find_array(), also of the block's shared memory.
Array* find_array_in_kernel(std::uintptr_t address);
/// All of it has the value that device memory has until something writes it.
bool is_poison(std::uintptr_t address, std::size_t size);
/// For each byte whether it has been written; empty where the range lies in no array.
std::vector<bool> which_are_written(std::uintptr_t address, std::size_t size);
/// Takes a write back, for the bytes that were unwritten before it: they get that mark and that value again.
void leave_unwritten(std::uintptr_t address, const std::vector<bool>& written);
/// Marks memory as written by a copy, a fill or the host.
void mark_written(std::uintptr_t address, std::size_t size);
/// How many bytes at the beginning of `array` have been written, if none behind them has; 0 if one has, or
/// all.
std::size_t written_prefix(const Array& array);
/// Marks [to, to + size) as [from, from + size) is, if both are device memory; else as written.
void mark_copied(std::uintptr_t to, std::uintptr_t from, std::size_t size);

/// The array of the heap or symbol that holds `address`, or nullptr.
Array* find_array(std::uintptr_t address);
/// The shared array of the current block that holds it.
Array* find_shared_array(std::uintptr_t address);
/// Makes every byte of `array` a cell of its own.
void split(Array& array);

std::uint32_t new_segment(std::uint32_t block, unsigned warp);
/// The current segment of a lane.
std::uint32_t segment_of(BlockState& block, unsigned warp, unsigned lane);
LaneClocks& lane_clocks(WarpClock& warp);

/// Of the program's code, whether a basic block has run whose call of the hook returns there.
constexpr std::size_t most_code_bytes = 16u << 20;
extern std::atomic<bool> has_run[most_code_bytes];
extern "C" const char __executable_start;  // of the program, from the linker
/// The block that returns to `offset` of the program's code has not run before.
void note_new_block(std::size_t offset);
/// A basic block begins, whose call of the hook returns to `return_address`.
inline void note_block(const void* return_address) {
    const auto offset =
        static_cast<std::size_t>(static_cast<const char*>(return_address) - &__executable_start);
    if (offset < most_code_bytes && !has_run[offset].load(std::memory_order_relaxed)) note_new_block(offset);
}

/// The first of `stack` that lies in no file of the runtime's or of the standard library's.
Place locate(const CallStack& stack);
/// The place of `return_address`; if that is such a file, the first of its `callers` that is not in one. Who
/// called it from another file is named in it.
Place locate(const void* return_address, const CallStack& callers);
/// Looks up many addresses at once, for locate() to find them known.
void locate_all(const std::vector<const void*>& return_addresses);
/// `address` lies in constant data of the program.
bool in_read_only_segment(std::uintptr_t address);
/// [begin, begin + size) lies beside a symbol to show accesses past its end.
void add_red_zone(std::uintptr_t begin, std::size_t size);
/// The symbol nearest to `address` if that lies in a red zone or, with `anywhere`, a few words from the
/// symbol; else nullptr.
const Array* symbol_beside(std::uintptr_t address, bool anywhere);
/// From a signal handler: the current lane shall stop at its next access.
void ask_to_stop();
/// Puts a pending finding on record; see access.cpp.
void settle_pending();
/// The same for a read that an atomic met, unless a compare-and-swap has confirmed what it read.
void settle_guess();
/// The current lane's last read is such a one.
bool guesses();
/// The current lane polls `address`, and has long enough for others to run; its findings are on record.
bool gives_way(const volatile void* address);
/// The current lane, or the host, is about to compare `*address` with `*expected`, and swap.
void compares(const volatile void* address, const void* expected, std::size_t size);

// ---- Streams (streams.cpp) --------------------------------------------------------------------------------

/// What a finding says of an operation of a stream, or of the host.
struct Task {
    std::string name;    ///< the kernel, "cudaMemcpyAsync", "the host"
    std::string stream;  ///< "stream 3"; "" of the host
    bool is_kernel = false;
    bool is_host = false;
    bool on_default_stream = false;
    dim3 grid, block;
    CallStack stack = {};  ///< of the call; not of kernels
};

/// A segment of another operation comes before the running one.
bool foreign_ordered(std::uint32_t segment);
/// The running operation; what else there is to say of it than the launch says.
Task running_task();
/// Its number.
std::uint64_t running_operation();
/// Fills in the other side of a race with another operation: a lane's access with code `code` in `segment`.
void describe_other(struct Report& report, std::uint32_t segment, unsigned lane, std::uint16_t code);
/// Keeps operations from beginning for as long as it lives; owns nothing where another thread runs one.
std::unique_lock<std::recursive_mutex> between_operations();
/// The host, or the running operation on it, accesses memory that kernels use, too.
void host_races(Array& array, std::uintptr_t address, std::size_t size, bool write, const void* pc);
/// compares() by the host.
void host_compares(std::uintptr_t address, const void* expected, std::size_t size);
/// Puts a read of the host's on record that no compare-and-swap has confirmed.
void settle_host();
/// If an operation runs on this thread that is no kernel, it copies, or with `from` 0 fills.
void operation_copies(std::uintptr_t to, std::uintptr_t from, std::size_t size);
/// If an operation runs on this thread, it frees memory.
void operation_frees(const Array& array);
/// The running operation is this kernel; it has ended.
void operation_is_kernel(const Launch& launch);
void kernel_has_ended();
/// Everything so far comes before everything to come.
void forget_order();

// ---- Recording (findings.cpp) -----------------------------------------------------------------------------

/// What one side of a finding did.
enum class Act : std::uint8_t {
    none,
    read,
    write,
    atomic,
    fetch,
    access,  ///< by an index, to read or to write
    free,
    allocation,
    copy,
    barrier
};

/// What is found, before it is put into words.
struct Report {
    Tool tool;
    Severity severity = Severity::error;
    Kind kind;
    Cause cause = Cause::unknown;
    const void* pc = nullptr;
    Act act = Act::none;
    std::size_t size = 0;  ///< of the access, bytes
    unsigned flat = 0;     ///< thread, in its block
    std::uint32_t block = 0;
    bool on_host = false;
    const Array* array = nullptr;
    bool guessed =
        false;  ///< the array is the nearest to the address, and nothing else tells that it is meant
    std::uintptr_t address = 0;
    bool has_other = false;
    const void* other_pc = nullptr;
    Act other_act = Act::none;
    unsigned other_flat = 0;
    std::uint32_t other_block = 0;
    std::string text;  ///< what else there is to say
    std::uint64_t times = 1;
    CallStack stack = {};
    Place place;             ///< where the pc does not tell
    Task task, other_task;   ///< of a race between operations; else without names
    bool nested = false;     ///< `other_task` has launched `task`
    std::int64_t meant = 0;  ///< the index that wrapped to what the address says; 0: it did not
};
void record(Report report);
/// The place `pc` reads or writes `array`: so that is what it missed in this launch, where this was a guess.
void correct_guesses(const void* pc, Act act, const Array& array);
/// The calls that led to where the caller is, innermost first, but none within the checks: from the frame
/// that returns to `innermost` on; with nullptr, from that of the caller's caller on. Empty where that is
/// none of them.
CallStack calls_up_to(const void* innermost);
/// record() for the current lane.
Report by_current_lane(Tool tool, Kind kind, const void* pc);

}  // namespace simt::check
