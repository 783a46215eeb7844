// Whose memory an address is.
#include "check/addresses.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "runtime/heap.h"
#include "runtime/launch_state.h"
#include "runtime/memory.h"

namespace simt::check {
namespace {

/// Memory of the runtime that inlined device code reads: texture objects.
std::vector<std::pair<std::uintptr_t, std::size_t>>& runtime_ranges() {
    static auto* ranges = new std::vector<std::pair<std::uintptr_t, std::size_t>>;
    return *ranges;
}

/// Calls `f` with each word of the kernel's arguments. Some of them are pointers; which, nobody says.
template <class F>
void for_arguments(F f) {
    const auto* words = static_cast<const unsigned char*>(execution.closure);
    for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= state.launch->grid.closure_bytes;
         i += alignof(std::uintptr_t)) {
        std::uintptr_t word;
        std::memcpy(&word, words + i, sizeof word);
        f(word);
    }
}

/// Is one of the kernel's arguments a pointer from which an index may have come to `address`, in the host's
/// memory?
bool argument_leads_to(std::uintptr_t address) {
    constexpr std::uintptr_t reach = std::uintptr_t{1} << 33;
    bool leads = false;
    for_arguments([&](std::uintptr_t word) {
        leads = leads || (word <= address && address - word < reach && !is_device_address(word));
    });
    return leads;
}

/// The array from which an index of 32 bits may have come to `address`, where nothing is: one of the
/// arguments' or, if there are none, the nearest shared one. A guess.
const Array* far_from(std::uintptr_t address, std::size_t size) {
    const Array* best = nullptr;
    std::uintptr_t distance = std::uintptr_t{size} << 31;
    for_arguments([&](std::uintptr_t word) {
        const Array* const array = is_device_address(word) ? find_array(word) : nullptr;
        const std::uintptr_t away = word < address ? address - word : word - address;
        if (!array || !array->live || away > distance) return;
        best = array;
        distance = away;
    });
    return best || state.block->shared.empty() ? best : nearest_shared(address);
}

/// Nothing is mapped there, so no pointer to the host's memory can have led there.
bool is_nowhere(std::uintptr_t address) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char resident;
    return mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) != 0;
}

bool is_read_only_data(std::uintptr_t address) {
    for (const auto& [begin, size] : runtime_ranges())
        if (address - begin < size) return true;
    return in_read_only_segment(address);
}

}  // namespace

Act act_of(AccessKind kind) {
    switch (kind) {
        case AccessKind::read:
        case AccessKind::volatile_read:
        case AccessKind::fetch:
            return Act::read;
        case AccessKind::write:
        case AccessKind::volatile_write:
            return Act::write;
        default:
            return Act::atomic;
    }
}

void add_runtime_range(std::uintptr_t begin, std::size_t size) { runtime_ranges().push_back({begin, size}); }

void bad(Kind what, std::uintptr_t address, std::size_t size, AccessKind kind, const Array* array,
         const void* pc, bool guessed, std::int64_t meant) {
    {
        const OwnWork own;
        Report report = by_current_lane(Tool::memcheck, what, pc);
        report.act = act_of(kind);
        report.size = size;
        report.address = address;
        report.array = array;
        report.guessed = guessed;
        report.meant = meant;
        record(std::move(report));
    }
    state.stopped = true;
    ++state.block->stopped;
    this_worker->stop_lane();
}

const Array* nearest(std::uintptr_t address) {
    Location location;
    if (!simt::locate(reinterpret_cast<const void*>(address), &location)) return nullptr;
    return find_array(reinterpret_cast<std::uintptr_t>(location.begin));
}

const Array* nearest_shared(std::uintptr_t address) {
    const Array* best = nullptr;
    for (const Array& array : state.block->shared)
        if (!best || (array.begin <= address && array.begin > best->begin)) best = &array;
    return best;
}

Array* below_zero(std::uintptr_t address, std::size_t size) {
    constexpr std::uintptr_t near = 1U << 20;
    const std::uintptr_t meant = address - (std::uintptr_t{size} << 32);
    const auto above = state.live.upper_bound(meant);
    if (above != state.live.end() && above->first - meant <= near) return above->second;
    for (Array& array : state.block->shared)
        if (array.begin > meant && array.begin - meant <= near) return &array;
    return nullptr;
}

Wrapped wrapped(std::uintptr_t address, std::size_t size) {
    constexpr std::int64_t wrap = std::int64_t{1} << 32;
    for (const std::size_t stride : {size, std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
        for (std::uintptr_t times = 1; times <= 4; ++times) {
            const std::uintptr_t meant = address + times * (std::uintptr_t{stride} << 32);
            const Array* const array = find_array(meant);
            if (!array || !array->live || !array->holds(meant, size) || address >= array->begin) continue;
            const auto index = static_cast<std::int64_t>((meant - array->begin) / stride);
            if (index >= static_cast<std::int64_t>(times) * wrap - wrap / 2) return {array, index};
        }
    }
    return {};
}

Array* elsewhere(std::uintptr_t address, std::size_t size, AccessKind kind, const Array* before,
                 const void* pc) {
    if (Array* array = find_array(address)) return array;
    const auto closure = reinterpret_cast<std::uintptr_t>(execution.closure);
    if (address - closure < state.launch->grid.closure_bytes) return nullptr;
    const bool reads =
        kind == AccessKind::read || kind == AccessKind::volatile_read || kind == AccessKind::fetch;
    if (const Array* symbol = symbol_beside(address, false))
        bad(Kind::out_of_bounds, address, size, kind, symbol, pc);
    if (reads && is_read_only_data(address)) return nullptr;
    if (const Array* symbol = symbol_beside(address, true))
        bad(Kind::out_of_bounds, address, size, kind, symbol, pc);
    if (is_device_accessible(reinterpret_cast<const void*>(address), size)) return nullptr;  // pinned
    if (const Array* array = below_zero(address, size))
        bad(Kind::out_of_bounds, address, size, kind, array, pc, true);
    if (address < 65536) bad(Kind::null_pointer, address, size, kind, nullptr, pc);
    if (!argument_leads_to(address)) {
        if (const Wrapped index = wrapped(address, size); index.array)
            bad(Kind::out_of_bounds, address, size, kind, index.array, pc, false, index.index);
        if (is_nowhere(address)) {
            if (before) bad(Kind::out_of_bounds, address, size, kind, before, pc);
            if (const Array* array = far_from(address, size))
                bad(Kind::out_of_bounds, address, size, kind, array, pc, true);
        }
    }
    if (const Fiber* other = this_worker->fibers().holder(reinterpret_cast<const void*>(address)))
        if (lies_on(*other, address)) bad(Kind::local_memory, address, size, kind, nullptr, pc);
    bad(Kind::host_memory, address, size, kind, nullptr, pc);
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

Array* find_array_in_kernel(std::uintptr_t address) {
    return address - state.shared_begin < state.shared_size ? find_shared_array(address)
                                                            : find_array(address);
}

}  // namespace simt::check
