/// @file
/// What comes before what the current lane does; see state.h.
#pragma once

#include "check/state.h"

namespace simt::check {

/// Where the current lane stands.
struct Now {
    BlockState& block;
    unsigned warp, lane;
    std::uint32_t segment;
    /// All before it is ordered: of shared memory the block's last barrier, else State::order_base.
    std::uint32_t horizon;
};

/// Lane `lane` of segment `s`'s warp did something then that comes before what `now` does.
bool ordered(const Now& now, std::uint32_t s, unsigned lane);
/// The lowest of `lanes` whose access in segment `s` is not ordered before `now`; 32: all are.
unsigned unordered_lane(const Now& now, std::uint32_t s, std::uint32_t lanes);
/// Two segments of the running launch are of one warp.
bool same_warp(std::uint32_t a, std::uint32_t b);
/// An atomic on `address`: takes what others released there, and releases what this lane has fenced. With
/// `ordering` it does what that says instead, or in addition to the lane's fences.
void synchronise(const Now& now, std::uintptr_t address, bool reads, bool writes, const Ordering* ordering);
/// The current lane fences: it acquires what it has seen by relaxed operations; `device`: of other blocks,
/// too.
void acquire_relaxed(const Now& now, bool device);
/// The launch around the running one that segment `s` is of; nullptr: none.
const ParentLaunch* parent_of(std::uint32_t s);
/// The point that what the current lane launches now comes after.
Release launch_point(const Now& now);
/// The fence of a lane, now: what the lane does from then on is not fenced.
Fence make_fence(BlockState& block, unsigned flat, bool device);
/// Forgets all releases and acquisitions. What has happened in this launch counts as ordered before all that
/// will.
void forget_signals();

/// The current lane arrives at a barrier in two halves: all that it did or knew shall be known at its end.
void arrive(const Now& now, PhaseRecord& phase);
/// The current lane comes to know `knowledge`.
void learn(const Now& now, const SharedKnowledge& knowledge);
/// These lanes of the block have met: what one of them was told, all are.
void share_told(BlockState& block, unsigned first, std::uint32_t lanes);
/// So have all lanes of these warps, the parts of a tile.
void share_told_in_tile(BlockState& block, unsigned first_warp, unsigned warps);
/// So have all lanes of the block, which come after all that it did.
void share_told(BlockState& block);

}  // namespace simt::check
