// From the steps of a warp to its instructions, and to what these cost.
#include <algorithm>
#include <bit>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "check/state.h"
#include "check/trace.h"
#include "counters/flow.h"
#include "counters/instructions.h"
#include "counters/requests.h"
#include "runtime/launch_state.h"
#include "runtime/observe.h"
#include "runtime/report.h"
#include "simt/warp.h"

namespace simt::check {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a ^ b * 0x9E3779B97F4A7C15u) + 0x632BE59BD9B4E019u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

StepKind kind_of(const Step& step) { return static_cast<StepKind>(step.key >> step_kind_shift); }
bool is_access(StepKind kind) { return kind >= StepKind::read && kind <= StepKind::fetch_8; }

// ---- Walking through steps -------------------------------------------------------------------------------

/// Calls visit(state, step) for all steps, each with the state that the steps before it have left.
template <class State, class Visit>
void walk(const std::vector<Step>& steps, State initial, Visit visit) {
    std::vector<std::pair<std::uint32_t, State>> branches;
    branches.emplace_back(0, std::move(initial));
    while (!branches.empty()) {
        auto [i, state] = std::move(branches.back());
        branches.pop_back();
        bool listed = i != 0;  // the steps in this one's place
        for (;; ++i) {
            if (!listed)
                for (std::uint32_t o = steps[i].other; o != 0; o = steps[o].other)
                    branches.emplace_back(o, state);
            listed = false;
            if (steps[i].key == 0) break;
            visit(state, i);
        }
    }
}

/// The last basic block of each function that is being executed.
struct Calls {
    std::vector<std::uint32_t> nodes{0};

    void step(FlowGraph& graph, const Step& step) {
        switch (kind_of(step)) {
            case StepKind::block:
                graph.add_edge(nodes.back(), step.information);
                nodes.back() = step.information;
                break;
            case StepKind::entry:
                nodes.push_back(0);
                break;
            case StepKind::exit:
                if (nodes.size() > 1)
                    nodes.pop_back();
                else
                    nodes.back() = 0;
                break;
            default:
                break;
        }
    }
};

/// Where in the program's execution a lane is: calls, loops, iterations.
class Position {
  public:
    void step(FlowGraph& graph, const Step& step) {
        switch (kind_of(step)) {
            case StepKind::block:
                enter(graph, step.information);
                break;
            case StepKind::entry:
                frames_.push_back({mix(hash_, step.key), loops_.size()});
                hash_ = frames_.back().context;
                break;
            case StepKind::exit: {
                // Back in the caller's block, of which nothing is known if the call lies before the barrier.
                const std::uint64_t context = frames_.back().context;
                loops_.resize(frames_.back().first_loop);
                if (frames_.size() > 1) {
                    frames_.pop_back();
                    hash_ = mix(context, step.key);
                } else {
                    frames_.back().context = hash_ = mix(context, step.key);
                }
                break;
            }
            default:
                break;
        }
    }
    std::uint64_t hash() const { return hash_; }

  private:
    void enter(FlowGraph& graph, std::uint32_t node) {
        const auto& around = graph.loops_around(node);
        Frame& frame = frames_.back();
        while (loops_.size() > frame.first_loop && !graph.in_loop(loops_.back().header, node))
            loops_.pop_back();
        const std::size_t active = loops_.size() - frame.first_loop;
        if (active != 0 && loops_.back().header == node)
            ++loops_.back().iteration;
        else
            for (std::size_t i = active; i < around.size(); ++i) loops_.push_back({around[i], 0});
        hash_ = mix(frame.context, node);
        for (std::size_t i = frame.first_loop; i < loops_.size(); ++i)
            hash_ = mix(hash_, std::uint64_t{loops_[i].header} << 32 | loops_[i].iteration);
    }

    struct Frame {
        std::uint64_t context;
        std::size_t first_loop;
    };
    struct Loop {
        std::uint32_t header, iteration;
    };
    std::vector<Frame> frames_{{1, 0}};
    std::vector<Loop> loops_;
    std::uint64_t hash_ = 1;
};

// ---- Counting ---------------------------------------------------------------------------------------------

/// Which sectors of an array were read and written.
struct Touched {
    const Array* array = nullptr;
    std::string name;
    std::uintptr_t first = 0;  ///< sector
    std::vector<std::uint64_t> read, written;

    void mark(Access access, std::uintptr_t from, std::uintptr_t to) {
        if (access != Access::write) set(read, from / 32 - first, to / 32 - first);
        if (access != Access::read) set(written, from / 32 - first, to / 32 - first);
    }
    static void set(std::vector<std::uint64_t>& bits, std::uintptr_t from, std::uintptr_t to) {
        for (std::uintptr_t word = from / 64; word <= to / 64; ++word) {
            std::uint64_t mask = ~std::uint64_t{0};
            if (word == from / 64) mask &= ~std::uint64_t{0} << from % 64;
            if (word == to / 64) mask &= ~std::uint64_t{0} >> (63 - to % 64);
            bits[word] |= mask;
        }
    }
};

struct Site {
    RawSite counts;
    Touched* touched = nullptr;

    /// What a request cost; those whose lanes lie alike, in lines of memory, cost the same.
    struct Known {
        std::uint32_t lanes = 0;
        std::int32_t stride = 0;
        unsigned offset = 0;                     ///< of the first lane, in its line
        std::array<std::int32_t, 32> distances;  ///< from the first lane, if they lie on no line
        std::uint64_t times = 0;
        MemoryCounters cost;
    };
    /// One for every word of a line in which requests began, once one did.
    std::vector<Known> known, known_scattered;

    static Known& entry(std::vector<Known>& list, unsigned offset) {
        if (list.empty()) list.resize(32);
        return list[offset / 4];
    }
    /// Adds a request that is not the one that `entry` knows, and makes it that.
    void learn(Known& entry, const Known& fresh, const std::uint64_t* addresses) {
        counts += entry.cost * entry.times;
        entry = fresh;
        entry.times = 1;
        Request request{counts.space, counts.access, counts.width, counts.lanes_together, fresh.lanes, {}};
        std::copy(addresses, addresses + warp_lanes, request.addresses);
        add_request(request, entry.cost);
    }
    void settle() {
        for (const auto* list : {&known, &known_scattered})
            for (const Known& k : *list) counts += k.cost * k.times;
    }
};

/// Steps with branches, whose meaning depends on loops that the launch may still show.
struct Deferred {
    std::vector<Step> steps;
    std::vector<Addresses> scattered;
    std::uint64_t warp;  ///< of the grid
};

constexpr std::size_t max_deferred = std::size_t{2} << 20;  // steps: 64 MiB

struct Tally {
    std::vector<RawLaunch>* launches = nullptr;
    LaunchCounters counters;
    unsigned lanes_of_block = 0, warps_of_block = 0;

    FlowGraph graph;
    std::vector<Site> sites;
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t width = 0, site = 0;
        std::uintptr_t begin = 0, size = 0;
    };
    std::array<Entry, 512> recent{};
    std::vector<std::unique_ptr<Touched>> touched;
    std::vector<Deferred> deferred;
    std::size_t deferred_steps = 0;
    struct WarpTotal {
        std::uint32_t blocks = 0, requests = 0;
    };
    std::vector<WarpTotal> warps;

    // Room for the groups of one warp's steps.
    struct Group {
        std::uint64_t key;
        std::uint32_t lanes, first, last;
    };
    std::vector<Group> groups;
    std::vector<std::uint32_t> table, next;

    /// What basic blocks compute, by the node of the graph; `known` once it has been looked up.
    struct Cost {
        bool known = false;
        Arithmetic sum;
    };
    std::vector<Cost> costs;
    const Arithmetic& arithmetic(const Step& step);

    std::uint32_t find_site(const Step& step, std::uintptr_t address);
    Touched* touched_of(const Array& array);
    void mark(const Site& site, std::uintptr_t address);
    void add(Site& site, std::uint32_t lanes, std::uint64_t base, std::int32_t stride);
    void add(Site& site, std::uint32_t lanes, const Addresses& addresses);
    void add_step(const Step& step, const std::vector<Addresses>& scattered);
    void flush(BlockTrace& trace, unsigned w);
    void match(const Deferred& trace);
    void match_all();
};

constinit Lasting<std::unique_ptr<Tally>> the_tally;
std::unique_ptr<Tally>& tally = the_tally.value;

const Arithmetic& Tally::arithmetic(const Step& step) {
    if (step.information >= costs.size()) costs.resize(step.information + 64);
    Cost& cost = costs[step.information];
    if (!cost.known) {
        cost = {true, arithmetic_at(reinterpret_cast<const void*>(
                          step.key & ((std::uint64_t{1} << step_kind_shift) - 1)))};
    }
    return cost.sum;
}

/// The array of a good address.
const Array* array_at(std::uintptr_t address) {
    if (state.block && address - state.shared_begin < state.shared_size) return find_shared_array(address);
    return find_array(address);
}

std::uint32_t Tally::find_site(const Step& step, std::uintptr_t address) {
    const std::uint32_t width = step.information;
    Entry& entry = recent[(step.key ^ step.key >> 9) % recent.size()];
    if (entry.key == step.key && entry.width == width && address - entry.begin < entry.size)
        return entry.site;
    const Array* array = array_at(address);
    const bool is_shared =
        array && (array->memory == Memory::shared || array->memory == Memory::dynamic_shared);
    RawSite fresh;
    fresh.pc = reinterpret_cast<const void*>(step.key & ((std::uint64_t{1} << step_kind_shift) - 1));
    fresh.array = array ? array->name : "";
    const StepKind kind = kind_of(step);
    const bool fetches = kind == StepKind::fetch_4 || kind == StepKind::fetch_8;
    if (fetches) fresh.lanes_together = kind == StepKind::fetch_4 ? 4 : 8;
    fresh.space = is_shared                                    ? Space::shared
                  : fetches                                    ? Space::texture
                  : array && array->memory == Memory::constant ? Space::constant
                                                               : Space::global;
    fresh.access = kind == StepKind::write    ? Access::write
                   : kind == StepKind::atomic ? Access::atomic
                                              : Access::read;
    fresh.width = width;
    const bool caches = fresh.space == Space::global || fresh.space == Space::texture;
    Touched* found = array && caches ? touched_of(*array) : nullptr;
    std::uint32_t index = 0;
    for (; index < sites.size(); ++index) {
        const Site& s = sites[index];
        if (s.counts.pc == fresh.pc && s.counts.width == width && s.counts.access == fresh.access &&
            s.counts.space == fresh.space && s.counts.lanes_together == fresh.lanes_together &&
            s.touched == found && s.counts.array == fresh.array)
            break;
    }
    if (index == sites.size()) {
        sites.emplace_back();
        sites.back().counts = std::move(fresh);
        sites.back().touched = found;
    }
    entry = {step.key, width, index, array ? array->begin : address, array ? array->size : 1};
    return index;
}

Touched* Tally::touched_of(const Array& array) {
    for (const auto& t : touched)
        if (t->array == &array) return t.get();
    Touched* fresh = touched.emplace_back(std::make_unique<Touched>()).get();
    fresh->array = &array;
    fresh->name = array.name;
    fresh->first = array.begin / 32;
    const std::size_t sectors = (array.begin + array.size - 1) / 32 - fresh->first + 1;
    fresh->read.resize((sectors + 63) / 64);
    fresh->written.resize((sectors + 63) / 64);
    return fresh;
}

/// One lane's access. An instruction may go to several arrays, and is counted with the first lane's.
void Tally::mark(const Site& site, std::uintptr_t address) {
    Touched* t = site.touched;
    if (!t->array->holds(address, site.counts.width)) {
        const Array* array = find_array(address);
        if (!array) return;
        t = touched_of(*array);
    }
    t->mark(site.counts.access, address, address + site.counts.width - 1);
}

/// The lanes' addresses lie on a line.
void Tally::add(Site& site, std::uint32_t lanes, std::uint64_t base, std::int32_t stride) {
    // Lines and banks repeat every 128 bytes.
    const auto offset = static_cast<unsigned>(base % 128);
    Site::Known& known = Site::entry(site.known, offset);
    if (known.times != 0 && known.lanes == lanes && known.stride == stride && known.offset == offset) {
        ++known.times;
    } else {
        Addresses addresses;
        for (unsigned i = 0; i < warp_lanes; ++i)
            addresses[i] = base + static_cast<std::uint64_t>(std::int64_t{stride} * i);
        site.learn(known, {lanes, stride, offset, {}, 0, {}}, addresses.data());
    }
    if (!site.touched) return;
    const auto first = static_cast<unsigned>(std::countr_zero(lanes)),
               last = 31 - static_cast<unsigned>(std::countl_zero(lanes));
    const auto at = [&](unsigned i) { return base + static_cast<std::uint64_t>(std::int64_t{stride} * i); };
    const std::uint64_t low = std::min(at(first), at(last)), high = std::max(at(first), at(last));
    if (stride >= -32 && stride <= 32 && std::popcount(lanes) == static_cast<int>(last - first + 1) &&
        site.touched->array->holds(low, high - low + site.counts.width)) {
        // No sector is left out.
        site.touched->mark(site.counts.access, low, high + site.counts.width - 1);
        return;
    }
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        mark(site, at(static_cast<unsigned>(std::countr_zero(rest))));
}

void Tally::add(Site& site, std::uint32_t lanes, const Addresses& addresses) {
    Site::Known request{lanes, 0, 0, {}, 0, {}};
    const std::uint64_t first = addresses[static_cast<unsigned>(std::countr_zero(lanes))];
    request.offset = static_cast<unsigned>(first % 128);
    bool near = true;
    for (unsigned i = 0; i < warp_lanes; ++i) {
        const std::int64_t distance = lanes >> i & 1 ? static_cast<std::int64_t>(addresses[i] - first) : 0;
        request.distances[i] = static_cast<std::int32_t>(distance);
        near &= request.distances[i] == distance;
    }
    Site::Known& known = Site::entry(site.known_scattered, request.offset);
    if (near && known.times != 0 && known.lanes == lanes && known.offset == request.offset &&
        known.distances == request.distances) {
        ++known.times;
    } else {
        site.learn(known, request, addresses.data());
        if (!near) {
            // Distances that do not fit tell nothing about the next request.
            site.counts += known.cost;
            known.times = 0;
        }
    }
    if (!site.touched) return;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        mark(site, addresses[static_cast<unsigned>(std::countr_zero(rest))]);
}

void Tally::add_step(const Step& step, const std::vector<Addresses>& scattered) {
    Site& site = sites[step.information];
    if (step.stride == Step::scattered)
        add(site, step.lanes, scattered[step.base & ~Step::scattered_mark]);
    else
        add(site, step.lanes, step.base, step.stride);
}

/// What a warp has done since the last barrier.
void Tally::flush(BlockTrace& trace, unsigned w) {
    WarpTrace& warp = trace.warps[w];
    if (warp.size == 0) return;
    counters.exact &= !warp.full;
    // What places in the code mean.
    for (std::uint32_t i = 0; i < warp.size; ++i) {
        Step& step = warp.steps[i];
        if (step.key == 0) continue;
        const StepKind kind = kind_of(step);
        if (kind == StepKind::block) {
            step.information = graph.node(step.key);
        } else if (is_access(kind)) {
            const auto lane = static_cast<unsigned>(std::countr_zero(step.lanes));
            const std::uint64_t address =
                step.stride == Step::scattered
                    ? warp.scattered[step.base & ~Step::scattered_mark][lane]
                    : step.base + static_cast<std::uint64_t>(std::int64_t{step.stride} * lane);
            step.information = find_site(step, address);
        }
    }
    const std::uint64_t number = trace.number * warps_of_block + w;
    if (!warp.branched) {
        Calls steps;
        WarpTotal& total = warps[number];
        for (std::uint32_t i = 0; i < warp.size; ++i) {
            const Step& step = warp.steps[i];
            steps.step(graph, step);
            const StepKind kind = kind_of(step);
            if (kind == StepKind::block) {
                ++counters.basic_blocks;
                counters.arithmetic += arithmetic(step);
                ++total.blocks;
                counters.active_lanes += static_cast<unsigned>(std::popcount(step.lanes));
            } else if (is_access(kind)) {
                add_step(step, warp.scattered);
                ++total.requests;
            }
        }
    } else {
        Deferred copy{{warp.steps.begin(), warp.steps.begin() + warp.size + 1}, warp.scattered, number};
        walk(copy.steps, Calls{}, [&](Calls& steps, std::uint32_t i) { steps.step(graph, copy.steps[i]); });
        deferred_steps += copy.steps.size() + 8 * copy.scattered.size();
        deferred.push_back(std::move(copy));
        if (deferred_steps > max_deferred) match_all();
    }
    trace.restart(w);
}

void Tally::match(const Deferred& trace) {
    const auto& steps = trace.steps;
    groups.clear();
    next.assign(steps.size(), 0);
    std::size_t slots = 64;
    while (slots < 2 * steps.size()) slots *= 2;
    table.assign(slots, 0);
    walk(steps, Position{}, [&](Position& position, std::uint32_t i) {
        const Step& step = steps[i];
        position.step(graph, step);
        const StepKind kind = kind_of(step);
        if (kind != StepKind::block && !is_access(kind)) return;
        for (std::uint64_t key = mix(position.hash(), step.key);; key = mix(key, 1)) {
            std::size_t slot = key % slots;
            while (table[slot] != 0 && groups[table[slot] - 1].key != key) slot = (slot + 1) % slots;
            if (table[slot] == 0) {
                groups.push_back({key, step.lanes, i, i});
                table[slot] = static_cast<std::uint32_t>(groups.size());
                return;
            }
            Group& group = groups[table[slot] - 1];
            if (group.lanes & step.lanes) continue;  // these lanes have been here: their next time
            group.lanes |= step.lanes;
            next[group.last] = i;
            group.last = i;
            return;
        }
    });
    WarpTotal& total = warps[trace.warp];
    for (const Group& group : groups) {
        const Step& first = steps[group.first];
        if (kind_of(first) == StepKind::block) {
            ++counters.basic_blocks;
            counters.arithmetic += arithmetic(first);
            ++total.blocks;
            counters.active_lanes += static_cast<unsigned>(std::popcount(group.lanes));
            continue;
        }
        ++total.requests;
        bool line = first.stride != Step::scattered;
        // Lanes that take other ways to one instruction may find other arrays there. The lowest lane's
        // counts, whoever came first.
        const std::uint32_t lowest = group.lanes & -group.lanes;
        std::uint32_t site = first.information;
        for (std::uint32_t i = group.first; i != group.last; i = next[i]) {
            const Step& e = steps[next[i]];
            line = line && e.stride == first.stride && e.base == first.base;
            if (e.lanes & lowest) site = e.information;
        }
        if (group.first == group.last || line) {
            Step whole = first;
            whole.lanes = group.lanes;
            whole.information = site;
            add_step(whole, trace.scattered);
            continue;
        }
        Addresses addresses{};
        for (std::uint32_t i = group.first;; i = next[i]) {
            const Step& e = steps[i];
            for (std::uint32_t rest = e.lanes; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<unsigned>(std::countr_zero(rest));
                addresses[lane] = e.stride == Step::scattered
                                      ? trace.scattered[e.base & ~Step::scattered_mark][lane]
                                      : e.base + static_cast<std::uint64_t>(std::int64_t{e.stride} * lane);
            }
            if (i == group.last) break;
        }
        add(sites[site], group.lanes, addresses);
    }
}

void Tally::match_all() {
    for (const Deferred& trace : deferred) match(trace);
    deferred.clear();
    deferred_steps = 0;
}

}  // namespace

void count_into(std::vector<RawLaunch>* launches) {
    if (!tally) tally = std::make_unique<Tally>();
    tally->launches = launches;
}

namespace counted {

void launch_begins(const Launch& launch) {
    tracing = nullptr;
    if (!tally || !tally->launches) return;
    auto* launches = tally->launches;
    tally = std::make_unique<Tally>();
    tally->launches = launches;
    LaunchCounters& c = tally->counters;
    c.kernel = kernel_name(launch.grid);
    c.grid = launch.grid.grid;
    c.block = launch.grid.block;
    c.dynamic_shared = launch.grid.dynamic_shared;
    c.cooperative = launch.grid.cooperative;
    tally->lanes_of_block = launch.lanes;
    tally->warps_of_block = (launch.lanes + warp_lanes - 1) / warp_lanes;
    c.blocks = launch.blocks;
    c.warps = launch.blocks * tally->warps_of_block;
    c.threads = launch.blocks * launch.lanes;
    tally->warps.resize(c.warps);
    state.counting = true;
}

void launch_ends() {
    if (!state.counting) return;
    tracing = nullptr;
    state.counting = false;
    Tally& t = *tally;
    t.match_all();
    RawLaunch raw;
    for (Site& site : t.sites) {
        site.settle();
        if (site.counts.requests == 0) continue;  // another array's, in the end
        raw.sites.push_back(std::move(site.counts));
    }
    for (const auto& touched : t.touched) {
        ArrayCounters a;
        a.array = touched->name;
        a.bytes = touched->array->size;
        a.on_host = touched->array->on_host;
        for (std::size_t i = 0; i < touched->read.size(); ++i) {
            const auto count = [](std::uint64_t bits) { return static_cast<unsigned>(std::popcount(bits)); };
            a.read_sectors += count(touched->read[i]);
            a.written_sectors += count(touched->written[i]);
            a.touched_sectors += count(touched->read[i] | touched->written[i]);
        }
        t.counters.arrays.push_back(std::move(a));
    }
    std::sort(t.counters.arrays.begin(), t.counters.arrays.end(),
              [](const ArrayCounters& a, const ArrayCounters& b) {
                  return std::tie(a.array, a.bytes, a.touched_sectors, a.read_sectors) <
                         std::tie(b.array, b.bytes, b.touched_sectors, b.read_sectors);
              });
    for (const Tally::WarpTotal& warp : t.warps) {
        t.counters.max_warp_basic_blocks =
            std::max<std::uint64_t>(t.counters.max_warp_basic_blocks, warp.blocks);
        t.counters.max_warp_requests = std::max<std::uint64_t>(t.counters.max_warp_requests, warp.requests);
    }
    raw.counters = std::move(t.counters);
    t.launches->push_back(std::move(raw));
    auto* launches = t.launches;
    tally = std::make_unique<Tally>();
    tally->launches = launches;
}

void block_begins(BlockState& block, std::uint64_t number) {
    if (!state.counting) return;
    if (!block.trace) block.trace = std::make_unique<BlockTrace>();
    BlockTrace& trace = *block.trace;
    trace.number = number;
    trace.barriers = 0;
    trace.in_a_row = tally->lanes_of_block == tally->counters.block.x;
    for (unsigned w = 0; w < tally->warps_of_block; ++w) {
        trace.restart(w);
        trace.warps[w].exited = 0;
    }
}

void barrier(Block& block) {
    if (!state.counting) return;
    // The root releases blocks that are not the current one.
    if (state.block != block.checked) observe::block_continues(block);
    const OwnWork own;
    BlockTrace& trace = *block.checked->trace;
    for (unsigned w = 0; w < tally->warps_of_block; ++w) tally->flush(trace, w);
    LaunchCounters& c = tally->counters;
    ++c.barriers;
    c.max_barriers = std::max(c.max_barriers, ++trace.barriers);
}

void grid_barrier() {
    if (state.counting) ++tally->counters.grid_barriers;
}

void warp_operation(unsigned operation) {
    if (!tracing) return;
    switch (static_cast<WarpOperation>(operation)) {
        case WarpOperation::sync:
            ++tally->counters.warp_syncs;
            break;
        case WarpOperation::shuffle:
        case WarpOperation::fragment:
        case WarpOperation::product:
            ++tally->counters.shuffles;
            break;
        default:
            ++tally->counters.votes;
    }
}

void exit() {
    BlockTrace* trace = tracing;
    if (!trace) return;
    const unsigned w = current_flat() / warp_lanes;
    const unsigned lanes = std::min(warp_lanes, tally->lanes_of_block - w * warp_lanes);
    if (++trace->warps[w].exited < lanes) return;
    const OwnWork own;
    tally->flush(*trace, w);
    tally->counters.static_shared = std::max(tally->counters.static_shared, execution.block->static_used);
}

}  // namespace counted
}  // namespace simt::check
