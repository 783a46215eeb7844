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

/// The lane knew `a` when it made `release`.
bool knew(const Release& release, const Acquisition& a) {
    const Fence& fence = release.fence;
    if (a.segment < fence.block_base) return true;
    if (a.warp != release.warp) return a.segment < fence.met[a.warp];
    return a.segment < (a.lane == release.lane ? fence.segment : fence.known[a.lane]);
}

/// Looks for a chain of releases and acquisitions from one access to another. Not by recursion: a chain may
/// have a link for every block, and the stack here is a lane's.
struct ChainSearch {
    std::uint32_t s;
    const Segment& segment;
    unsigned lane;
    struct Seen {
        const Signal* signal;
        std::uint32_t count, reader;
        bool device;
    };
    struct Link {
        const Acquisition* acquisition;
        std::uint32_t reader;
    };
    std::vector<Seen> seen = {};
    std::vector<Link> open = {};  ///< still to be followed
    unsigned steps = 0;

    /// One of the releases that `last` saw, or of what these had been told, made the access visible to block
    /// `reader`.
    bool covered(const Acquisition& last, std::uint32_t reader);
    /// The same of the releases that `a` saw; what these had been told is left open.
    bool covered_at_once(const Acquisition& a, std::uint32_t reader);
};

/// After so many steps the search ends, and the accesses count as ordered: a finding has to be true.
constexpr unsigned most_steps = 1u << 20;

bool ChainSearch::covered(const Acquisition& last, std::uint32_t reader) {
    open.push_back({&last, reader});
    while (!open.empty()) {
        const Link link = open.back();
        open.pop_back();
        if (covered_at_once(*link.acquisition, link.reader)) return true;
    }
    return false;
}

bool ChainSearch::covered_at_once(const Acquisition& a, std::uint32_t reader) {
    const Signal& signal = *a.signal;
    steps += 1 + static_cast<unsigned>(seen.size() / 8);
    // Lists of one reader are beginnings of one list: what the longest lacks, the others lack, too.
    const auto alike = std::find_if(seen.begin(), seen.end(), [&](const Seen& other) {
        return other.signal == &signal && other.reader == reader && other.device == a.device;
    });
    const std::uint32_t first = alike == seen.end() ? 0 : alike->count;
    if (first >= a.count) return false;
    if (alike == seen.end())
        seen.push_back({&signal, a.count, reader, a.device});
    else
        alike->count = a.count;
    const auto visible = [&](const Release& release) {
        return release.block == reader || (release.fence.device && a.device);
    };
    const auto [begin, end] = signal.of_block.equal_range(segment.block);
    for (auto found = begin; found != end; ++found) {
        const Release& release = signal.releases[found->second];
        ++steps;
        if (found->second < a.count && visible(release) && releases(release, s, segment, lane)) return true;
    }
    for (std::uint32_t i = first; i < a.count; ++i) {
        const Release& release = signal.releases[i];
        if (!release.told || !visible(release)) continue;
        for (std::uint32_t k = 0; k < release.count; ++k) {
            const Acquisition& earlier = (*release.told)[k];
            if (++steps > most_steps) return true;
            if (knew(release, earlier)) open.push_back({&earlier, release.block});
        }
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

/// Access `s` of a launch around this one comes before the launch by a lane of it that led here.
bool ordered_in_parent(std::uint32_t s, unsigned lane) {
    const ParentLaunch* const parent = parent_of(s);
    if (!parent || parent->tail || parent->begun == 0 || s < state.segments_from) return true;
    const Release& point = parent->launches[parent->begun - 1];
    const Segment& segment = state.segments[s - state.segments_from];
    if (releases(point, s, segment, lane)) return true;
    if (parent->signals != state.signals_forgotten) return true;  // forgotten: it may be ordered
    if (!point.told) return false;
    ChainSearch search{s, segment, lane};
    for (std::uint32_t k = 0; k < point.count; ++k) {
        const Acquisition& a = (*point.told)[k];
        if (knew(point, a) && search.covered(a, point.block)) return true;
    }
    return false;
}

}  // namespace

const ParentLaunch* parent_of(std::uint32_t s) {
    for (const ParentLaunch& parent : state.parents)
        if (s >= parent.first_segment && s < parent.end) return &parent;
    return nullptr;
}

bool ordered(const Now& now, std::uint32_t s, unsigned lane) {
    if (s < state.order_base) return true;
    if (__builtin_expect(s < state.first_segment, 0)) return foreign_ordered(s) && ordered_in_parent(s, lane);
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
    if (block.acquisitions->empty() || block.signals != state.signals_forgotten) return false;
    ChainSearch search{s, segment, lane};
    for (const Acquisition& a : *block.acquisitions)
        if (knows(now, a) && search.covered(a, block.number)) return true;
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

Fence make_fence(BlockState& block, unsigned flat, bool device) {
    const unsigned lane = flat % warp_lanes;
    LaneClocks& clocks = lane_clocks(block.warps[flat / warp_lanes]);
    Fence f;
    f.segment = state.next_segment;
    f.block_base = block.base;
    std::copy_n(clocks.known[lane], warp_lanes, f.known);
    f.met = block.met[flat / warp_lanes];
    f.device = device;
    f.told = block.told.empty() ? nullptr : block.told[flat];
    // What the lane does from now on is not fenced: it gets a segment of its own.
    clocks.segment[lane] = 0;
    state.fences = true;
    return f;
}

void forget_signals() {
    state.signals.clear();
    state.releases = 0;
    ++state.signals_forgotten;
    state.launch_base = state.next_segment;
    for (auto& [address, phase] : state.phases) {
        phase.arrived.acquisitions.clear();
        if (!phase.ended || phase.ended->acquisitions.empty()) continue;
        auto ended = std::make_shared<Knowledge>();
        ended->of_block = phase.ended->of_block;
        phase.ended = std::move(ended);
    }
}

namespace {

/// What the block's lanes have acquired since signals were last forgotten.
Acquisitions& acquisitions_of(BlockState& block) {
    if (block.signals != state.signals_forgotten) {
        block.signals = state.signals_forgotten;
        block.acquisitions = std::make_shared<Acquisitions>();
        block.released_at = 0;
        block.relaxed.clear();
    }
    return *block.acquisitions;
}

/// A lane that sees a signal again replaces what it saw before, unless a release in between refers to that.
void acquire(const Now& now, const Acquisition& a) {
    Acquisitions& all = acquisitions_of(now.block);
    for (std::size_t i = all.size(); i > now.block.released_at && all.size() - i < 8; --i) {
        Acquisition& known = all[i - 1];
        if (known.signal != a.signal || known.warp != a.warp || known.lane != a.lane ||
            known.segment != a.segment || known.device != a.device)
            continue;
        known.count = std::max(known.count, a.count);
        return;
    }
    all.push_back(a);
}

}  // namespace

void acquire_relaxed(const Now& now, bool device) {
    acquisitions_of(now.block);
    const auto found = now.block.relaxed.find(now.warp * warp_lanes + now.lane);
    if (found == now.block.relaxed.end()) return;
    for (Acquisition a : found->second) {
        a.segment = now.segment;
        a.device = a.device && device;
        acquire(now, a);
    }
    now.block.relaxed.erase(found);
}

/// Hands a release what the lanes of its block have acquired; knew() tells which of it the releasing lane
/// knew.
static void keep_told(BlockState& block, Release& release) {
    const Acquisitions& all = acquisitions_of(block);
    if (all.empty()) return;
    release.told = block.acquisitions;
    release.count = static_cast<std::uint32_t>(all.size());
    block.released_at = all.size();
}

Release launch_point(const Now& now) {
    const unsigned flat = now.warp * warp_lanes + now.lane;
    Release point{now.block.number, now.warp, now.lane, make_fence(now.block, flat, true), nullptr, 0};
    keep_told(now.block, point);
    return point;
}

void synchronise(const Now& now, std::uintptr_t address, bool reads, bool writes, const Ordering* ordering) {
    const unsigned flat = now.warp * warp_lanes + now.lane;
    // Beyond this all is forgotten and counts as ordered: races may be missed, and none is made up.
    constexpr std::size_t most_releases = 1 << 17;
    if (state.releases > most_releases) forget_signals();
    auto found = state.signals.find(address);
    if (found != state.signals.end() && !found->second.releases.empty() && (reads || !ordering)) {
        const Signal& signal = found->second;
        const auto count = static_cast<std::uint32_t>(signal.releases.size());
        const Acquisition a{&signal, count, now.segment, now.warp, now.lane, !ordering || ordering->device};
        if (!ordering || ordering->acquires) {
            acquire(now, a);
        } else {
            Acquisitions& relaxed = now.block.relaxed[flat];
            const auto same = std::find_if(relaxed.begin(), relaxed.end(),
                                           [&](const Acquisition& other) { return other.signal == &signal; });
            if (same == relaxed.end())
                relaxed.push_back(a);
            else
                *same = a;
        }
    }
    if (!writes) return;
    const auto fence = now.block.fences.find(flat);
    const bool fenced = fence != now.block.fences.end();
    const bool releases = ordering && ordering->releases;
    if (!releases && !fenced) return;
    Release release{now.block.number, now.warp, now.lane, {}, nullptr, 0};
    release.fence = releases ? make_fence(now.block, flat, ordering->device) : fence->second;
    release.fence.device = release.fence.device && (!ordering || ordering->device);
    keep_told(now.block, release);
    Signal& signal = state.signals[address];
    signal.of_block.emplace(now.block.number, static_cast<std::uint32_t>(signal.releases.size()));
    signal.releases.push_back(std::move(release));
    ++state.releases;
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
    for (const Acquisition& a : acquisitions_of(block)) {
        if (!knows(now, a)) continue;
        const auto same = std::find_if(
            arrived.acquisitions.begin(), arrived.acquisitions.end(),
            [&](const Acquisition& other) { return other.signal == a.signal && other.device == a.device; });
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
        acquisitions_of(block).push_back({a.signal, a.count, now.segment, now.warp, now.lane, a.device});
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
