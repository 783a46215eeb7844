// Every access of a kernel comes through here: is the address good, is the value there, is it ordered.
#include <execinfo.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "check/state.h"
#include "runtime/crash.h"
#include "runtime/heap.h"
#include "runtime/memory.h"
#include "simt/device.h"
#include "simt/inspect/control.h"

namespace simt::check {

// Before any static object of the program, which may be a variable that the checks are told of.
[[gnu::init_priority(101)]] State state;
SIMT_THREAD_LOCAL bool own_work = false;

namespace {

// ---- Order ------------------------------------------------------------------------------------------------

/// Where the current lane stands.
struct Now {
    BlockState& block;
    unsigned warp, lane;
    std::uint32_t segment;
    /// All before it is ordered: of shared memory the block's last barrier, else State::order_base.
    std::uint32_t horizon;
};

/// `release` made lane `lane`'s access in segment `s` visible; lane 32: of some lane.
bool releases(const Release& release, std::uint32_t s, const Segment& segment, unsigned lane) {
    if (s < release.fence.block_base) return true;
    if (release.warp != segment.warp) return false;
    return s <
           (lane == release.lane || lane == warp_lanes ? release.fence.segment : release.fence.known[lane]);
}

using Visited = std::vector<std::pair<const Signal*, std::uint32_t>>;

/// One of the first `count` releases of `signal`, or of what these had been told, made the access visible
/// to block `reader`.
bool covered(const Signal& signal, std::uint32_t count, std::uint32_t reader, std::uint32_t s,
             const Segment& segment, unsigned lane, Visited& visited) {
    for (auto& [seen, up_to] : visited) {
        if (seen != &signal) continue;
        if (up_to >= count) return false;
        up_to = count;
    }
    visited.emplace_back(&signal, count);
    const auto [begin, end] = signal.of_block.equal_range(segment.block);
    for (auto found = begin; found != end; ++found) {
        const Release& release = signal.releases[found->second];
        if (found->second < count && (release.fence.device || release.block == reader) &&
            releases(release, s, segment, lane))
            return true;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto& inherited = signal.releases[i].inherited;
        if (!inherited) continue;
        for (const Acquisition& a : *inherited)
            if (covered(*a.signal, a.count, reader, s, segment, lane, visited)) return true;
    }
    return false;
}

/// `acquisition` comes before what the current lane does.
bool knows(const Now& now, const Acquisition& a) {
    if (a.segment < now.block.base) return true;
    if (a.warp != now.warp) return false;
    const WarpClock& warp = now.block.warps[now.warp];
    return a.lane == now.lane || a.segment < (warp.partial ? warp.lanes->known[now.lane][a.lane] : warp.base);
}

/// Lane `lane` of segment `s`'s warp did something then that comes before what `now` does.
bool ordered(const Now& now, std::uint32_t s, unsigned lane) {
    if (s < state.order_base) return true;
    if (__builtin_expect(s < state.first_segment, 0)) return foreign_ordered(s);
    if (s < state.launch_base) return true;
    const Segment& segment = state.segments[s - state.segments_from];
    const BlockState& block = now.block;
    if (segment.block == block.number) {
        if (s < block.base) return true;
        if (segment.warp == now.warp) {
            if (lane == now.lane) return true;
            const WarpClock& warp = block.warps[now.warp];
            if (s < (warp.partial ? warp.lanes->known[now.lane][lane] : warp.base)) return true;
        }
    }
    if (block.acquisitions.empty()) return false;
    Visited visited;
    for (const Acquisition& a : block.acquisitions)
        if (knows(now, a) && covered(*a.signal, a.count, block.number, s, segment, lane, visited))
            return true;
    return false;
}

/// The lowest of `lanes` whose access in segment `s` is not ordered before `now`; 32: all are.
unsigned unordered_lane(const Now& now, std::uint32_t s, std::uint32_t lanes) {
    if (s < state.order_base) return warp_lanes;
    for (; lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(lanes));
        if (!ordered(now, s, lane)) return lane;
    }
    return warp_lanes;
}

bool same_warp(std::uint32_t a, std::uint32_t b) {
    if (a < state.first_segment || b < state.first_segment) return false;
    const Segment &x = state.segments[a - state.segments_from], &y = state.segments[b - state.segments_from];
    return x.block == y.block && x.warp == y.warp;
}

// ---- Races ------------------------------------------------------------------------------------------------

/// Two unordered writes are harmless if the second stores what is there already. That is known once it has
/// happened: at the next thing this thread does.
struct Pending {
    bool active = false;
    bool has_report = false;
    bool stop = false;  ///< the watchdog wants the lane to stop: here it holds no lock
    std::uintptr_t address = 0;
    std::size_t size = 0;
    unsigned char before[32];
    Report report;
} pending;

const char* access_name(bool write, bool atomic) { return atomic ? "atomic" : write ? "write" : "read"; }

struct Subject {
    Array& array;
    std::uintptr_t address;
    std::size_t size;
    const void* pc;
};

[[gnu::noinline, gnu::cold]] void race(const Now& now, const Subject& subject, bool write, bool atomic,
                                       std::uint32_t other, unsigned other_lane, std::uint16_t other_code,
                                       bool other_write, bool other_atomic) {
    const OwnWork own;
    const bool foreign = other < state.first_segment;
    static const Segment elsewhere{};
    const Segment& segment = foreign ? elsewhere : state.segments[other - state.segments_from];
    Report report{};
    report.tool = Tool::racecheck;
    report.kind = atomic || other_atomic ? (write || other_write ? "atomic-write" : "atomic-read")
                  : write && other_write ? "write-write"
                                         : "read-write";
    report.pc = subject.pc;
    report.access = access_name(write, atomic);
    report.size = subject.size;
    report.flat = now.warp * warp_lanes + now.lane;
    report.block = now.block.number;
    report.array = &subject.array;
    report.address = subject.address;
    report.has_other = true;
    report.other_pc = code_address(other_code);
    report.other_access = access_name(other_write, other_atomic);
    report.other_flat = segment.warp * warp_lanes + other_lane;
    report.other_block = segment.block;
    if (foreign) {
        report.task = running_task();
        describe_other(report, other, other_lane, other_code);
    }
    if (write && other_write && !atomic && !other_atomic && subject.size <= sizeof pending.before) {
        if (pending.active) return;  // one an access is enough
        pending.active = pending.has_report = true;
        pending.address = subject.address;
        pending.size = subject.size;
        std::memcpy(pending.before, reinterpret_cast<const void*>(subject.address), subject.size);
        pending.report = std::move(report);
        return;
    }
    record(std::move(report));
}

// ---- Cells ------------------------------------------------------------------------------------------------

/// Puts an access into the two slots of `cell`; `code` may be Cell::marked.
[[gnu::noinline]] void remember(const Now& now, Cell& cell, const Array& array, bool atomic,
                                std::uint16_t code) {
    auto take_first = [&] {
        cell.set_first(now.segment, now.lane, code);
        cell.flags = static_cast<std::uint16_t>((cell.flags & ~Cell::first_atomic) |
                                                (atomic ? Cell::first_atomic : 0));
    };
    const bool was_atomic = (cell.flags & Cell::first_atomic) != 0;
    const bool was_load = !was_atomic && (cell.first_pc & Cell::marked);
    const bool load = !atomic && (code & Cell::marked);
    if (cell.first == now.segment) {
        if (was_atomic ? atomic || load : !atomic) {
            array.add_lane(cell, now.lane);
            if (!was_atomic && !load) cell.first_pc = cell.first_code();
        } else if (was_load) {
            array.add_lane(cell, now.lane);
            cell.first_pc = code & (Cell::marked - 1);
            cell.flags |= Cell::first_atomic;
        } else if (atomic) {
            take_first();  // the stronger one stays
        }
        return;
    }
    // Whatever is ordered before this access has nothing to say that this one will not.
    if (cell.first == 0 || unordered_lane(now, cell.first, array.lanes_of(cell)) == warp_lanes) {
        if (cell.first >= now.horizon && !was_atomic && !was_load && atomic && cell.write < now.horizon) {
            // But a read is what later atomics of others conflict with.
            cell.write = cell.first;
            cell.write_pc = static_cast<std::uint16_t>(cell.first_pc | Cell::write_is_read);
            cell.flags =
                static_cast<std::uint16_t>((cell.flags & ~(Cell::lane_mask | Cell::write_atomic)) |
                                           static_cast<unsigned>(__builtin_ctz(array.lanes_of(cell))));
        }
        if (cell.first != 0 && was_atomic && !atomic) {
            // But an atomic is a write to later readers.
            if (load && cell.write >= now.horizon && !(cell.flags & Cell::write_atomic)) return;
            cell.write = cell.first;
            cell.write_pc = cell.first_code();
            cell.flags =
                static_cast<std::uint16_t>((cell.flags & ~Cell::lane_mask) | Cell::write_atomic |
                                           static_cast<unsigned>(__builtin_ctz(array.lanes_of(cell))));
        }
        take_first();
        return;
    }
    // The second slot: for another warp or, better, another block; an atomic's read tells less than others.
    const bool second_load = !(cell.flags & Cell::second_atomic) && (cell.second_pc & Cell::marked);
    const std::uint32_t other = array.second_of(cell);
    if (other == now.segment && load && !second_load) return;
    if (other >= state.order_base && (load || !second_load) && !same_warp(other, now.segment) &&
        !ordered(now, other, warp_lanes)) {
        if (cell.first < state.first_segment || other < state.first_segment) {
            // Of two other operations, this one takes the place of the later.
        } else {
            const std::uint32_t first = state.segments[cell.first - state.segments_from].block;
            const std::uint32_t second = state.segments[other - state.segments_from].block;
            if (first != second || first == now.block.number) return;
        }
    }
    array.rest_of(cell).second = now.segment;
    cell.second_pc = code;
    bool apart = false;
    if (cell.first >= state.launch_base) {
        const Segment& first = state.segments[cell.first - state.segments_from];
        const bool shared = now.horizon != state.order_base;
        apart = first.block != now.block.number || (shared && first.warp != now.warp);
    }
    cell.flags = static_cast<std::uint16_t>((cell.flags & ~(Cell::second_atomic | Cell::apart)) |
                                            (atomic ? Cell::second_atomic : 0) | (apart ? Cell::apart : 0));
}

void check_write_slot(const Now& now, const Cell& cell, const Subject& subject, bool write, bool atomic) {
    const unsigned writer = cell.flags & Cell::lane_mask;
    const bool by_atomic = (cell.flags & Cell::write_atomic) != 0, read = cell.holds_read();
    if ((by_atomic && atomic) || (read && !write && !atomic) || ordered(now, cell.write, writer)) return;
    race(now, subject, write, atomic, cell.write, writer, cell.write_code(), !by_atomic && !read, by_atomic);
}

/// Against what stands in the two slots; `reads`: plain reads there conflict, `atomics`: atomics do.
void check_slots(const Now& now, const Cell& cell, const Subject& subject, bool write, bool atomic,
                 bool reads, bool atomics) {
    const auto conflicts = [&](bool was_atomic, std::uint16_t pc) {
        return was_atomic ? atomics : reads && !(atomic && (pc & Cell::marked));
    };
    const bool first_atomic = (cell.flags & Cell::first_atomic) != 0;
    if (cell.first >= state.order_base && conflicts(first_atomic, cell.first_pc)) {
        const unsigned lane = unordered_lane(now, cell.first, subject.array.lanes_of(cell));
        if (lane != warp_lanes)
            race(now, subject, write, atomic, cell.first, lane, cell.first_code(), false,
                 first_atomic || (cell.first_pc & Cell::marked));
    }
    const bool second_atomic = (cell.flags & Cell::second_atomic) != 0;
    const std::uint32_t second = subject.array.second_of(cell);
    if (second >= state.order_base && conflicts(second_atomic, cell.second_pc) &&
        !same_warp(second, now.segment) && !ordered(now, second, warp_lanes))
        race(now, subject, write, atomic, second, 0, cell.second_code(), false,
             second_atomic || (cell.second_pc & Cell::marked));
}

[[gnu::noinline, gnu::cold]] void uninitialised(const Subject& subject, bool atomic) {
    if (state.stopped || !subject.array.tracks_values) return;
    const OwnWork own;
    Report report = by_current_lane(Tool::initcheck, "uninitialised", subject.pc);
    report.access = access_name(false, atomic);
    report.size = subject.size;
    report.array = &subject.array;
    report.address = subject.address;
    record(std::move(report));
}

[[gnu::noinline]] void read_against_atomics(const Now& now, const Cell& cell, const Subject& subject) {
    check_slots(now, cell, subject, false, false, false, true);
}

SIMT_DEVICE void read_cell(const Now& now, Cell& cell, const Subject& subject, std::uint16_t code) {
    const unsigned flags = cell.flags;
    if (__builtin_expect(!(flags & Cell::initialised), 0)) uninitialised(subject, false);
    if (cell.write >= now.horizon && !(cell.write == now.segment && (flags & Cell::lane_mask) == now.lane))
        check_write_slot(now, cell, subject, false, false);
    if (__builtin_expect((flags & (Cell::first_atomic | Cell::second_atomic)) == 0, 1)) {
        if (cell.first == now.segment) {
            // The place is another lane's, if there is one: of the two, that is whom a write of
            // this one meets.
            if (flags >> Cell::first_lane_shift == now.lane && !(flags & Cell::several)) {
                cell.first_pc = code;
            } else {
                subject.array.add_lane(cell, now.lane);
                cell.first_pc = cell.first_code();
            }
            return;
        }
        if (cell.first < now.horizon) {
            cell.set_first(now.segment, now.lane, code);
            return;
        }
        if (const std::uint32_t second = subject.array.second_of(cell); second != 0) {
            if (second == now.segment && !(cell.second_pc & Cell::marked)) return;
            const std::uint32_t base = std::max(now.horizon, state.launch_base);
            const bool loads = ((cell.first_pc | cell.second_pc) & Cell::marked) != 0;
            if ((flags & Cell::apart) && cell.first >= base && second >= base && !state.fences && !loads)
                return;
        }
    } else {
        read_against_atomics(now, cell, subject);
        if (cell.first == now.segment && !(flags & Cell::first_atomic)) {
            subject.array.add_lane(cell, now.lane);
            cell.first_pc = code;
            return;
        }
    }
    remember(now, cell, subject.array, false, code);
}

SIMT_DEVICE void write_cell(const Now& now, Cell& cell, const Subject& subject, std::uint16_t code) {
    if (cell.write >= now.horizon &&
        !(cell.write == now.segment && (cell.flags & Cell::lane_mask) == now.lane))
        check_write_slot(now, cell, subject, true, false);
    if ((cell.first >= now.horizon &&
         !(cell.first == now.segment && !(cell.flags & Cell::several) && cell.first_lane() == now.lane)) ||
        subject.array.second_of(cell) >= now.horizon)
        check_slots(now, cell, subject, true, false, true, true);
    cell.write = now.segment;
    cell.first = 0;
    cell.write_pc = code;
    cell.second_pc = 0;
    cell.flags = static_cast<std::uint16_t>(Cell::initialised | now.lane);
}

/// A new atomic sees those before it at its address. Of these, the ones of this launch whose lanes had fenced
/// come before it, and so before whatever comes after it: it stands for them. (PTX: what an operation
/// observes precedes in causality order what that operation precedes.)
void supersede(Cell& cell, const Array& array) {
    if (array.second_of(cell) >= state.first_segment && (cell.flags & Cell::second_atomic) &&
        (cell.second_pc & Cell::marked)) {
        cell.second_pc = 0;
        cell.flags &= static_cast<std::uint16_t>(~(Cell::second_atomic | Cell::apart));
    }
    if (cell.first >= state.first_segment && (cell.flags & Cell::first_atomic) &&
        (cell.first_pc & Cell::marked))
        cell.first = 0;
}

/// The current lane has fenced for whoever may see `array`.
bool has_fenced(const Now& now, const Array& array) {
    if (!state.fences) return false;
    const auto fence = now.block.fences.find(now.warp * warp_lanes + now.lane);
    const bool shared = array.memory == Memory::shared || array.memory == Memory::dynamic_shared;
    return fence != now.block.fences.end() && (shared || fence->second.device);
}

/// `reads`: it gives the old value to somebody; `writes`: it may change it.
void atomic_cell(const Now& now, Cell& cell, const Subject& subject, std::uint16_t code, bool reads,
                 bool writes) {
    if (reads && !(cell.flags & Cell::initialised)) uninitialised(subject, true);
    if (cell.write >= state.order_base && (writes || !cell.holds_read()))
        check_write_slot(now, cell, subject, false, true);
    if (writes) check_slots(now, cell, subject, false, true, true, false);
    if (reads && writes) supersede(cell, subject.array);
    if (!writes || has_fenced(now, subject.array)) code |= Cell::marked;
    remember(now, cell, subject.array, writes, code);
    if (writes) cell.flags |= Cell::initialised;
}

// ---- Fences -----------------------------------------------------------------------------------------------

/// An atomic on `address`: takes what others released there, and releases what this lane has fenced.
void synchronise(const Now& now, std::uintptr_t address, bool writes) {
    auto found = state.signals.find(address);
    if (found != state.signals.end() && !found->second.releases.empty()) {
        const Signal& signal = found->second;
        const auto count = static_cast<std::uint32_t>(signal.releases.size());
        auto& acquisitions = now.block.acquisitions;
        bool known = false;
        for (std::size_t i = acquisitions.size(); i-- > 0 && acquisitions.size() - i < 8;) {
            Acquisition& a = acquisitions[i];
            if (a.signal != &signal || a.warp != now.warp || a.lane != now.lane || a.segment != now.segment)
                continue;
            a.count = count;
            known = true;
            break;
        }
        if (!known) acquisitions.push_back({&signal, count, now.segment, now.warp, now.lane});
    }
    if (!writes || !state.fences) return;
    const auto fence = now.block.fences.find(now.warp * warp_lanes + now.lane);
    if (fence == now.block.fences.end()) return;
    Signal& signal = state.signals[address];
    Release release{now.block.number, now.warp, now.lane, fence->second, nullptr};
    std::vector<Acquisition> told;
    for (const Acquisition& a : now.block.acquisitions)
        if (a.signal != &signal && knows(now, a)) told.push_back(a);
    if (!told.empty()) release.inherited = std::make_shared<const std::vector<Acquisition>>(std::move(told));
    signal.of_block.emplace(now.block.number, static_cast<std::uint32_t>(signal.releases.size()));
    signal.releases.push_back(std::move(release));
}

// ---- Addresses --------------------------------------------------------------------------------------------

[[noreturn]] void stop_current_lane() {
    state.stopped = true;
    ++state.block->stopped;
    this_worker->stop_lane();
}

const char* kind_name(AccessKind kind) {
    switch (kind) {
        case AccessKind::read:
        case AccessKind::volatile_read:
        case AccessKind::fetch:
            return "read";
        case AccessKind::write:
        case AccessKind::volatile_write:
            return "write";
        default:
            return "atomic";
    }
}

[[gnu::noinline, gnu::cold, noreturn]] void bad(const char* what, std::uintptr_t address, std::size_t size,
                                                AccessKind kind, const Array* array, const void* pc,
                                                std::string text = {}) {
    {
        const OwnWork own;
        Report report = by_current_lane(Tool::memcheck, what, pc);
        report.access = kind_name(kind);
        report.size = size;
        report.address = address;
        report.array = array;
        report.text = std::move(text);
        record(std::move(report));
    }
    stop_current_lane();
}

/// The array of the heap nearest to an address that is in none.
const Array* nearest(std::uintptr_t address) {
    Location location;
    if (!simt::locate(reinterpret_cast<const void*>(address), &location)) return nullptr;
    return find_array(reinterpret_cast<std::uintptr_t>(location.begin));
}

/// A shared array that ends before the address, or the first one.
const Array* nearest_shared(std::uintptr_t address) {
    const Array* best = nullptr;
    for (const Array& array : state.block->shared)
        if (!best || (array.begin <= address && array.begin > best->begin)) best = &array;
    return best;
}

bool is_read_only_data(std::uintptr_t address);

/// An address that is neither the heap's nor shared: nullptr if the access does not matter.
Array* elsewhere(std::uintptr_t address, std::size_t size, AccessKind kind, const void* pc) {
    const Fiber* own = execution.lane ? execution.lane->fiber : this_worker->first();
    const auto within = [address](const Fiber& fiber) {
        return address - reinterpret_cast<std::uintptr_t>(fiber.bottom) < fiber.size;
    };
    if (own && within(*own)) return nullptr;  // locals and parameters
    // Thread-local variables of the runtime and of the C library.
    const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    if (address - (thread - 16384) < 16384 + 4096) return nullptr;
    if (Array* array = find_array(address)) return array;
    const auto closure = reinterpret_cast<std::uintptr_t>(execution.closure);
    if (address - closure < state.launch->grid.closure_bytes) return nullptr;
    const bool reads =
        kind == AccessKind::read || kind == AccessKind::volatile_read || kind == AccessKind::fetch;
    if (const Array* symbol = symbol_beside(address, false))
        bad("out-of-bounds", address, size, kind, symbol, pc);
    if (reads && is_read_only_data(address)) return nullptr;
    if (const Array* symbol = symbol_beside(address, true))
        bad("out-of-bounds", address, size, kind, symbol, pc);
    if (is_device_accessible(reinterpret_cast<const void*>(address), size)) return nullptr;  // pinned
    if (address < 65536) bad("null-pointer", address, size, kind, nullptr, pc);
    if (const Fiber* other = this_worker->fibers().holder(reinterpret_cast<const void*>(address)))
        if (within(*other)) bad("local-memory", address, size, kind, nullptr, pc);
    bad("host-memory", address, size, kind, nullptr, pc);
}

/// Memory of the runtime that inlined device code reads: texture objects.
std::vector<std::pair<std::uintptr_t, std::size_t>>& runtime_ranges() {
    static auto* ranges = new std::vector<std::pair<std::uintptr_t, std::size_t>>;
    return *ranges;
}

}  // namespace

void add_runtime_range(std::uintptr_t begin, std::size_t size) { runtime_ranges().push_back({begin, size}); }

namespace {
bool is_read_only_data(std::uintptr_t address) {
    for (const auto& [begin, size] : runtime_ranges())
        if (address - begin < size) return true;
    return in_read_only_segment(address);
}
}  // namespace

[[gnu::noinline, gnu::cold]] void resolve_pending() {
    pending.active = false;
    if (pending.has_report) {
        const OwnWork own;
        pending.has_report = false;
        const auto* now = reinterpret_cast<const void*>(pending.address);
        if (std::memcmp(pending.before, now, pending.size) == 0) pending.report.severity = Severity::note;
        record(std::move(pending.report));
    }
    if (!pending.stop || !execution.in_lane || own_work) return;
    pending.stop = false;
    Fault& fault = this_worker->fault;
    fault = {};
    fault.signal = overtime_signal;
    const int n = backtrace(const_cast<void**>(fault.callers), 16);
    fault.pc = n > 0 ? fault.callers[0] : nullptr;
    this_worker->leave_to_root();
}
void forget_to_stop() { pending.stop = false; }
void ask_to_stop() { pending.stop = pending.active = true; }
void settle_pending() {
    if (pending.active) resolve_pending();
}

Array* find_shared_array(std::uintptr_t address) {
    BlockState& block = *state.block;
    for (std::size_t i = 0; i < block.shared.size(); ++i)
        if (address - block.shared[i].begin < block.shared[i].size) {
            block.last_shared = i;
            return &block.shared[i];
        }
    return nullptr;
}

std::uint32_t new_segment(std::uint32_t block, unsigned warp) {
    state.segments.push_back({block, warp});
    return state.next_segment++;
}

std::uint32_t segment_of(BlockState& block, unsigned warp, unsigned lane) {
    WarpClock& clock = block.warps[warp];
    std::uint32_t& segment = __builtin_expect(clock.partial, 0) ? clock.lanes->segment[lane] : clock.segment;
    if (__builtin_expect(segment == 0, 0)) segment = new_segment(block.number, warp);
    return segment;
}

LaneClocks& lane_clocks(WarpClock& warp) {
    if (!warp.lanes) warp.lanes = std::make_unique<LaneClocks>();
    if (!warp.partial) {
        warp.partial = true;
        for (unsigned j = 0; j < warp_lanes; ++j) {
            for (std::uint32_t& known : warp.lanes->known[j]) known = warp.base;
            warp.lanes->segment[j] = warp.segment;
        }
    }
    return *warp.lanes;
}

Cell* map_cells(std::size_t count) {
    void* memory = mmap(nullptr, count * (sizeof(Cell) + sizeof(CellRest)), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<Cell*>(memory);
}

void unmap_cells(Cell* cells, std::size_t count) { munmap(cells, count * (sizeof(Cell) + sizeof(CellRest))); }

void split(Array& array) {
    if (array.shift == 0) return;
    // A block has cells for every byte of its shared memory.
    const bool in_place = array.memory == Memory::shared || array.memory == Memory::dynamic_shared;
    Cell* const bytes = in_place ? array.cells : map_cells(array.size);
    CellRest* const rest = in_place ? array.rest : rest_behind(bytes, array.size);
    for (std::size_t i = array.size; i-- > 0;) {
        const Cell cell = array.cells[i >> 2];
        if (in_place || (cell.flags | cell.write | cell.first) != 0) bytes[i] = cell;
        if (cell.second_pc != 0 || (cell.flags & Cell::several)) rest[i] = array.rest[i >> 2];
    }
    if (!in_place) unmap_cells(array.cells, array.cell_count());
    array.cells = bytes;
    array.rest = rest;
    array.shift = 0;
    ++state.layout;
}

// ---- Code addresses ---------------------------------------------------------------------------------------

namespace {
struct CodeTable {
    std::unordered_map<const void*, std::uint16_t> codes;
    std::vector<const void*> addresses{nullptr, nullptr};  ///< the first two are none and unknown
};
CodeTable& code_table() {
    static auto* table = new CodeTable;
    return *table;
}

std::uint16_t code_of(const void* pc) {
    CodeTable& table = code_table();
    auto [found, fresh] = table.codes.try_emplace(pc, unknown_code);
    if (fresh && table.addresses.size() < Cell::write_is_read) {
        found->second = static_cast<std::uint16_t>(table.addresses.size());
        table.addresses.push_back(pc);
    }
    return found->second;
}
}  // namespace

const void* code_address(std::uint16_t code) { return code_table().addresses[code]; }

// ---- One access -------------------------------------------------------------------------------------------

namespace {
[[gnu::noinline, gnu::cold]] void tell_observers(unsigned flat, const Subject& subject, AccessKind kind,
                                                 bool is_shared) {
    const OwnWork own;
    const bool reads =
        kind == AccessKind::read || kind == AccessKind::volatile_read || kind == AccessKind::fetch;
    const bool writes = kind == AccessKind::write || kind == AccessKind::volatile_write;
    Event event;
    event.pc = subject.pc;
    event.address = subject.address;
    event.size = subject.size;
    event.access = reads ? Access::read : writes ? Access::write : Access::atomic;
    event.space = is_shared                                  ? Space::shared
                  : kind == AccessKind::fetch                ? Space::texture
                  : subject.array.memory == Memory::constant ? Space::constant
                                                             : Space::global;
    event.block = state.block_number;
    event.warp = flat / warp_lanes;
    event.lane = flat % warp_lanes;
    event.array = subject.array.name.c_str();
    event.origin = subject.array.begin;
    for (Observer* observer : state.observers) observer->access(event);
}

/// Where a place in the code went last: mostly to the array that it goes to next.
struct alignas(64) Recent {
    const void* pc = nullptr;
    std::uintptr_t begin = 0;
    std::size_t size = 0;
    Cell* cells = nullptr;
    Array* array = nullptr;
    std::uint32_t layout = 0;  ///< State::layout then
    std::uint16_t code = 0;
    std::uint8_t shift = 2;
    bool shared = false;
    bool constant = false;
    bool plain = false;  ///< words that may be read and written, and nobody else watches: see usual()
};
Recent recent[256];

/// The array of an access, put into `entry`; nullptr if the access does not matter. Does not return if
/// it is bad.
[[gnu::noinline]] Array* classify(Recent& entry, std::uintptr_t address, std::size_t size, AccessKind kind,
                                  const void* pc) {
    if (own_work) return nullptr;
    Array* array;
    bool is_shared = false;
    if (const std::uintptr_t offset = address - state.heap_begin; offset < state.heap_size) {
        array = state.pages[offset >> page_shift];
        if (!array || !array->holds(address, size))
            bad(array && !array->live ? "use-after-free" : "out-of-bounds", address, size, kind,
                array ? array : nearest(address), pc);
        if (!array->live) bad("use-after-free", address, size, kind, array, pc);
    } else if (address - state.shared_begin < state.shared_size) {
        is_shared = true;
        array = find_shared_array(address);
        if (!array || !array->holds(address, size))
            bad("out-of-bounds", address, size, kind, array ? array : nearest_shared(address), pc);
    } else {
        array = elsewhere(address, size, kind, pc);
        if (!array) return nullptr;
        if (!array->holds(address, size)) bad("out-of-bounds", address, size, kind, array, pc);
    }
    const std::uint16_t code = entry.pc == pc ? entry.code : code_of(pc);
    entry.pc = pc;
    entry.begin = array->begin;
    entry.size = array->size;
    entry.cells = array->cells;
    entry.array = array;
    entry.layout = state.layout;
    entry.code = code;
    entry.shift = static_cast<std::uint8_t>(array->shift);
    entry.shared = is_shared;
    entry.constant = array->memory == Memory::constant;
    entry.plain = array->shift == 2 && !entry.constant && array->begin % 4 == 0 && state.observers.empty();
    return array;
}

[[gnu::noinline, gnu::cold]] void split_in(Recent& entry) {
    split(*entry.array);
    entry.cells = entry.array->cells;
    entry.shift = 0;
    entry.plain = false;
    entry.layout = state.layout;
}

constexpr StepKind step_kind(AccessKind kind) {
    switch (kind) {
        case AccessKind::read:
        case AccessKind::volatile_read:
        case AccessKind::atomic_load:
            return StepKind::read;
        case AccessKind::write:
        case AccessKind::volatile_write:
        case AccessKind::atomic_store:
            return StepKind::write;
        default:
            return StepKind::atomic;
    }
}

/// What nearly every access is: an aligned read or write of words that are initialised, that no other lane
/// accessed since the last barrier that counts, and no atomic. Does what check_fully() would do, and says
/// true; or leaves cells so that check_fully() makes no difference of it, and says false.
SIMT_DEVICE bool usual(const Recent& entry, std::uintptr_t address, std::size_t size, bool write,
                       unsigned flat) {
    const BlockState& block = *state.block;
    const WarpClock& clock = block.warps[flat / warp_lanes];
    const unsigned lane = flat % warp_lanes;
    const std::uint32_t segment = clock.segment;
    if (__builtin_expect(clock.partial || segment == 0, 0)) return false;
    const std::uint32_t horizon = entry.shared ? block.base : state.order_base;
    Cell* cell = entry.cells + ((address - entry.begin) >> 2);
    for (std::size_t i = 0; i < size / 4; ++i, ++cell) {
        const unsigned flags = cell->flags;
        if (cell->write >= horizon && (cell->write != segment || (flags & Cell::lane_mask) != lane))
            return false;
        if (cell->first >= horizon &&
            (cell->first != segment || (flags & Cell::several) || flags >> Cell::first_lane_shift != lane))
            return false;
        if (write) {
            if (cell->second_pc != 0) return false;
            cell->write = segment;
            cell->first = 0;
            cell->write_pc = entry.code;
            cell->flags = static_cast<std::uint16_t>(Cell::initialised | lane);
        } else {
            if ((flags & (Cell::initialised | Cell::first_atomic | Cell::second_atomic)) != Cell::initialised)
                return false;
            if (cell->first == segment)
                cell->first_pc = entry.code;
            else
                cell->set_first(segment, lane, entry.code);
        }
    }
    return true;
}

[[gnu::noinline]] void check_fully(Recent& entry, std::uintptr_t address, std::size_t size, AccessKind kind,
                                   bool aligned, unsigned flat) {
    const void* const pc = entry.pc;
    if (__builtin_expect(aligned && (address & (size - 1)) != 0, 0))
        bad("misaligned", address, size, kind, entry.array, pc);
    const bool writes = kind == AccessKind::write || kind == AccessKind::volatile_write ||
                        kind == AccessKind::atomic || kind == AccessKind::atomic_store;
    if (writes && __builtin_expect(entry.constant, 0))
        bad("constant-write", address, size, kind, entry.array, pc);

    BlockState& block = *state.block;
    const Now now{block, flat / warp_lanes, flat % warp_lanes,
                  segment_of(block, flat / warp_lanes, flat % warp_lanes),
                  entry.shared ? block.base : state.order_base};
    const Subject subject{*entry.array, address, size, pc};
    const std::uint16_t code = entry.code;
    const std::size_t offset = address - entry.begin;
    if (__builtin_expect(((offset | size) & 3) != 0 && entry.shift != 0, 0)) split_in(entry);
    Cell* cell = entry.cells + (offset >> entry.shift);
    Cell* const end = entry.cells + ((offset + size - 1) >> entry.shift) + 1;
    switch (kind) {
        case AccessKind::read:
        case AccessKind::fetch:
            do read_cell(now, *cell, subject, code);
            while (++cell != end);
            break;
        case AccessKind::write:
            do write_cell(now, *cell, subject, code);
            while (++cell != end);
            break;
        case AccessKind::volatile_read:
        case AccessKind::volatile_write:
            // Volatile global memory is how flags were passed before there were atomics for it; volatile
            // shared memory is how warps exchanged values when they ran in step, which they no longer do.
            if (entry.shared) {
                for (; cell != end; ++cell)
                    kind == AccessKind::volatile_read ? read_cell(now, *cell, subject, code)
                                                      : write_cell(now, *cell, subject, code);
                break;
            }
            [[fallthrough]];
        default: {
            const bool reads = kind != AccessKind::atomic_store && kind != AccessKind::volatile_write;
            for (; cell != end; ++cell) atomic_cell(now, *cell, subject, code, reads, writes);
            if (state.fences) synchronise(now, address, writes);
        }
    }
    if (__builtin_expect(!state.observers.empty(), 0)) tell_observers(flat, subject, kind, entry.shared);
}

/// check_access(), inlined where kind and size are constants.
SIMT_DEVICE void check(std::uintptr_t address, std::size_t size, AccessKind kind, bool aligned,
                       const void* pc) {
    // (The checks' own work may hold the lock of what is on record.)
    if (__builtin_expect(pending.active, 0) && !own_work) resolve_pending();
    const auto bits = reinterpret_cast<std::uintptr_t>(pc);
    Recent& entry = recent[(bits ^ bits >> 8) % 256];
    if (__builtin_expect(entry.pc != pc || entry.layout != state.layout ||
                             address - entry.begin >= entry.size ||
                             size > entry.size - (address - entry.begin),
                         0))
        if (!classify(entry, address, size, kind, pc)) return;
    const unsigned flat = state.in_a_row ? threadIdx.x : current_flat();
    const bool plain = (kind == AccessKind::read || kind == AccessKind::write) && size % 4 == 0;
    if (!plain || !entry.plain || (address & (size - 1)) != 0 ||
        !usual(entry, address, size, kind == AccessKind::write, flat))
        check_fully(entry, address, size, kind, aligned, flat);
    // A texel is counted where it would lie on a GPU: see texel_read().
    if (BlockTrace* trace = tracing; trace && kind != AccessKind::fetch)
        trace_access(*trace, flat, step_key(step_kind(kind), pc), address, static_cast<std::uint32_t>(size));
}
}  // namespace

void check_access(std::uintptr_t address, std::size_t size, AccessKind kind, bool aligned, const void* pc) {
    check(address, size, kind, aligned, pc);
}

// ---- What the host does -----------------------------------------------------------------------------------

void mark_written(std::uintptr_t address, std::size_t size) {
    if (size == 0) return;
    Array* array = find_array(address);
    if (!array || !array->live || !array->holds(address, size)) return;
    const std::size_t offset = address - array->begin;
    if ((offset & 3) != 0 || ((size & 3) != 0 && offset + size != array->size)) split(*array);
    Cell* const end = array->cells + ((offset + size - 1) >> array->shift) + 1;
    for (Cell* cell = array->cells + (offset >> array->shift); cell != end; ++cell)
        cell->flags |= Cell::initialised;
}

void mark_copied(std::uintptr_t to, std::uintptr_t from, std::size_t size) {
    Array *target = find_array(to), *source = find_array(from);
    if (!target || !source || !source->tracks_values || !target->holds(to, size) ||
        !source->holds(from, size)) {
        mark_written(to, size);
        return;
    }
    if (((to | from | size) & 3) != 0) split(*target), split(*source);
    if (target->shift != source->shift) split(*target), split(*source);
    const Cell* cell = source->cells + ((from - source->begin) >> source->shift);
    Cell* other = target->cells + ((to - target->begin) >> target->shift);
    for (std::size_t n = size >> target->shift; n-- > 0; ++cell, ++other)
        other->flags = static_cast<std::uint16_t>((other->flags & ~Cell::initialised) |
                                                  (cell->flags & Cell::initialised));
}

}  // namespace simt::check

// ---- What instrumented code calls for plain accesses; the rest is in hooks.cpp
// ----------------------------------

using namespace simt;
using namespace simt::check;

namespace {
SIMT_DEVICE void observe_access(void* p, std::size_t size, AccessKind kind, bool aligned, const void* pc) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    // The caller's frame and its nearest callers': locals and parameters. (Below a page, hence below the
    // guard page of the next stack.)
    if (address - reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < 2048) return;
    if (__builtin_expect(execution.in_lane, 1))
        simt::check::check(address, size, kind, aligned, pc);
    else if (__builtin_expect(address - state.heap_begin < state.heap_size, 0))
        host_access(address, size, kind, pc);
}
}  // namespace

extern "C" {
#define SIMT_ACCESS(size)                                                                             \
    void __tsan_read##size(void* p) { observe_access(p, size, AccessKind::read, true, SIMT_SITE); }   \
    void __tsan_write##size(void* p) { observe_access(p, size, AccessKind::write, true, SIMT_SITE); } \
    void __tsan_unaligned_read##size(void* p) {                                                       \
        observe_access(p, size, AccessKind::read, false, SIMT_SITE);                                  \
    }                                                                                                 \
    void __tsan_unaligned_write##size(void* p) {                                                      \
        observe_access(p, size, AccessKind::write, false, SIMT_SITE);                                 \
    }                                                                                                 \
    void __tsan_volatile_read##size(void* p) {                                                        \
        observe_access(p, size, AccessKind::volatile_read, true, SIMT_SITE);                          \
        simt::pause_unobserved(p);                                                                    \
    }                                                                                                 \
    void __tsan_volatile_write##size(void* p) {                                                       \
        observe_access(p, size, AccessKind::volatile_write, true, SIMT_SITE);                         \
    }                                                                                                 \
    void __tsan_unaligned_volatile_read##size(void* p) {                                              \
        observe_access(p, size, AccessKind::volatile_read, false, SIMT_SITE);                         \
    }                                                                                                 \
    void __tsan_unaligned_volatile_write##size(void* p) {                                             \
        observe_access(p, size, AccessKind::volatile_write, false, SIMT_SITE);                        \
    }                                                                                                 \
    void __tsan_read_write##size(void* p) {                                                           \
        observe_access(p, size, AccessKind::read, true, SIMT_SITE);                                   \
        observe_access(p, size, AccessKind::write, true, SIMT_SITE);                                  \
    }                                                                                                 \
    void __tsan_unaligned_read_write##size(void* p) {                                                 \
        observe_access(p, size, AccessKind::read, false, SIMT_SITE);                                  \
        observe_access(p, size, AccessKind::write, false, SIMT_SITE);                                 \
    }
SIMT_ACCESS(1)
SIMT_ACCESS(2)
SIMT_ACCESS(4)
SIMT_ACCESS(8)
SIMT_ACCESS(16)
#undef SIMT_ACCESS
}
