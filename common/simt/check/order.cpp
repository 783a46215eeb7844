// Who comes before whom.
#include "check/order.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace simt::check {
namespace {

/// `release` made lane `lane`'s access in segment `s` visible; lane 32: of some lane.
bool releases(const Release& release, std::uint32_t s, const Segment& segment, unsigned lane) {
    if (s < release.fence.block_base) return true;
    if (release.fence.told && release.fence.told->covers(s, segment, lane)) return true;
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
    if (!block.told.empty()) {
        const SharedKnowledge& told = block.told[now.warp * warp_lanes + now.lane];
        if (told && told->covers(s, segment, lane)) return true;
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

// ---- Barriers in two halves -------------------------------------------------------------------------------

bool Knowledge::covers(std::uint32_t s, const Segment& segment, unsigned lane) const {
    const auto found = of_block.find(segment.block);
    if (found == of_block.end()) return false;
    const std::uint32_t* warp = found->second.data() + segment.warp * warp_lanes;
    return s < (lane == warp_lanes ? *std::max_element(warp, warp + warp_lanes) : warp[lane]);
}

bool Knowledge::includes(const Knowledge& other) const {
    for (const auto& [block, lanes] : other.of_block) {
        const auto found = of_block.find(block);
        if (found == of_block.end() || !std::equal(lanes.begin(), lanes.end(), found->second.begin(),
                                                   [](std::uint32_t a, std::uint32_t b) { return a <= b; }))
            return false;
    }
    return true;
}

void Knowledge::add(const Knowledge& other) {
    for (const auto& [block, lanes] : other.of_block) {
        auto& mine = of_block[block];
        mine.resize(lanes.size());
        std::transform(lanes.begin(), lanes.end(), mine.begin(), mine.begin(),
                       [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    }
}

void arrive(const Now& now, PhaseRecord& phase) {
    BlockState& block = now.block;
    Knowledge& arrived = phase.arrived;
    if (!block.told.empty()) {
        const SharedKnowledge& told = block.told[now.warp * warp_lanes + now.lane];
        if (told && told != phase.ended) arrived.add(*told);
    }
    auto& lanes = arrived.of_block[block.number];
    lanes.resize(warp_lanes * ((state.launch->lanes + warp_lanes - 1) / warp_lanes));
    for (std::uint32_t& known : lanes) known = std::max(known, block.base);
    LaneClocks& clocks = lane_clocks(block.warps[now.warp]);
    std::uint32_t* warp = lanes.data() + now.warp * warp_lanes;
    for (unsigned i = 0; i < warp_lanes; ++i) warp[i] = std::max(warp[i], clocks.known[now.lane][i]);
    warp[now.lane] = state.next_segment;
    // What the lane does from now on is not known to those who wait: it gets a segment of its own.
    clocks.segment[now.lane] = 0;
    for (const Acquisition& a : block.acquisitions) {
        if (!knows(now, a)) continue;
        const auto same = std::find_if(arrived.acquisitions.begin(), arrived.acquisitions.end(),
                                       [&](const Acquisition& other) { return other.signal == a.signal; });
        if (same == arrived.acquisitions.end())
            arrived.acquisitions.push_back(a);
        else
            same->count = std::max(same->count, a.count);
    }
}

void learn(const Now& now, const SharedKnowledge& knowledge) {
    if (!knowledge) return;
    BlockState& block = now.block;
    if (block.told.empty()) block.told.resize(max_block_lanes);
    SharedKnowledge& told = block.told[now.warp * warp_lanes + now.lane];
    if (!told || knowledge->includes(*told)) {
        told = knowledge;
    } else if (!told->includes(*knowledge)) {
        auto both = std::make_shared<Knowledge>(*told);
        both->add(*knowledge);
        told = std::move(both);
    }
    for (const Acquisition& a : knowledge->acquisitions)
        block.acquisitions.push_back({a.signal, a.count, now.segment, now.warp, now.lane});
}

namespace {

/// Adds to `joint` what a lane was told, unless that is `last`: lanes often share it.
void add_told(std::shared_ptr<Knowledge>& joint, const SharedKnowledge& told, const Knowledge*& last) {
    if (!told || told.get() == last) return;
    last = told.get();
    if (!joint) joint = std::make_shared<Knowledge>();
    joint->add(*told);
}

/// What any of these lanes was told; null if none was told anything.
std::shared_ptr<Knowledge> told_to(std::span<const SharedKnowledge> lanes) {
    std::shared_ptr<Knowledge> joint;
    const Knowledge* last = nullptr;
    for (const SharedKnowledge& told : lanes) add_told(joint, told, last);
    return joint;
}

}  // namespace

void share_told(BlockState& block, unsigned first, std::uint32_t lanes) {
    if (block.told.empty()) return;
    const auto mine = block.told.begin() + first;
    std::shared_ptr<Knowledge> joint;
    const Knowledge* last = nullptr;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        add_told(joint, mine[__builtin_ctz(rest)], last);
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) mine[__builtin_ctz(rest)] = joint;
}

void share_told_in_tile(BlockState& block, unsigned first_warp, unsigned warps) {
    if (block.told.empty()) return;
    const std::span lanes = std::span(block.told).subspan(first_warp * warp_lanes, warps * warp_lanes);
    std::fill(lanes.begin(), lanes.end(), told_to(lanes));
}

void share_told(BlockState& block) {
    if (block.told.empty()) return;
    const std::shared_ptr<Knowledge> joint = told_to(block.told);
    if (joint) joint->of_block.erase(block.number);
    if (!joint || joint->of_block.empty())
        block.told.clear();
    else
        std::fill(block.told.begin(), block.told.end(), joint);
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
