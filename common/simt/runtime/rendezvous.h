/// @file
/// Lanes of a warp that meet in an operation.
#pragma once

#include <bit>

#include "runtime/block.h"
#include "runtime/observe.h"
#include "simt/warp.h"

namespace simt {

template <class F>
inline void each_lane(unsigned lanes, F f) {
    for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// All lanes that have to be there are: gives each its result. Done at once for all of them, because a lane
/// that goes on may overwrite its value before another has read it.
void compute(Warp& warp, WarpOperation operation, unsigned lanes, unsigned mask, const void* site);

/// These of a warp's lanes can run. They go first, because what they work on is still in the processor's
/// caches; but not for ever, as the other warps may have what they wait for.
SIMT_DEVICE void make_ready(Block& block, Lane* lanes, unsigned which) {
    constexpr unsigned favours = 64;
    LaneQueue& ready = *block.ready;
    if (observe::on || ready.head < warp_lanes || ++block.favours % favours == 0) {
        each_lane(which, [&](unsigned i) { ready.push(lanes[i]); });
        return;
    }
    ready.head -= static_cast<unsigned>(std::popcount(which));
    Lane** place = ready.lanes + ready.head;
    each_lane(which, [&](unsigned i) { *place++ = &lanes[i]; });
}

/// Completes `warp.rendezvous[slot]` if all have arrived; the lanes other than `running` become ready.
SIMT_DEVICE bool complete(Block& block, Warp& warp, unsigned slot, unsigned running) {
    // Field by field: a wide copy of what narrow stores have just written stalls.
    const Rendezvous& meeting = warp.rendezvous[slot];
    const unsigned arrived = meeting.arrived;
    if (__builtin_expect(arrived != (meeting.mask & warp.live), 1)) return false;
    warp.active &= ~(1u << slot);
    compute(warp, static_cast<WarpOperation>(meeting.operation), arrived, meeting.mask, meeting.site);
    Lane* lanes = block.lanes + (&warp - block.warps) * warp_lanes;
    make_ready(block, lanes, arrived & ~running);
    ++block.events;
    observe::warp_completes(block, static_cast<unsigned>(&warp - block.warps), arrived, meeting.operation);
    return true;
}

/// A lane of `warp` has exited: operations may now be complete.
void complete_after_exit(Block& block, Warp& warp);
/// Lets lanes waiting at __activemask() go, when nothing else in the block can run.
void resolve_active_masks(Block& block);

/// A lane of warp `w` has exited: operations of its tiles may now be complete.
void complete_tiles_after_exit(Block& block, unsigned w);

}  // namespace simt
