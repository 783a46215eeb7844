#include "simt/warp.h"

#include <bit>

#include "runtime/observe.h"
#include "runtime/rendezvous.h"
#include "runtime/worker.h"

namespace simt {

namespace {

/// The rest of arrive_at_warp() where a meeting begins or ends. Out of line, so that the common way saves few
/// registers.
[[gnu::noinline]] Transfer begin_or_end(WarpOperation operation, unsigned mask, const void* site) {
    Lane& me = *execution.lane;
    Block& block = *execution.block;
    const unsigned index = static_cast<unsigned>(&me - block.lanes);
    const unsigned lane = index % warp_lanes, bit = 1u << lane;
    Warp& warp = block.warps[index / warp_lanes];
    if (__builtin_expect((mask & bit) == 0, 0)) {
        if constexpr (observe::on) {
            observe::wrong_mask(mask, site);
            this_worker->stop_lane();
        }
        fail_lane("the mask of a warp operation does not name its caller", site);
    }

    const unsigned code = static_cast<unsigned>(operation);
    unsigned slot = warp_lanes;
    for (unsigned rest = warp.active; rest != 0; rest &= rest - 1) {
        const unsigned i = static_cast<unsigned>(std::countr_zero(rest));
        if (warp.rendezvous[i].mask == mask && warp.rendezvous[i].operation == code) {
            slot = i;
            break;
        }
    }
    if (slot == warp_lanes) {
        slot = static_cast<unsigned>(std::countr_one(warp.active));
        warp.active |= 1u << slot;
        Rendezvous& fresh = warp.rendezvous[slot];
        fresh.mask = mask;
        fresh.arrived = 0;
        fresh.operation = code;
        fresh.site = site;
    }
    warp.rendezvous[slot].arrived |= bit;
    if (complete(block, warp, slot, bit)) {
        if (__builtin_expect(this_worker->launch()->cancelled.load(std::memory_order_relaxed), 0))
            this_worker->leave_to_root();
        return nullptr;
    }
    me.operation = static_cast<std::uint8_t>(operation);
    warp.mask[lane] = mask;
    me.site = site;
    return go_on(block, me);
}

/// arrive_at_warp() of a block's first lane that waits.
[[gnu::noinline, gnu::cold]] Transfer arrive_first(WarpOperation operation, unsigned mask,
                                                   std::uint64_t value, unsigned source, const void* site) {
    make_lane_records();
    const auto index = static_cast<unsigned>(execution.lane - execution.block->lanes);
    Warp& warp = execution.block->warps[index / warp_lanes];
    warp.value[index % warp_lanes] = value;
    warp.source[index % warp_lanes] = source;
    return begin_or_end(operation, mask, site);
}

}  // namespace

Transfer arrive_at_warp(WarpOperation operation, unsigned mask, std::uint64_t value,
                        unsigned source) SIMT_WAITS {
    const void* site = SIMT_SITE;
    Lane* me = execution.lane;
    if (__builtin_expect(me == nullptr, 0)) return arrive_first(operation, mask, value, source, site);
    Block& block = *execution.block;
    const unsigned index = static_cast<unsigned>(me - block.lanes);
    const unsigned lane = index % warp_lanes, bit = 1u << lane;
    Warp& warp = block.warps[index / warp_lanes];
    warp.value[lane] = value;
    warp.source[lane] = source;
    // The lanes of a warp mostly come one after the other to the same operation, and to no other.
    Rendezvous& meeting = warp.rendezvous[0];
    const unsigned arrived = meeting.arrived | bit;
    if (warp.active != 1 || meeting.mask != mask || (mask & bit) == 0 ||
        meeting.operation != static_cast<unsigned>(operation) || arrived == (mask & warp.live) ||
        block.ready->empty())
        return begin_or_end(operation, mask, site);
    meeting.arrived = arrived;
    warp.mask[lane] = mask;
    me->operation = static_cast<std::uint8_t>(operation);
    me->site = site;
    return go_on(block, *me);
}

std::uint64_t warp_result() {
    const auto index = static_cast<unsigned>(execution.lane - execution.block->lanes);
    return execution.block->warps[index / warp_lanes].result[index % warp_lanes];
}

// Lanes at one call of __activemask() form a rendezvous without a mask, told apart by its site. It is
// complete when all lanes of the warp have come, or when the block can do nothing else.
Transfer arrive_at_active_mask() SIMT_WAITS {
    const void* site = SIMT_SITE;
    Lane& me = current_lane();
    Block& block = *execution.block;
    const unsigned index = static_cast<unsigned>(&me - block.lanes);
    const unsigned lane = index % warp_lanes, bit = 1u << lane;
    Warp& warp = block.warps[index / warp_lanes];
    unsigned slot = warp_lanes;
    each_lane(warp.active, [&](unsigned i) {
        if (warp.rendezvous[i].operation == active_mask_operation && warp.rendezvous[i].site == site)
            slot = i;
    });
    if (slot == warp_lanes) {
        slot = static_cast<unsigned>(std::countr_one(warp.active));
        warp.active |= 1u << slot;
        warp.rendezvous[slot] = {0, 0, active_mask_operation, site};
    }
    Rendezvous& meeting = warp.rendezvous[slot];
    meeting.arrived |= bit;
    Lane* lanes = block.lanes + (index - lane);
    if (meeting.arrived == warp.live) {
        warp.active &= ~(1u << slot);
        const unsigned all = meeting.arrived;
        warp.result[lane] = all;
        each_lane(all & ~bit, [&](unsigned i) {
            warp.result[i] = all;
            block.ready->push(lanes[i]);
            --block.soft_waits;
        });
        ++block.events;
        return nullptr;
    }
    ++block.soft_waits;
    me.site = site;
    return go_on(block, me);
}

}  // namespace simt
