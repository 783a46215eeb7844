// Which operations of streams come before which: races between kernels, copies, fills and the host.
//
// Streams are eager, so one order has happened; this file says which orders may. Every stream is an *actor*,
// and what it does are numbered *operations*; a clock says, for each actor, how many of its operations come
// before something. An operation comes after the one before it in its stream, after what the host knew when
// it enqueued it, after the events its stream waits for, and after what the legacy stream's rule puts before
// it. The host learns by synchronising. Nodes of a graph are actors as far as they have no order.
//
// Host threads are taken as one, in the order in which their calls came: how they synchronise is not
// seen. Nor is whom a host function in a stream starts or tells: what came before it the host may access
// from then on.
#include <execinfo.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "check/state.h"
#include "check/trace.h"
#include "runtime/launch_state.h"
#include "runtime/observe.h"
#include "runtime/report.h"
#include "simt/device.h"

namespace simt {
namespace check {
namespace {

using Clock = std::vector<std::uint32_t>;

struct Actor {
    std::string name;                   ///< "stream 3"
    bool blocking = false;              ///< waits for the legacy stream, and it for this
    Clock clock;                        ///< of its last operation
    std::uint32_t count = 0;            ///< operations
    std::uint32_t forgotten = 0;        ///< of these: before all that is to come
    std::vector<std::uint32_t> starts;  ///< first segments of the others
};

struct Operation {
    std::uint32_t first_segment, actor, number;
    Task task;
    Act act = Act::none;           ///< free or allocation, if it makes one
    const char* kernel = nullptr;  ///< as Grid has them: named when somebody asks
    const void* function = nullptr;
};

struct Level {
    Clock base, joined;
    std::map<const void*, Clock> nodes;
};

/// All of it. Locked while an operation runs: one at a time, as launches are.
struct Order {
    std::recursive_mutex mutex;
    std::vector<Actor> actors;
    std::map<unsigned long long, std::uint32_t> streams;  ///< actors by the stream's id
    std::vector<std::uint32_t> lanes_of_graphs;           ///< actors that nodes take in turn
    std::vector<Operation> operations;
    std::map<const void*, Clock> events;
    std::set<const void*> asked;  ///< of these, those whose time was asked for too early
    Clock host;
    Clock told;                ///< what host functions may have told others on the host
    std::uint32_t legacy = 0;  ///< the actor, if `has_legacy`
    bool has_legacy = false;

    bool running = false;
    std::uint64_t begun = 0;    ///< operations, ever
    Clock clock;                ///< of the running operation
    std::uint32_t segment = 0;  ///< its own, where it is no kernel; 0: to be made
    std::vector<Level> levels;  ///< graphs in graphs
};
Order& order() {
    static auto* instance = new Order;
    return *instance;
}

void join(Clock& clock, const Clock& other) {
    if (clock.size() < other.size()) clock.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

std::uint32_t entry(const Clock& clock, std::uint32_t actor) {
    return actor < clock.size() ? clock[actor] : 0;
}

/// The first segment that `clock` does not come after: next_segment if it comes after all.
std::uint32_t first_unordered(const Clock& clock) {
    std::uint32_t first = state.next_segment;
    const auto& actors = order().actors;
    for (std::uint32_t a = 0; a < actors.size(); ++a) {
        const std::uint32_t known = std::max(entry(clock, a), actors[a].forgotten);
        if (known < actors[a].count) first = std::min(first, actors[a].starts[known - actors[a].forgotten]);
    }
    return first;
}

std::uint32_t actor_of(unsigned long long stream, bool legacy, bool blocking) {
    Order& o = order();
    auto [found, fresh] = o.streams.try_emplace(stream, 0);
    if (fresh) {
        found->second = static_cast<std::uint32_t>(o.actors.size());
        Actor actor;
        actor.name = legacy ? "the default stream" : "stream " + std::to_string(stream);
        actor.blocking = blocking;
        o.actors.push_back(std::move(actor));
        if (legacy) o.legacy = found->second, o.has_legacy = true;
    }
    return found->second;
}

/// An operation of `actor`, with everything in order().clock before it.
void begin(std::uint32_t actor, const char* name, const CallStack& stack) {
    Order& o = order();
    Actor& a = o.actors[actor];
    ++a.count;
    ++o.begun;
    if (o.clock.size() <= actor) o.clock.resize(actor + 1);
    o.clock[actor] = a.count;
    a.starts.push_back(state.next_segment);
    Operation operation{state.next_segment, actor, a.count, {}, Act::none, nullptr, nullptr};
    operation.task.name = name;
    operation.task.stream = a.name;
    operation.task.on_default_stream = o.has_legacy && actor == o.legacy;
    operation.task.stack = stack;
    o.operations.push_back(std::move(operation));
    o.segment = 0;
    o.running = true;
    state.order_base = first_unordered(o.clock);
    state.host_is_behind = true;
}

/// What everything to come is ordered after needs no record.
void forget_the_past() {
    Order& o = order();
    state.host_is_behind = first_unordered(o.host) != state.next_segment;
    if (state.host_is_behind || o.running) return;
    for (Actor& actor : o.actors) {
        actor.forgotten = actor.count;
        actor.starts.clear();
    }
    o.operations.clear();
    state.segments.clear();
    state.segments_from = state.next_segment;
}

const Operation* operation_of(std::uint32_t segment) {
    const auto& operations = order().operations;
    auto found = std::upper_bound(operations.begin(), operations.end(), segment,
                                  [](std::uint32_t s, const Operation& x) { return s < x.first_segment; });
    return found == operations.begin() ? nullptr : &*--found;
}

bool comes_before(const Clock& clock, std::uint32_t segment) {
    const Operation* operation = operation_of(segment);
    return !operation || operation->number <= entry(clock, operation->actor);
}

CallStack here() {
    CallStack stack{};
    void* frames[20];
    const int n = backtrace(frames, 20);
    for (int i = 1; i < n && i - 1 < static_cast<int>(stack.size()); ++i)
        stack[static_cast<std::size_t>(i) - 1] = frames[i];
    return stack;
}

/// Something that is no lane accesses cells: `clock` is its, `segment` too, or 0 for the host, whose accesses
/// come before all that is enqueued later.
struct Toucher {
    const Clock& clock;
    std::uint32_t base, segment;
    Task task;
    const void* pc;
    Act act;
};

/// A host's plain read that met an atomic, like Guess in access.cpp. A cell of it is enough.
struct HostGuess {
    bool active = false;
    std::uintptr_t place = 0;
    unsigned char value[4];
    Report report;
};
Lasting<HostGuess> the_host_guess;
HostGuess& host_guess = the_host_guess.value;

void settle_host_guess() {
    if (!host_guess.active) return;
    host_guess.active = false;
    record(std::move(host_guess.report));
}

void report(const Toucher& by, const Array& array, std::uintptr_t address, std::size_t size, bool write,
            std::uint32_t other, unsigned lane, std::uint16_t code, bool other_write, bool other_atomic) {
    Report r{};
    r.tool = Tool::racecheck;
    r.kind = other_atomic           ? (write ? Kind::atomic_write : Kind::atomic_read)
             : write && other_write ? Kind::write_write
                                    : Kind::read_write;
    r.on_host = true;
    r.pc = by.pc;
    r.act = by.act;
    r.size = size;
    r.array = &array;
    r.address = address;
    r.task = by.task;
    r.has_other = true;
    r.other_act = other_atomic ? Act::atomic : other_write ? Act::write : Act::read;
    describe_other(r, other, lane, code);
    if (r.kind != Kind::atomic_read || by.segment != 0 || size > sizeof host_guess.value)
        return record(std::move(r));
    settle_host_guess();
    host_guess.active = true;
    host_guess.place = address;
    std::memcpy(host_guess.value, reinterpret_cast<const void*>(address), size);
    host_guess.report = std::move(r);
}

void touch(Array& array, std::uintptr_t address, std::size_t size, bool write, const Toucher& by) {
    if (by.base == state.next_segment && by.segment == 0) return;
    const std::size_t offset = address - array.begin;
    if (((offset | size) & 3) != 0 && offset + size != array.size) split(array);
    const auto unordered = [&](std::uint32_t s) {
        return s >= by.base && s != by.segment && !comes_before(by.clock, s);
    };
    bool told = false;
    std::uint32_t clean = 0;  // the last segment that was found to be ordered: neighbours share it
    for_cells(array, offset, size, [&](Cell& cell, std::size_t at, bool whole) {
        // A second reader stands beside the cell, of which there has to be one.
        if (whole && !write && by.segment != 0 && cell.first() != 0 && unordered(cell.first())) return false;
        const std::uintptr_t place = array.begin + at;
        const std::size_t width = std::size_t{1} << array.shift;
        if (!told && cell.write() >= by.base && cell.write() != clean && (write || !cell.write_is_read())) {
            if (unordered(cell.write())) {
                const bool atomic = cell.write_is_atomic();
                report(by, array, place, width, write, cell.write(), cell.writer(), cell.write_code(),
                       !atomic && !cell.write_is_read(), atomic);
                told = true;
            } else {
                clean = cell.write();
            }
        }
        if (!told && (write || cell.first_is_atomic()) && cell.first() >= by.base &&
            unordered(cell.first())) {
            report(by, array, place, width, write, cell.first(),
                   static_cast<unsigned>(__builtin_ctz(array.lanes_of(cell))), cell.first_code(), false,
                   cell.first_is_atomic());
            told = true;
        }
        const std::uint32_t second = array.second_of(cell);
        if (!told && (write || cell.second_is_atomic()) && second >= by.base && unordered(second)) {
            report(by, array, place, width, write, second, 0, cell.second_code(), false,
                   cell.second_is_atomic());
            told = true;
        }
        if (by.segment == 0) return true;
        if (write) {
            const bool initialised = cell.is_initialised();  // mark_copied() has its own say in that
            cell.set_write(by.segment, 0, unknown_code);
            cell.set_initialised(initialised);
        } else if (cell.first() == 0 || !unordered(cell.first())) {
            cell.set_first(by.segment, 0, unknown_code);
        } else {
            array.rest_of(cell).second = by.segment;
            cell.set_second(unknown_code, false, false, cell.is_apart());
        }
        return true;
    });
}

/// The running operation, which is no kernel, accesses memory.
void touch_by_operation(std::uintptr_t address, std::size_t size, bool write, Act act) {
    Order& o = order();
    Array* array = find_array(address);
    if (!array || !array->live || size == 0 || !array->holds(address, size)) return;
    if (o.segment == 0) o.segment = new_segment(0, 0);
    if (act == Act::free || act == Act::allocation) o.operations.back().act = act;
    touch(*array, address, size, write,
          {o.clock, state.order_base, o.segment, o.operations.back().task, nullptr, act});
}

thread_local bool in_operation = false;  ///< this thread runs one that is no kernel

}  // namespace

bool foreign_ordered(std::uint32_t segment) { return comes_before(order().clock, segment); }

void describe_other(Report& report, std::uint32_t segment, unsigned lane, std::uint16_t code) {
    const Operation* operation = operation_of(segment);
    if (!operation) return;
    Task task = operation->task;
    if (task.is_kernel) {
        Grid grid;
        grid.name = operation->kernel;
        grid.function = operation->function;
        task.name = kernel_name(grid);
        report.other_pc = code_address(code);
        const std::uint32_t index = segment - state.segments_from;
        if (segment >= state.segments_from && index < state.segments.size()) {
            report.other_block = state.segments[index].block;
            report.other_flat = state.segments[index].warp * warp_lanes + lane;
        }
    } else if (operation->act != Act::none) {
        report.other_act = operation->act;
    }
    report.other_task = std::move(task);
}

Task running_task() {
    const auto& operations = order().operations;
    return operations.empty() ? Task{} : operations.back().task;
}

std::uint64_t running_operation() { return order().begun; }

std::unique_lock<std::recursive_mutex> between_operations() { return {order().mutex, std::try_to_lock}; }

void host_races(Array& array, std::uintptr_t address, std::size_t size, bool write, const void* pc) {
    if (!state.host_is_behind && !in_operation) return;
    Order& o = order();
    const auto lock = between_operations();
    // A kernel runs that may be waiting for just this.
    if (!lock.owns_lock() || state.launch || !array.live || !array.holds(address, size)) return;
    if (in_operation) {
        touch_by_operation(address, size, write, write ? Act::write : Act::read);
        return;
    }
    Task task;
    task.name = "the host";
    task.is_host = true;
    Clock known = o.host;
    join(known, o.told);
    touch(array, address, size, write,
          {known, first_unordered(known), 0, task, pc, write ? Act::write : Act::read});
}

void host_compares(std::uintptr_t address, const void* expected, std::size_t size) {
    if (!state.host_is_behind) return;
    const auto lock = between_operations();
    if (!lock.owns_lock() || !host_guess.active || host_guess.place < address) return;
    const std::size_t offset = host_guess.place - address;
    if (offset >= size) return;
    if (std::memcmp(host_guess.value, static_cast<const unsigned char*>(expected) + offset,
                    std::min(host_guess.report.size, size - offset)) != 0)
        return settle_host_guess();
    host_guess.active = false;
}

void settle_host() {
    const auto lock = between_operations();
    if (lock.owns_lock()) settle_host_guess();
}

void operation_copies(std::uintptr_t to, std::uintptr_t from, std::size_t size) {
    if (!in_operation) return;
    if (from) touch_by_operation(from, size, false, Act::read);
    touch_by_operation(to, size, true, Act::write);
}

void operation_frees(const Array& array) {
    if (in_operation) touch_by_operation(array.begin, array.size, true, Act::free);
}

void forget_order() {
    Order& o = order();
    for (Actor& actor : o.actors) {
        actor.forgotten = actor.count;
        actor.starts.clear();
    }
    o.operations.clear();
    state.segments.clear();
    state.segments_from = state.next_segment;
}

}  // namespace check

using namespace check;

namespace observe {

void operation_begins(unsigned long long stream, bool legacy, bool blocking, const char* name) {
    Order& o = order();
    o.mutex.lock();
    if (!name) return;
    const std::uint32_t actor = actor_of(stream, legacy, blocking);
    o.clock = o.actors[actor].clock;
    join(o.clock, o.host);
    if (legacy) {
        for (const Actor& other : o.actors)
            if (other.blocking) join(o.clock, other.clock);
    } else if (blocking && o.has_legacy) {
        join(o.clock, o.actors[o.legacy].clock);
    }
    begin(actor, name, here());
    in_operation = true;
    count_operation(name);
}

void operation_ends(unsigned long long stream, const char* name) {
    Order& o = order();
    if (name) {
        count_operation(nullptr);
        o.actors[o.streams[stream]].clock = o.clock;
        o.running = false;
        in_operation = false;
    }
    o.mutex.unlock();
}

void host_function_begins() {
    Order& o = order();
    std::lock_guard lock(o.mutex);
    join(o.told, o.clock);
}

void claimed(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (const Array* array = find_array(address))
        touch_by_operation(address, array->size, true, Act::allocation);
}

void host_waits(unsigned long long stream, bool legacy, bool blocking) {
    count_wait();
    Order& o = order();
    std::lock_guard lock(o.mutex);
    join(o.host, o.actors[actor_of(stream, legacy, blocking)].clock);
    if (legacy)
        for (const Actor& other : o.actors)
            if (other.blocking) join(o.host, other.clock);
    forget_the_past();
}

void host_waits_for_all() {
    count_wait();
    Order& o = order();
    std::lock_guard lock(o.mutex);
    for (const Actor& actor : o.actors) join(o.host, actor.clock);
    forget_the_past();
}

void event_recorded(const void* event) {
    Order& o = order();
    std::lock_guard lock(o.mutex);
    o.events[event] = o.clock;
    o.asked.erase(event);
}
void event_destroyed(const void* event) {
    Order& o = order();
    std::lock_guard lock(o.mutex);
    o.events.erase(event);
    o.asked.erase(event);
}
bool may_be_ahead(const void* event) {
    if (!state.watches_host) return false;
    Order& o = order();
    std::lock_guard lock(o.mutex);
    const auto found = o.events.find(event);
    if (found == o.events.end()) return false;
    Clock known = o.host;
    join(known, o.told);
    for (std::uint32_t a = 0; a < found->second.size(); ++a)
        if (found->second[a] > std::max(entry(known, a), o.actors[a].forgotten))
            return o.asked.insert(event).second;
    return false;
}
void operation_waits(const void* event) {
    Order& o = order();
    std::lock_guard lock(o.mutex);
    if (auto found = o.events.find(event); found != o.events.end()) join(o.clock, found->second);
}
void host_waits_for_event(const void* event) {
    count_wait();
    Order& o = order();
    std::lock_guard lock(o.mutex);
    if (auto found = o.events.find(event); found != o.events.end()) join(o.host, found->second);
    forget_the_past();
}

void graph_begins() {
    Order& o = order();
    o.levels.push_back({o.clock, o.clock, {}});
}
void graph_ends() {
    Order& o = order();
    o.clock = std::move(o.levels.back().joined);
    o.levels.pop_back();
}
void node_begins(const void* const* before, std::size_t count, const char* name) {
    count_operation(name);
    Order& o = order();
    Level& level = o.levels.back();
    o.clock = level.base;
    for (std::size_t i = 0; i < count; ++i)
        if (auto found = level.nodes.find(before[i]); found != level.nodes.end())
            join(o.clock, found->second);
    // An actor whose past this node comes after anyway can go on as this node.
    std::uint32_t actor = 0;
    for (const std::uint32_t candidate : o.lanes_of_graphs)
        if (entry(o.clock, candidate) == o.actors[candidate].count) actor = candidate;
    if (actor == 0) {
        actor = static_cast<std::uint32_t>(o.actors.size());
        o.actors.push_back({"a graph", false, {}, 0, 0, {}});
        o.lanes_of_graphs.push_back(actor);
    }
    const CallStack stack = o.operations.empty() ? CallStack{} : o.operations.back().task.stack;
    begin(actor, name ? name : "a node", stack);
    o.actors[actor].clock = o.clock;
}
void node_ends(const void* node) {
    Order& o = order();
    Level& level = o.levels.back();
    join(level.joined, o.clock);
    level.nodes[node] = o.clock;
}

}  // namespace observe

namespace check {

void operation_is_kernel(const Launch& launch) {
    Order& o = order();
    in_operation = false;
    if (!o.running) {
        state.order_base = state.next_segment;
        return;
    }
    Operation& operation = o.operations.back();
    operation.task.is_kernel = true;
    operation.task.grid = launch.grid.grid;
    operation.task.block = launch.grid.block;
    operation.kernel = launch.grid.name;
    operation.function = launch.grid.function;
}
void kernel_has_ended() { in_operation = order().running; }

}  // namespace check
}  // namespace simt
