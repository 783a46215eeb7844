// What the runtime reports as it runs: launches, blocks, synchronisation, memory.
#include <execinfo.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "check/host.h"
#include "check/order.h"
#include "runtime/heap.h"
#include "runtime/launch_state.h"
#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/worker.h"
#include "simt/atomic.h"
#include "simt/device.h"
#include "simt/phase.h"
#include "simt/shared.h"
#include "simt/symbol.h"
#include "simt/warp.h"

namespace simt {
namespace check {
void forget_to_stop();
void add_runtime_range(std::uintptr_t begin, std::size_t size);

namespace {

/// Variables at namespace scope, by address. Never destroyed: they unregister at the program's end.
struct Symbols {
    std::mutex mutex;
    std::map<std::uintptr_t, std::unique_ptr<Array>> arrays;
    std::map<std::uintptr_t, std::size_t> zones;  ///< begin and size of red zones
};
Symbols& symbols() {
    static auto* instance = new Symbols;
    return *instance;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

CallStack call_stack() {
    CallStack stack{};
    void* frames[16];
    const int n = backtrace(frames, 16);
    // The innermost are this file's and the heap's.
    for (int i = 2; i < n && i - 2 < static_cast<int>(stack.size()); ++i)
        stack[static_cast<std::size_t>(i) - 2] = frames[i];
    return stack;
}

/// Reserves the table of pages when the first allocation is made.
void know_heap() {
    if (state.pages) return;
    const Heap& h = heap();
    const std::size_t pages = (h.end() - h.begin()) >> page_shift;
    void* memory = mmap(nullptr, pages * sizeof(Array*), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    state.pages = static_cast<Array**>(memory);
    state.heap_begin = h.begin();
    state.heap_size = h.end() - h.begin();
}

/// All accesses of the past are ordered before those to come: numbers may start again.
void restart_segments() {
    const auto forget = [](Array& array) {
        for_cells(array, 0, array.live ? array.size : 0, [](Cell& cell, std::size_t, bool) {
            cell.forget_accesses();
            return true;
        });
    };
    for (auto& [address, array] : state.live) forget(*array);
    std::lock_guard lock(symbols().mutex);
    for (auto& [address, array] : symbols().arrays) forget(*array);
    state.next_segment = 1;
    forget_order();
    forget_launches();
}

}  // namespace

BlockState::~BlockState() {
    if (cells) unmap_cells(cells, cell_count);
}

Array* find_array(std::uintptr_t address) {
    if (address - state.heap_begin < state.heap_size)
        return state.pages[(address - state.heap_begin) >> page_shift];
    if (address - state.symbols_begin >= state.symbols_size) return nullptr;
    Symbols& s = symbols();
    std::lock_guard lock(s.mutex);
    auto found = s.arrays.upper_bound(address);
    if (found == s.arrays.begin()) return nullptr;
    --found;
    return address - found->first < found->second->size ? found->second.get() : nullptr;
}

void add_red_zone(std::uintptr_t begin, std::size_t size) {
    Symbols& s = symbols();
    std::lock_guard lock(s.mutex);
    s.zones[begin] = size;
}

const Array* symbol_beside(std::uintptr_t address, bool anywhere) {
    constexpr std::uintptr_t few = 64;
    Symbols& s = symbols();
    std::lock_guard lock(s.mutex);
    auto zone = s.zones.upper_bound(address);
    const bool in_zone =
        zone != s.zones.begin() && address - std::prev(zone)->first < std::prev(zone)->second;
    if (!in_zone && !anywhere) return nullptr;
    const auto after = s.arrays.upper_bound(address);
    const Array* above = after == s.arrays.end() ? nullptr : after->second.get();
    const Array* below = after == s.arrays.begin() ? nullptr : std::prev(after)->second.get();
    const std::uintptr_t to_above = above ? above->begin - address : ~std::uintptr_t{0};
    const std::uintptr_t to_below = below ? address - (below->begin + below->size) : ~std::uintptr_t{0};
    if (!in_zone && std::min(to_above, to_below) >= few) return nullptr;
    return to_above < to_below ? above : below;
}

CallStack calls_up_to(const void* innermost) {
    CallStack stack{};
    void* frames[32];
    const int n = backtrace(frames, 32);
    void** const found = innermost ? std::find(frames, frames + n, innermost) : frames + std::min(n, 2);
    std::copy_n(found, std::min<std::ptrdiff_t>(frames + n - found, stack.size()), stack.begin());
    return stack;
}

Report by_current_lane(Tool tool, Kind kind, const void* pc) {
    Report report{};
    report.tool = tool;
    report.kind = kind;
    report.pc = pc;
    report.flat = current_flat();
    report.block = state.block ? state.block->number : 0;
    return report;
}

void add_observer(Observer& observer) {
    state.observers.push_back(&observer);
    ++state.layout;
}
void remove_observer(Observer& observer) {
    std::erase(state.observers, &observer);
    ++state.layout;
}

void narrow(const void* pointer, std::size_t bytes, const char* name, bool written) {
    Array* array = find_array(number(pointer));
    if (!array || !array->live || !array->holds(number(pointer), bytes)) return;
    unmap_cells(array->cells, array->cell_count());
    state.live.erase(array->begin);
    array->begin = number(pointer);
    array->size = bytes;
    array->name = name;
    give_cells(*array);
    state.live[array->begin] = array;
    ++state.layout;
    if (written) mark_written(array->begin, bytes);
}

std::size_t unwritten(const void* pointer, std::size_t bytes) {
    std::size_t count = 0;
    for (std::uintptr_t a = number(pointer); a != number(pointer) + bytes; ++a) {
        const Array* array = find_array(a);
        if (array && array->live && array->holds(a, 1) && array->tracks_values)
            count += !array->is_written(a - array->begin);
    }
    return count;
}

}  // namespace check

using namespace check;

// ---- Device code's own calls ------------------------------------------------------------------------------

void wide_shift(long long amount, unsigned width) {
    if (!execution.in_lane || state.stopped) return;
    const OwnWork own;
    Report report = by_current_lane(Tool::memcheck, Kind::wide_shift, SIMT_SITE);
    report.severity = Severity::warning;
    const auto taken = static_cast<unsigned>(amount);
    report.text =
        "a shift by " + std::to_string(amount) + " of a number of " + std::to_string(width) +
        " bits: a GPU " +
        (width <= 64 && taken < width ? "takes 32 bits of the amount, and shifts by " + std::to_string(taken)
                                      : "shifts all of them out");
    record(std::move(report));
}
bool runs_lane_unobserved() { return execution.in_lane; }
void pause_unobserved(const volatile void* address) {
    if (gives_way(address)) yield_lane_at(SIMT_SITE);
}
void changed_unobserved(const volatile void* address) {
    changed(address);
    if (!execution.in_lane) return;
    const bool global = !execution.block->owns(const_cast<const void*>(address));
    const bool stops = global && this_worker->turn_ends() && !guesses();
    if (!stops && !this_worker->overstays()) return;
    settle_pending();
    if (stops)
        carry_out(this_worker->set_aside(SIMT_SITE));
    else
        yield_lane_at(SIMT_SITE);
}

#define SIMT_EXCHANGE(T)                                                                   \
    bool exchange_unobserved(T* address, T* old, T desired) {                              \
        return __atomic_compare_exchange_n(address, old, desired, false, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST);                              \
    }
SIMT_EXCHANGE(std::uint16_t)
SIMT_EXCHANGE(std::uint32_t)
SIMT_EXCHANGE(std::uint64_t)
#undef SIMT_EXCHANGE

/// Where the current lane stands, once its last access is settled.
static Now current_now() {
    settle_pending();
    BlockState& block = *state.block;
    const unsigned flat = current_flat(), warp = flat / warp_lanes, lane = flat % warp_lanes;
    return {block, warp, lane, segment_of(block, warp, lane), state.order_base};
}

static void fence(bool device, bool acquires, bool releases) {
    if (!execution.in_lane) return;
    settle_pending();
    BlockState& block = *state.block;
    if (acquires && !block.relaxed.empty()) acquire_relaxed(current_now(), device);
    const unsigned flat = current_flat();
    if (releases) block.fences[flat] = make_fence(block, flat, device);
    pause(&execution);
}
void fence(bool device) { fence(device, true, true); }

static Ordering ordering_of(const volatile void* address, int order, Reach reach) {
    const bool orders = reach != Reach::thread;
    return {reinterpret_cast<std::uintptr_t>(address),
            orders && order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE,
            orders && (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST),
            reach == Reach::device};
}
void order_unobserved(const volatile void* address, int order, Reach reach) {
    if (execution.in_lane) state.ordering = ordering_of(address, order, reach);
}
void exchange_order_unobserved(const volatile void* address, const void* expected, std::size_t size,
                               int order, int failure, Reach reach) {
    if (!execution.in_lane) return;
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    const Array* array = find_array_in_kernel(place);
    const bool known = array && array->live && array->holds(place, size);
    const bool fails = known && std::memcmp(const_cast<const void*>(address), expected, size) != 0;
    state.ordering = ordering_of(address, fails ? failure : order, reach);
}
void fence_unobserved(int order, Reach reach) {
    if (!execution.in_lane) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const Ordering ordering = ordering_of(nullptr, order, reach);
    if (ordering.acquires || ordering.releases) fence(ordering.device, ordering.acquires, ordering.releases);
}

static Array& add_shared(BlockState& block, const void* memory, std::size_t size, const char* name,
                         SharedShape shape, Memory kind) {
    Array array;
    array.begin = number(memory);
    array.size = size;
    array.shape = shape;
    array.name = name;
    array.memory = kind;
    array.shift = shape.element % 4 == 0 ? 2 : 0;
    array.cells = block.cells + (array.begin - state.shared_begin);
    ++state.layout;
    array.rest = block.rest + (array.begin - state.shared_begin);
    std::memset(static_cast<void*>(array.cells), 0, array.cell_count() * sizeof(Cell));
    block.shared.push_back(std::move(array));
    return block.shared.back();
}

void* find_shared(SharedKey& key, const char* name, std::size_t size, std::size_t alignment,
                  SharedShape shape) {
    if (execution.in_lane) {
        const SharedMark mark = execution.marks[__atomic_load_n(&key.index, __ATOMIC_RELAXED)];
        if (mark.serial == execution.serial) return execution.static_shared + mark.offset;
    }
    const void* site = __builtin_return_address(0);
    const OwnWork own;
    settle_pending();
    void* memory = allocate_shared(key, name, size, alignment, site);
    add_shared(*state.block, memory, size, name, shape, Memory::shared);
    return memory;
}

void* find_dynamic_shared(const char* name) {
    if (!execution.in_lane) return nullptr;
    const auto same = [&](const char* other) { return other == name || std::strcmp(other, name) == 0; };
    if (std::none_of(state.dynamic_names.begin(), state.dynamic_names.end(), same))
        state.dynamic_names.push_back(name);
    if (execution.dynamic_serial == execution.serial) return execution.dynamic_shared;
    const OwnWork own;
    settle_pending();
    void* memory = prepare_dynamic_shared();
    add_shared(*state.block, memory, state.launch->grid.dynamic_shared, "dynamic shared memory", {4, 0},
               Memory::dynamic_shared);
    return memory;
}

// ---- Events -----------------------------------------------------------------------------------------------

namespace observe {

Unobserved::Unobserved() : before(own_work) { own_work = true; }
Unobserved::~Unobserved() { own_work = before; }

void launch_begins(const Launch& launch) {
    know_heap();
    if (state.next_segment > std::uint32_t{1} << 31) restart_segments();
    own_work = false;
    state.launch = &launch;
    state.in_a_row = launch.grid.block.y == 1 && launch.grid.block.z == 1;
    state.kernel = nullptr;
    state.first_segment = state.launch_base = state.next_segment;
    operation_is_kernel(launch);
    note_launch(launch);
    check::forget_to_stop();
    // Who was who in earlier launches is asked only if these are unordered with others.
    constexpr std::size_t few = 1 << 20, many = 1 << 25;
    if (state.segments.size() > (state.order_base == state.next_segment ? few : many)) {
        state.segments.clear();
        state.segments_from = state.next_segment;
    }
    if (state.parents.empty()) {  // whose signals say what came before
        state.signals.clear();
        state.releases = 0;
    }
    state.ordering = {};
    state.lane_launches.clear();
    state.phases.clear();
    state.fences = state.tiles = false;
    state.dynamic_names.clear();
    state.block = nullptr;
    ++state.layout;
    counted::launch_begins(launch);
    if (!state.observers.empty()) {
        const std::string name = kernel_name(launch.grid);
        for (Observer* o : state.observers)
            o->launch_begins(name.c_str(), launch.grid.grid, launch.grid.block);
    }
}

/// The launch that has ended last.
static struct Launched {
    const char* name = nullptr;
    const void* function = nullptr;
    dim3 grid, block;
} last_launch;

void launch_ends(const Launch& launch) {
    last_launch = {launch.grid.name, launch.grid.function, launch.grid.grid, launch.grid.block};
    own_work = false;
    settle_pending();
    settle_guess();
    counted::launch_ends();
    for (Observer* o : state.observers) o->launch_ends();
    state.launch = nullptr;
    state.block = nullptr;
    state.shared_size = 0;
    kernel_has_ended();
}

void lane_launches(bool tail) {
    const OwnWork own;
    const Now now = current_now();
    if (!tail) state.lane_launches.push_back(launch_point(now));
}
void nested_launches_begin() {
    const Launched& ended = last_launch;
    state.parents.push_back({state.first_segment, state.next_segment, ended.name, ended.function, ended.grid,
                             ended.block, state.signals_forgotten, std::move(state.lane_launches)});
    state.lane_launches.clear();
}
void nested_launch_begins(bool tail) {
    ParentLaunch& parent = state.parents.back();
    parent.tail = tail;
    if (!tail) ++parent.begun;
}
void nested_launches_end() { state.parents.pop_back(); }

void block_begins(Block& block, std::uint64_t number_of_block) {
    settle_pending();
    if (!block.checked) {
        // A block of the scheduler lives as long as its thread does.
        block.checked = new BlockState;
        BlockState& fresh = *block.checked;
        fresh.cell_count =
            static_cast<std::size_t>(block.dynamic_shared + shared_limit - block.static_shared);
        fresh.cells = map_cells(fresh.cell_count);
        fresh.rest = rest_behind(fresh.cells, fresh.cell_count);
    }
    BlockState& b = *block.checked;
    b.number = static_cast<std::uint32_t>(number_of_block);
    b.base = state.next_segment;
    const unsigned warps = (state.launch->lanes + warp_lanes - 1) / warp_lanes;
    for (unsigned w = 0; w < warps; ++w) {
        b.warps[w].segment = 0;
        b.warps[w].base = b.base;
        b.warps[w].partial = false;
    }
    b.shared.clear();
    b.sites.clear();
    block.last_site = nullptr;
    block.at_last_site = 0;
    if (b.acquisitions.use_count() == 1)
        b.acquisitions->clear();
    else
        b.acquisitions = std::make_shared<Acquisitions>();
    b.released_at = 0;
    b.signals = state.signals_forgotten;
    b.relaxed.clear();
    b.told.clear();
    state.phases.erase(state.phases.lower_bound(number(block.static_shared)),
                       state.phases.lower_bound(number(block.dynamic_shared + shared_limit)));
    if (!b.fences.empty()) b.fences.clear();
    if (std::exchange(b.has_met, false)) std::fill_n(b.met, max_block_warps, WarpsMet{});
    b.stopped = 0;
    const OwnWork own;
    counted::block_begins(b, number_of_block);
    for (Observer* o : state.observers) o->block_begins(number_of_block);
}

void block_continues(Block& block) {
    settle_pending();
    state.block = block.checked;
    state.block_number = block.checked->number;
    ++state.layout;
    tracing = state.counting ? block.checked->trace.get() : nullptr;
    state.shared_begin = number(block.static_shared);
    state.shared_size = static_cast<std::size_t>(block.dynamic_shared + shared_limit - block.static_shared);
}

/// Adds those to the list who came the same way as the one before them.
static void settle_sites(Block& block) {
    for (BarrierSite& s : block.checked->sites)
        if (s.site == block.last_site && s.kind == block.last_kind) s.lanes += block.at_last_site;
    block.last_site = nullptr;
    block.at_last_site = 0;
}

void barrier_reached(Block& block, int kind, const void* site) {
    settle_sites(block);
    block.last_site = site;
    block.last_kind = kind;
    auto& sites = block.checked->sites;
    for (BarrierSite& s : sites)
        if (s.site == site && s.kind == kind) {
            ++s.lanes;
            return;
        }
    sites.push_back({site, kind, 1, current_flat()});
}

/// `exited` of `all` had exited when the others waited, of whom thread `flat` did at `site`.
static void exited_before(unsigned exited, unsigned all, const char* who, unsigned flat, const void* site) {
    Report report = by_current_lane(Tool::synccheck, Kind::exited_threads, site);
    report.flat = flat;
    report.act = Act::barrier;
    report.text =
        std::to_string(exited) + " of " + std::to_string(all) + who + " had exited when the others waited";
    record(std::move(report));
}

void barrier_completes(Block& block) {
    settle_pending();
    settle_sites(block);
    BlockState& b = *block.checked;
    const OwnWork own;
    if (b.sites.size() > 1 && b.stopped == 0) {
        std::sort(b.sites.begin(), b.sites.end(),
                  [](const BarrierSite& x, const BarrierSite& y) { return x.site < y.site; });
        for (std::size_t i = 1; i < b.sites.size(); ++i) {
            Report report = by_current_lane(Tool::synccheck, Kind::divergent_barrier, b.sites[0].site);
            report.flat = b.sites[0].first;
            report.act = report.other_act = Act::barrier;
            report.has_other = true;
            report.other_pc = b.sites[i].site;
            report.other_flat = b.sites[i].first;
            report.other_block = b.number;
            const unsigned here = b.sites[0].lanes;
            report.text = std::to_string(here) + (here == 1 ? " thread is" : " threads are") +
                          " at one barrier and " + std::to_string(b.sites[i].lanes) + " at another";
            record(std::move(report));
        }
    }
    if (block.live != block.total && b.stopped == 0 && !b.sites.empty())
        exited_before(block.total - block.live, block.total, " threads", b.sites[0].first, b.sites[0].site);
    b.sites.clear();
    b.base = state.next_segment;
    for (unsigned w = 0; w * warp_lanes < block.total; ++w) {
        b.warps[w].segment = 0;
        b.warps[w].base = b.base;
        b.warps[w].partial = false;
    }
    share_told(b);
    counted::barrier(block);
    for (Observer* o : state.observers) o->block_synchronised(b.number);
}

void grid_barrier_completes() {
    state.launch_base = state.next_segment;
    counted::grid_barrier();
}

void phase_reached(const void* word, const void* site) {
    check_access(check::number(word), sizeof(PhaseWord), AccessKind::atomic, true, site);
    state.fences = true;
    arrive(current_now(), state.phases[check::number(word)]);
}

void phase_completes(const void* word) {
    learn(current_now(), std::make_shared<Knowledge>(state.phases[check::number(word)].arrived));
}

void phase_ends(const void* word) {
    PhaseRecord& phase = state.phases[check::number(word)];
    arrive(current_now(), phase);
    phase.ended = std::make_shared<Knowledge>(phase.arrived);
}

void phase_awaited(const void* word, const void* site) {
    check_access(check::number(word), sizeof(PhaseWord), AccessKind::atomic_load, true, site);
    learn(current_now(), state.phases[check::number(word)].ended);
}

void lane_exits() { counted::exit(); }

void warp_completes(Block& block, unsigned w, unsigned lanes, unsigned operation) {
    settle_pending();
    counted::warp_operation(operation);
    BlockState& b = *block.checked;
    WarpClock& warp = b.warps[w];
    if (static_cast<WarpOperation>(operation) != WarpOperation::sync) {
        // Shuffles, votes, matches and reductions exchange registers; they order no memory.
    } else if (lanes == block.warps[w].live) {
        warp.segment = 0;
        warp.base = state.next_segment;
        warp.partial = false;
    } else {
        LaneClocks& clocks = lane_clocks(warp);
        const std::uint32_t next = state.next_segment;
        std::uint32_t joint[warp_lanes] = {};
        for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
            for (unsigned i = 0; i < warp_lanes; ++i) joint[i] = std::max(joint[i], clocks.known[lane][i]);
        }
        for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
            joint[static_cast<unsigned>(__builtin_ctz(rest))] = next;
        // The lanes that met share a segment until they part.
        const std::uint32_t segment = new_segment(b.number, w);
        for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
            std::copy_n(joint, warp_lanes, clocks.known[lane]);
            clocks.segment[lane] = segment;
        }
    }
    if (static_cast<WarpOperation>(operation) == WarpOperation::sync) share_told(b, w * warp_lanes, lanes);
    const OwnWork own;
    for (Observer* o : state.observers) o->warp_synchronised(b.number, w, lanes);
}

void tiles_made() { state.tiles = true; }

void tile_completes(Block& block, unsigned first, unsigned warps, unsigned operation) {
    settle_pending();
    BlockState& b = *block.checked;
    WarpOperation alike = WarpOperation::any;
    switch (static_cast<TileOperation>(operation)) {
        case TileOperation::sync: {
            alike = WarpOperation::sync;
            const std::uint32_t next = state.next_segment;
            WarpsMet joint = {};
            for (unsigned w = first; w != first + warps; ++w)
                for (unsigned v = 0; v < max_block_warps; ++v) joint[v] = std::max(joint[v], b.met[w][v]);
            std::fill_n(joint.begin() + first, warps, next);
            for (unsigned w = first; w != first + warps; ++w) {
                b.met[w] = joint;
                b.warps[w].segment = 0;
                b.warps[w].base = next;
                b.warps[w].partial = false;
            }
            b.has_met = true;
            share_told_in_tile(b, first, warps);
            break;
        }
        case TileOperation::shuffle:
        case TileOperation::broadcast:
            alike = WarpOperation::shuffle;
            break;
        default:
            break;
    }
    for (unsigned w = first; w != first + warps; ++w) counted::warp_operation(static_cast<unsigned>(alike));
    const OwnWork own;
    unsigned live = 0, flat = 0;
    for (unsigned w = first + warps; w-- != first;) {
        const unsigned lanes = block.warps[w].live;
        live += static_cast<unsigned>(std::popcount(lanes));
        if (lanes != 0) flat = w * warp_lanes + static_cast<unsigned>(std::countr_zero(lanes));
        for (Observer* o : state.observers) o->warp_synchronised(b.number, w, lanes);
    }
    const unsigned all = warps * warp_lanes;
    if (live != all && b.stopped == 0)
        exited_before(all - live, all, " threads of a tile", flat, block.lanes[flat].site);
}

void wrong_mask(unsigned mask, const void* site) {
    const OwnWork own;
    Report report = by_current_lane(Tool::synccheck, Kind::wrong_mask, site);
    char text[96];
    std::snprintf(text, sizeof text,
                  "the mask 0x%08x of a warp operation does not name lane %u, which calls it", mask,
                  current_flat() % warp_lanes);
    report.text = text;
    record(std::move(report));
    state.stopped = true;
    ++state.block->stopped;
}

void stray_shuffle(bool exited, const void* site) {
    if (state.block->stopped != 0) return;
    const OwnWork own;
    Report report = by_current_lane(Tool::synccheck, Kind::inactive_lane, site);
    // A kernel may do without a value that the mask does not promise; if it does not, its results show that.
    if (!exited) report.severity = Severity::warning;
    report.text = std::string("a shuffle reads a lane that ") +
                  (exited ? "its mask names but that has exited" : "takes no part in it") +
                  ": the value is undefined";
    record(std::move(report));
}

static void record_end(Report report, const char* text) {
    own_work = true;  // until the launch has ended: what follows only reports
    tracing = nullptr;
    report.text = text;
    record(std::move(report));
    state.stopped = true;
}

void failed(Kind kind, Cause cause, const char* text, const void* site) {
    const bool by_lane = kind == Kind::crash || kind == Kind::assertion;
    Report report = by_current_lane(by_lane ? Tool::memcheck : Tool::synccheck, kind, site);
    report.cause = cause;
    record_end(std::move(report), text);
}

void interrupted(Kind kind, Cause cause, const char* text, const void* const* callers) {
    Report report = by_current_lane(Tool::memcheck, kind, nullptr);
    report.cause = cause;
    for (const void*& frame : report.stack)
        if (!(frame = *callers++)) break;
    record_end(std::move(report), text);
}

void ask_to_stop() { check::ask_to_stop(); }

void refused(Cause cause, const char* text) {
    Report report{};
    report.tool = Tool::memcheck;
    report.kind = Kind::refused_launch;
    report.cause = cause;
    report.on_host = true;
    report.text = text;
    report.stack = call_stack();
    call_is_recorded();
    record(std::move(report));
    note_refusal();
}

void copy_disagrees(const void* pointer, const char* kind) {
    Report report{};
    report.tool = Tool::memcheck;
    report.severity = Severity::warning;
    report.kind = Kind::copy_direction;
    report.on_host = true;
    report.array = find_array(number(pointer));
    report.address = number(pointer);
    report.text = kind;
    report.stack = call_stack();
    record(std::move(report));
}

void allocated(const void* pointer, std::size_t size, unsigned char kind) {
    know_heap();
    auto* array = new Array;
    array->begin = number(pointer);
    array->size = size;
    array->memory = kind == static_cast<unsigned char>(Location::Kind::managed)  ? Memory::managed
                    : kind == static_cast<unsigned char>(Location::Kind::pinned) ? Memory::pinned
                                                                                 : Memory::device;
    array->on_host = array->memory != Memory::device;
    array->tracks_values = !array->on_host;
    give_cells(*array);
    array->serial = state.allocations++;
    array->made_at = call_stack();
    ++state.layout;
    state.live[array->begin] = array;
    for (std::uintptr_t page = (array->begin - state.heap_begin) >> page_shift;
         page <= (array->begin + size - 1 - state.heap_begin) >> page_shift; ++page)
        state.pages[page] = array;
}

void named(const void* pointer, const char* text) {
    if (Array* array = find_array(number(pointer))) array->name = text;
}

void released(const void* pointer) {
    Array* array = find_array(number(pointer));
    if (!array) return;
    operation_frees(*array);
    unmap_cells(array->cells, array->cell_count());
    array->cells = nullptr;
    array->live = false;
    if (array->from_kernel) state.device_heap_used -= array->size;
    ++state.layout;
    state.live.erase(array->begin);
    array->freed_at = call_stack();
}

/// What there is at an address that `function` cannot free, as a sentence.
static std::string unfreeable(const void* pointer, const char* function, const Array* array) {
    const std::string is_given = std::string(function) + " is given ";
    const std::string name = array && !array->name.empty() ? array->name : "an array";
    if (!array)
        return is_given + (is_device_address(number(pointer)) ? "an address that belongs to no allocation"
                                                              : "memory of the host, or of nobody");
    if (array->memory == Memory::symbol || array->memory == Memory::constant)
        return is_given + array->name + ", a variable of the device, which nobody allocated";
    if (!array->live) return is_given + name + ", which has been freed";
    if (array->begin != number(pointer))
        return is_given + "an address " + std::to_string(number(pointer) - array->begin) + " bytes into " +
               name + ": only its beginning can be freed";
    if (array->from_kernel)
        return is_given +
               "memory that a kernel allocated by malloc or new: it is of the device's heap, and only "
               "free() or delete in a kernel gives it back";
    const char* const right = array->memory == Memory::pinned ? "cudaFreeHost" : "cudaFree";
    return is_given + name + ", which " + right + " frees";
}

bool is_of_kernel(const void* pointer) {
    const Array* const array = find_array(number(pointer));
    return array && array->live && array->from_kernel && array->begin == number(pointer);
}

void release_failed(const void* pointer, const char* function) {
    const Array* array = find_array(number(pointer));
    const bool twice = array && !array->live && array->begin == number(pointer);
    Report report{};
    report.tool = Tool::memcheck;
    report.kind = twice ? Kind::double_free : Kind::invalid_free;
    report.on_host = true;
    report.array = array;
    report.address = number(pointer);
    if (!twice) report.text = unfreeable(pointer, function, array);
    report.stack = call_stack();
    call_is_recorded();
    record(std::move(report));
}

void symbol_added(const void* pointer, std::size_t size, const char* name, SymbolKind kind) {
    auto array = std::make_unique<Array>();
    array->begin = number(pointer);
    array->size = size;
    array->name = name;
    array->memory = kind == SymbolKind::constant ? Memory::constant : Memory::symbol;
    array->on_host = kind == SymbolKind::managed;
    array->tracks_values = false;
    give_cells(*array);
    std::lock_guard lock(symbols().mutex);
    ++state.layout;
    auto& arrays = symbols().arrays;
    arrays[array->begin] = std::move(array);
    state.symbols_begin = arrays.begin()->first;
    state.symbols_size = arrays.rbegin()->first + arrays.rbegin()->second->size - state.symbols_begin;
}

void red_zone(const void* pointer, std::size_t size) { add_red_zone(number(pointer), size); }

void stray_fetch(const void* pointer, std::size_t element, long index, long extent, const void* site) {
    if (!execution.in_lane) return;
    const OwnWork own;
    Report report = by_current_lane(Tool::memcheck, Kind::out_of_bounds, site);
    report.severity = Severity::warning;
    report.act = Act::fetch;
    report.size = element;
    report.array = find_array(number(pointer));
    report.address = number(pointer) + static_cast<std::uintptr_t>(index) * element;
    report.text = "A fetch of texel " + std::to_string(index) + " leaves a texture of " +
                  std::to_string(extent) + (extent == 1 ? " texel" : " texels") + "; it gives 0.";
    record(std::move(report));
}

void texel_read(const void* pointer, std::size_t size, const void* counted, unsigned lanes,
                const void* site) {
    if (!execution.in_lane || own_work) return;
    check_access(number(pointer), size, AccessKind::fetch, false, site);
    if (BlockTrace* trace = tracing)
        trace_access(*trace, current_flat(),
                     step_key(lanes == 8 ? StepKind::fetch_8 : StepKind::fetch_4, site), number(counted),
                     static_cast<std::uint32_t>(size));
}

void symbol_removed(const void* pointer) {
    Symbols& s = symbols();
    std::lock_guard lock(s.mutex);
    ++state.layout;
    auto found = s.arrays.find(number(pointer));
    if (found == s.arrays.end()) return;
    settle_host();  // what is on its way to the record may name it
    unmap_cells(found->second->cells, found->second->cell_count());
    s.arrays.erase(found);
}

void runtime_memory(const void* pointer, std::size_t size) { add_runtime_range(number(pointer), size); }

}  // namespace observe
}  // namespace simt
