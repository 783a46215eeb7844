// Who comes before whom.
#include "check/order.h"

#include <memory>
#include <utility>

namespace simt::check {
namespace {

/// `release` made lane `lane`'s access in segment `s` visible; lane 32: of some lane.
bool releases(const Release& release, std::uint32_t s, const Segment& segment, unsigned lane) {
    if (s < release.fence.block_base) return true;
    if (release.warp != segment.warp) return s < release.fence.met[segment.warp];
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
    if (a.warp != now.warp) return a.segment < now.block.met[now.warp][a.warp];
    const WarpClock& warp = now.block.warps[now.warp];
    return a.lane == now.lane || a.segment < (warp.partial ? warp.lanes->known[now.lane][a.lane] : warp.base);
}

}  // namespace

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
        } else if (s < block.met[now.warp][segment.warp]) {
            return true;
        }
    }
    if (block.acquisitions.empty()) return false;
    Visited visited;
    for (const Acquisition& a : block.acquisitions)
        if (knows(now, a) && covered(*a.signal, a.count, block.number, s, segment, lane, visited))
            return true;
    return false;
}

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

}  // namespace simt::check
