// Every access of a kernel comes through here: is the address good, is the value there, is it ordered.
#include <execinfo.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "check/addresses.h"
#include "check/host.h"
#include "check/order.h"
#include "runtime/crash.h"
#include "runtime/launch_state.h"
#include "runtime/report.h"
#include "runtime/worker.h"
#include "simt/atomic.h"
#include "simt/device.h"
#include "simt/inspect/control.h"

namespace simt::check {

// Before any static object of the program, which may be a variable that the checks are told of.
[[gnu::init_priority(101)]] State state;
SIMT_THREAD_LOCAL bool own_work = false;

namespace {

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
};
Lasting<Pending> the_pending;
Pending& pending = the_pending.value;

/// A plain read that met an atomic is harmless where it is the first guess of a loop of compare-and-swaps:
/// these find out whether it is still true. That is known at the lane's compare-and-swap.
struct Guess {
    bool active = false;
    std::uint64_t access = 0;  ///< number of the read
    std::uintptr_t address = 0;
    std::size_t size = 0;
    unsigned char value[8];
    Report report;
};
Lasting<Guess> the_guess;
Guess& guess = the_guess.value;
std::uint64_t accesses = 0;  ///< that check_fully() has seen

/// Says who meets in a race between the running kernel and one that has launched it.
void describe_parent(Report& report, const ParentLaunch& parent, const Segment& segment, unsigned lane) {
    report.nested = true;
    report.task.name = kernel_name(state.launch->grid);
    report.task.is_kernel = true;
    report.task.grid = state.launch->grid.grid;
    report.task.block = state.launch->grid.block;
    Grid grid;
    grid.name = parent.name;
    grid.function = parent.function;
    report.other_task.name = kernel_name(grid);
    report.other_task.is_kernel = true;
    report.other_task.grid = parent.grid;
    report.other_task.block = parent.block;
    report.other_block = segment.block;
    report.other_flat = segment.warp * warp_lanes + lane;
}

Act act_of(bool write, bool atomic) { return atomic ? Act::atomic : write ? Act::write : Act::read; }

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
    report.kind = atomic || other_atomic ? (write || other_write ? Kind::atomic_write : Kind::atomic_read)
                  : write && other_write ? Kind::write_write
                                         : Kind::read_write;
    report.pc = subject.pc;
    report.act = act_of(write, atomic);
    report.size = subject.size;
    report.flat = now.warp * warp_lanes + now.lane;
    report.block = now.block.number;
    report.array = &subject.array;
    report.address = subject.address;
    report.has_other = true;
    report.other_pc = code_address(other_code);
    report.other_act = act_of(other_write, other_atomic);
    report.other_flat = segment.warp * warp_lanes + other_lane;
    report.other_block = segment.block;
    if (const ParentLaunch* const parent = foreign ? parent_of(other) : nullptr) {
        describe_parent(report, *parent, state.segments[other - state.segments_from], other_lane);
    } else if (foreign) {
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
    if (report.kind == Kind::atomic_read && !atomic && !foreign && subject.size <= sizeof guess.value) {
        if (guess.active && guess.access == accesses) return;  // one an access is enough
        settle_guess();
        guess.active = true;
        guess.access = accesses;
        guess.address = subject.address;
        guess.size = subject.size;
        std::memcpy(guess.value, reinterpret_cast<const void*>(subject.address), subject.size);
        guess.report = std::move(report);
        return;
    }
    record(std::move(report));
}

// ---- Cells ------------------------------------------------------------------------------------------------

/// Puts an access into the two slots of `cell`. `marked`: see Cell::set_first().
[[gnu::noinline]] void remember(const Now& now, Cell& cell, const Array& array, bool atomic,
                                std::uint16_t code, bool marked) {
    const bool was_atomic = cell.first_is_atomic(), was_load = cell.first_is_load();
    const bool load = !atomic && marked;
    if (cell.first() == now.segment) {
        if (was_atomic ? atomic || load : !atomic) {
            array.add_lane(cell, now.lane);
            if (!was_atomic && !load) cell.set_first_code(cell.first_code());
        } else if (was_load) {
            array.add_lane(cell, now.lane);
            cell.set_first_code(code);
            cell.set_first_atomic();
        } else if (atomic) {  // the stronger one stays
            cell.set_first(now.segment, now.lane, code, atomic, marked);
        }
        return;
    }
    // Whatever is ordered before this access has nothing to say that this one will not.
    if (cell.first() == 0 || unordered_lane(now, cell.first(), array.lanes_of(cell)) == warp_lanes) {
        const auto first_lane = [&] { return static_cast<unsigned>(__builtin_ctz(array.lanes_of(cell))); };
        // But a read is what later atomics of others conflict with.
        if (cell.first() >= now.horizon && !was_atomic && !was_load && atomic && cell.write() < now.horizon)
            cell.move_first_to_write(first_lane());
        if (cell.first() != 0 && was_atomic && !atomic) {
            // But an atomic is a write to later readers.
            if (load && cell.write() >= now.horizon && !cell.write_is_atomic()) return;
            cell.move_first_to_write(first_lane());
        }
        cell.set_first(now.segment, now.lane, code, atomic, marked);
        return;
    }
    // The second slot: for another warp or, better, another block; an atomic's read tells less than others.
    const bool second_load = cell.second_is_load();
    const std::uint32_t other = array.second_of(cell);
    if (other == now.segment && load && !second_load) return;
    if (other >= state.order_base && (load || !second_load) && !same_warp(other, now.segment) &&
        !ordered(now, other, warp_lanes)) {
        if (cell.first() < state.first_segment || other < state.first_segment) {
            // Of two other operations, this one takes the place of the later.
        } else {
            const Segment& first = state.segments[cell.first() - state.segments_from];
            const Segment& second = state.segments[other - state.segments_from];
            if (first.block != second.block) return;
            // Of one block: the warps that share only a larger tile, or none, tell more.
            const bool further = state.tiles && std::bit_width(first.warp ^ now.warp) >
                                                    std::bit_width(first.warp ^ second.warp);
            if (first.block == now.block.number && !further) return;
        }
    }
    array.rest_of(cell).second = now.segment;
    bool apart = false;
    if (cell.first() >= state.launch_base) {
        const Segment& first = state.segments[cell.first() - state.segments_from];
        const bool shared = now.horizon != state.order_base;
        apart = first.block != now.block.number || (shared && first.warp != now.warp);
    }
    cell.set_second(code, atomic, marked, apart);
}

void check_write_slot(const Now& now, const Cell& cell, const Subject& subject, bool write, bool atomic) {
    const bool by_atomic = cell.write_is_atomic(), read = cell.write_is_read();
    if ((by_atomic && atomic) || (read && !write && !atomic) || ordered(now, cell.write(), cell.writer()))
        return;
    race(now, subject, write, atomic, cell.write(), cell.writer(), cell.write_code(), !by_atomic && !read,
         by_atomic);
}

/// Against what stands in the two slots; `reads`: plain reads there conflict, `atomics`: atomics do.
void check_slots(const Now& now, const Cell& cell, const Subject& subject, bool write, bool atomic,
                 bool reads, bool atomics) {
    const auto conflicts = [&](bool was_atomic, bool was_load) {
        return was_atomic ? atomics : reads && !(atomic && was_load);
    };
    if (cell.first() >= state.order_base && conflicts(cell.first_is_atomic(), cell.first_is_load())) {
        const unsigned lane = unordered_lane(now, cell.first(), subject.array.lanes_of(cell));
        if (lane != warp_lanes)
            race(now, subject, write, atomic, cell.first(), lane, cell.first_code(), false,
                 cell.first_is_atomic() || cell.first_is_load());
    }
    const std::uint32_t second = subject.array.second_of(cell);
    if (second >= state.order_base && conflicts(cell.second_is_atomic(), cell.second_is_load()) &&
        !same_warp(second, now.segment) && !ordered(now, second, warp_lanes))
        race(now, subject, write, atomic, second, 0, cell.second_code(), false,
             cell.second_is_atomic() || cell.second_is_load());
}

/// As far as can be told nobody will ever write this cell of a read, since no member of a structure lies
/// there: compilers write members one by one, and copy all of the structure at once. It is the rest of a word
/// of which somebody has written the beginning; or the second half of eight bytes whose first half is
/// written, beside eight bytes that were written at once.
bool is_padding(const Subject& subject, const Cell& cell) {
    if (subject.size < 8) return false;
    const Array& array = subject.array;
    const auto cell_at = [&](std::uintptr_t address) -> const Cell& {
        return array.cells[(address - array.begin) >> array.shift];
    };
    const auto written = [&](std::uintptr_t address) {  // and in this copy: an array may begin in between
        return address >= subject.address && cell_at(address).is_initialised();
    };
    const std::uintptr_t at = array.begin + (static_cast<std::uintptr_t>(&cell - array.cells) << array.shift);
    const std::uintptr_t word = at & ~std::uintptr_t{3}, eight = at & ~std::uintptr_t{7};
    if (at != word && written(word)) return true;
    if (word == eight || !written(eight)) return false;
    for (std::uintptr_t other = subject.address; other + 8 <= subject.address + subject.size; other += 8) {
        const Cell &low = cell_at(other), &high = cell_at(other + 4);
        if (other != eight && written(other) && written(other + 4) && low.has_same_write(high)) return true;
    }
    return false;
}

[[gnu::noinline, gnu::cold]] void uninitialised(const Subject& subject, const Cell& cell, bool atomic) {
    if (state.stopped || !subject.array.tracks_values || is_padding(subject, cell)) return;
    const OwnWork own;
    Report report = by_current_lane(Tool::initcheck, Kind::uninitialised, subject.pc);
    report.act = act_of(false, atomic);
    report.size = subject.size;
    report.array = &subject.array;
    report.address = subject.address;
    record(std::move(report));
}

[[gnu::noinline]] void read_against_atomics(const Now& now, const Cell& cell, const Subject& subject) {
    check_slots(now, cell, subject, false, false, false, true);
}

SIMT_DEVICE void read_cell(const Now& now, Cell& cell, const Subject& subject, std::uint16_t code) {
    if (__builtin_expect(!cell.is_initialised(), 0)) uninitialised(subject, cell, false);
    if (cell.write() >= now.horizon && !cell.is_written_by(now.segment, now.lane))
        check_write_slot(now, cell, subject, false, false);
    if (__builtin_expect(!cell.has_atomics(), 1)) {
        if (cell.first() == now.segment) {
            // The place is another lane's, if there is one: of the two, that is whom a write of
            // this one meets.
            if (cell.is_first_of(now.segment, now.lane)) {
                cell.set_first_code(code);
            } else {
                subject.array.add_lane(cell, now.lane);
                cell.set_first_code(cell.first_code());
            }
            return;
        }
        if (cell.first() < now.horizon) {
            cell.set_first(now.segment, now.lane, code);
            return;
        }
        if (const std::uint32_t second = subject.array.second_of(cell); second != 0) {
            if (second == now.segment && !cell.second_is_load()) return;
            const std::uint32_t base = std::max(now.horizon, state.launch_base);
            const bool loads = cell.first_is_load() || cell.second_is_load();
            if (cell.is_apart() && cell.first() >= base && second >= base && !state.fences && !state.tiles &&
                !loads)
                return;
        }
    } else {
        read_against_atomics(now, cell, subject);
        if (cell.first() == now.segment && !cell.first_is_atomic()) {
            subject.array.add_lane(cell, now.lane);
            cell.set_first_code(code);
            return;
        }
    }
    remember(now, cell, subject.array, false, code, false);
}

SIMT_DEVICE void write_cell(const Now& now, Cell& cell, const Subject& subject, std::uint16_t code) {
    if (cell.write() >= now.horizon && !cell.is_written_by(now.segment, now.lane))
        check_write_slot(now, cell, subject, true, false);
    if ((cell.first() >= now.horizon && !cell.is_first_of(now.segment, now.lane)) ||
        subject.array.second_of(cell) >= now.horizon)
        check_slots(now, cell, subject, true, false, true, true);
    cell.set_write(now.segment, now.lane, code);
}

/// A new atomic sees those before it at its address. Of these, the ones of this launch whose lanes had fenced
/// come before it, and so before whatever comes after it: it stands for them. (PTX: what an operation
/// observes precedes in causality order what that operation precedes.)
void supersede(Cell& cell, const Array& array) {
    if (array.second_of(cell) >= state.first_segment && cell.second_has_fenced()) cell.drop_second();
    if (cell.first() >= state.first_segment && cell.first_has_fenced()) cell.drop_first();
}

/// The current lane has fenced for whoever may see `array`, or its operation does.
bool has_fenced(const Now& now, const Array& array, const Ordering* ordering) {
    const bool shared = array.memory == Memory::shared || array.memory == Memory::dynamic_shared;
    if (ordering && ordering->releases && (shared || ordering->device)) return true;
    if (!state.fences) return false;
    const auto fence = now.block.fences.find(now.warp * warp_lanes + now.lane);
    return fence != now.block.fences.end() && (shared || fence->second.device);
}

/// `reads`: it gives the old value to somebody; `writes`: it may change it.
void atomic_cell(const Now& now, Cell& cell, const Subject& subject, std::uint16_t code, bool reads,
                 bool writes, const Ordering* ordering) {
    if (reads && !cell.is_initialised()) uninitialised(subject, cell, true);
    if (cell.write() >= state.order_base && (writes || !cell.write_is_read()))
        check_write_slot(now, cell, subject, false, true);
    if (writes) check_slots(now, cell, subject, false, true, true, false);
    if (reads && writes && (!ordering || ordering->acquires)) supersede(cell, subject.array);
    const bool marked = !writes || has_fenced(now, subject.array, ordering);
    remember(now, cell, subject.array, writes, code, marked);
    if (writes) cell.set_initialised(true);
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

void settle_guess() {
    if (!guess.active) return;
    const OwnWork own;
    guess.active = false;
    record(std::move(guess.report));
}
bool guesses() {
    return guess.active && guess.report.flat == current_flat() && guess.report.block == state.block->number;
}
void compares(const volatile void* address, const void* expected, std::size_t size) {
    if (!execution.in_lane) return host_compares(reinterpret_cast<std::uintptr_t>(address), expected, size);
    if (guesses() && guess.address == reinterpret_cast<std::uintptr_t>(address) && guess.size == size &&
        std::memcmp(guess.value, expected, size) == 0)
        guess.active = false;
}
bool gives_way(const volatile void* address) {
    if (!execution.in_lane) return false;
    const bool overstays = this_worker->overstays();
    if (!in_vain(address) && !overstays) return false;
    settle_pending();
    return true;
}

// ---- One access -------------------------------------------------------------------------------------------

namespace {
[[gnu::noinline]] void tell_observers(unsigned flat, const Subject& subject, AccessKind kind,
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
    for (Observer* observer : state.observers)
        if (!observer->block_of_accesses || *observer->block_of_accesses == event.block)
            observer->access(event);
}

/// Where a place in the code went last: mostly to the array that it goes to next.
struct alignas(64) Recent {
    const void* pc = nullptr;
    std::uintptr_t begin = 0;
    std::size_t size = 0;
    Cell* cells = nullptr;
    Array* array = nullptr;
    std::uint32_t layout = 0;  ///< State::layout then
    std::uint32_t launch = 0;  ///< State::first_segment then
    std::uint16_t code = 0;
    AccessKind kind = AccessKind::read;
    std::uint8_t shift = 2;
    bool shared = false;
    bool constant = false;
    bool plain = false;    ///< words that may be read and written: see usual()
    bool watched = false;  ///< by observers
};
Recent recent[256];

std::uint32_t guessed_in = 0;  ///< State::first_segment of the last access whose array was guessed

/// Points the entry to the cells of the part of the array that it covers: of all of it or, in a large array,
/// of the pieces that an access has touched.
void take_cells(Recent& entry) {
    const Array& array = *entry.array;
    entry.cells = array.cells + ((entry.begin - array.begin) >> array.shift);
    entry.shift = static_cast<std::uint8_t>(array.shift);
    entry.layout = state.layout;
}

/// The array that a place in the code went to before in this launch; nullptr: that is not known.
const Array* array_before(const Recent& entry, AccessKind kind, const void* pc) {
    if (entry.pc != pc || entry.kind != kind || entry.launch != state.first_segment) return nullptr;
    if (!entry.shared) return find_array(entry.begin);
    return entry.layout == state.layout ? entry.array : nullptr;
}

/// An access is beside all arrays: it has missed the one that its place in the code went to before in this
/// launch, else most likely the nearest.
[[noreturn, gnu::noinline, gnu::cold]] void beside(const Recent& entry, std::uintptr_t address,
                                                   std::size_t size, AccessKind kind, const Array* nearest,
                                                   const void* pc) {
    if (const Wrapped index = wrapped(address, size); index.array)
        bad(Kind::out_of_bounds, address, size, kind, index.array, pc, false, index.index);
    const Array* const before = array_before(entry, kind, pc);
    if (!before) guessed_in = state.first_segment;
    bad(Kind::out_of_bounds, address, size, kind, before ? before : nearest, pc, !before);
}

/// The array of the heap that begins before `address` and is the nearest to it.
const Array* live_below(std::uintptr_t address) {
    const auto above = state.live.upper_bound(address);
    return above == state.live.begin() ? nullptr : std::prev(above)->second;
}

/// The array of an access, put into `entry`; nullptr if the access does not matter. Does not return if
/// it is bad.
[[gnu::noinline]] Array* classify(Recent& entry, std::uintptr_t address, std::size_t size, AccessKind kind,
                                  const void* pc) {
    if (own_work) return nullptr;
    Array* array;
    bool is_shared = false;
    if (const std::uintptr_t offset = address - state.heap_begin; offset < state.heap_size) {
        array = state.pages[offset >> page_shift];
        if (array && !array->live) {
            // In the pages of a freed array, but before it: an index of another one has come there.
            const Array* const other = address < array->begin ? live_below(address) : nullptr;
            if (!other && !wrapped(address, size).array)
                bad(Kind::use_after_free, address, size, kind, array, pc);
            beside(entry, address, size, kind, other, pc);
        }
        if (!array) array = below_zero(address, size);
        if (!array || !array->holds(address, size))
            beside(entry, address, size, kind, array ? array : nearest(address), pc);
    } else if (address - state.shared_begin < state.shared_size) {
        is_shared = true;
        array = find_shared_array(address);
        if (!array || !array->holds(address, size))
            beside(entry, address, size, kind, array ? array : nearest_shared(address), pc);
    } else {
        array = elsewhere(address, size, kind, array_before(entry, kind, pc), pc);
        if (!array) return nullptr;
        if (!array->holds(address, size)) bad(Kind::out_of_bounds, address, size, kind, array, pc);
    }
    if (guessed_in == state.first_segment) correct_guesses(pc, act_of(kind), *array);
    const std::uint16_t code = entry.pc == pc ? entry.code : code_of(pc);
    entry.pc = pc;
    entry.begin = array->begin;
    entry.size = array->size;
    if (!array->pieces.empty()) {
        constexpr std::size_t piece = std::size_t{1} << piece_shift;
        const std::size_t offset = address - array->begin;
        make_cells(*array, offset, size);
        entry.begin += offset / piece * piece;
        entry.size =
            std::min((offset + size + piece - 1) / piece * piece, array->size) - offset / piece * piece;
    }
    entry.array = array;
    take_cells(entry);
    entry.launch = state.first_segment;
    entry.code = code;
    entry.kind = kind;
    entry.shared = is_shared;
    entry.constant = array->memory == Memory::constant;
    entry.plain = array->shift == 2 && !entry.constant && array->begin % 4 == 0;
    entry.watched = !state.observers.empty();
    return array;
}

[[gnu::noinline, gnu::cold]] void split_in(Recent& entry) {
    split(*entry.array);
    take_cells(entry);
    entry.plain = false;
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
        if (cell->write() >= horizon && !cell->is_written_by(segment, lane)) return false;
        if (cell->first() >= horizon && !cell->is_first_of(segment, lane)) return false;
        if (write) {
            if (cell->has_second()) return false;
            cell->set_write(segment, lane, entry.code);
        } else {
            if (!cell->is_plain()) return false;
            if (cell->first() == segment)
                cell->set_first_code(entry.code);
            else
                cell->set_first(segment, lane, entry.code);
        }
    }
    return true;
}

[[gnu::noinline]] void check_fully(Recent& entry, std::uintptr_t address, std::size_t size, AccessKind kind,
                                   bool aligned, unsigned flat) {
    const void* const pc = entry.pc;
    ++accesses;
    if (__builtin_expect(aligned && (address & (size - 1)) != 0, 0))
        bad(Kind::misaligned, address, size, kind, entry.array, pc);
    const bool writes = kind == AccessKind::write || kind == AccessKind::volatile_write ||
                        kind == AccessKind::atomic || kind == AccessKind::atomic_store;
    if (writes && __builtin_expect(entry.constant, 0))
        bad(Kind::constant_write, address, size, kind, entry.array, pc);

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
            const Ordering said = std::exchange(state.ordering, {});
            const Ordering* const ordering = said.address == address ? &said : nullptr;
            for (; cell != end; ++cell) atomic_cell(now, *cell, subject, code, reads, writes, ordering);
            if (state.fences || (ordering && ordering->releases))
                synchronise(now, address, reads, writes, ordering);
        }
    }
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
                         0)) {
        if (is_own(address) || !classify(entry, address, size, kind, pc)) return;
    }
    const unsigned flat = state.in_a_row ? threadIdx.x : current_flat();
    const bool plain = (kind == AccessKind::read || kind == AccessKind::write) && size % 4 == 0;
    if (!plain || !entry.plain || (address & (size - 1)) != 0 ||
        !usual(entry, address, size, kind == AccessKind::write, flat))
        check_fully(entry, address, size, kind, aligned, flat);
    if (__builtin_expect(entry.watched, 0))
        tell_observers(flat, {*entry.array, address, size, pc}, kind, entry.shared);
    // A texel is counted where it would lie on a GPU: see texel_read().
    if (BlockTrace* trace = tracing; trace && kind != AccessKind::fetch)
        trace_access(*trace, flat, step_key(step_kind(kind), pc), address, static_cast<std::uint32_t>(size));
}
}  // namespace

void check_access(std::uintptr_t address, std::size_t size, AccessKind kind, bool aligned, const void* pc) {
    check(address, size, kind, aligned, pc);
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
    if (address - reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < 2048) {
        if (__builtin_expect(garbage.holds(address), 0) && !execution.in_lane)
            access_by_host(address, size, kind, pc);
        return;
    }
    if (is_thread_local(address)) return;  // threadIdx, above all
    if (__builtin_expect(execution.in_lane, 1))
        simt::check::check(address, size, kind, aligned, pc);
    else if (__builtin_expect(concerns_host(address), 0))
        access_by_host(address, size, kind, pc);
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
        if (gives_way(p)) yield_lane_at(SIMT_SITE);                                                   \
        observe_access(p, size, AccessKind::volatile_read, true, SIMT_SITE);                          \
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
