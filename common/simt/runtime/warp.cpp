#include "simt/warp.h"

#include <bit>

#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/worker.h"

namespace simt {
namespace {

constexpr std::uint64_t poison = ~std::uint64_t{0};

template <class F>
inline void each_lane(unsigned lanes, F f) {
    for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

template <class T, class F>
std::uint64_t fold(const Warp& warp, unsigned lanes, F f) {
    T total = static_cast<T>(warp.value[std::countr_zero(lanes)]);
    each_lane(lanes & (lanes - 1), [&](unsigned i) { total = f(total, static_cast<T>(warp.value[i])); });
    return static_cast<std::uint64_t>(total);
}

unsigned votes(const Warp& warp, unsigned lanes) {
    unsigned yes = 0;
    each_lane(lanes, [&](unsigned i) { yes |= static_cast<unsigned>(warp.value[i] != 0) << i; });
    return yes;
}

// All lanes that have to be there are: gives each its result. Done at once for all of them, because a lane
// that goes on may overwrite its value before another has read it.
void compute(Warp& warp, WarpOperation operation, unsigned lanes, unsigned mask, const void* site) {
    using Op = WarpOperation;
    std::uint64_t common = 0;
    switch (operation) {
        case Op::sync:
            return;
        case Op::shuffle: {
            unsigned stray = 0;
            each_lane(lanes, [&](unsigned i) {
                const unsigned from = warp.source[i];
                const bool there = lanes >> from & 1;
                stray |= static_cast<unsigned>(!there) << from;
                warp.result[i] = there ? warp.value[from] : poison;
            });
            if (stray) {
                // Named, but of a block that has fewer lanes: nobody expects these.
                const auto first = static_cast<unsigned>(&warp - execution.block->warps) * warp_lanes;
                const unsigned rest = execution.block->total - first;
                const unsigned exist = rest < warp_lanes ? (1u << rest) - 1 : ~0u;
                warn_stray_shuffle(*this_worker->launch(), (stray & mask & exist) != 0, site);
            }
            return;
        }
        case Op::match_any:
            each_lane(lanes, [&](unsigned i) {
                std::uint64_t same = 0;
                each_lane(lanes, [&](unsigned j) {
                    same |= static_cast<std::uint64_t>(warp.value[i] == warp.value[j]) << j;
                });
                warp.result[i] = same;
            });
            return;
        case Op::match_all: {
            bool same = true;
            const std::uint64_t first = warp.value[std::countr_zero(lanes)];
            each_lane(lanes, [&](unsigned i) { same &= warp.value[i] == first; });
            common = same ? lanes : 0;
            break;
        }
        case Op::all:
            common = votes(warp, lanes) == lanes;
            break;
        case Op::any:
            common = votes(warp, lanes) != 0;
            break;
        case Op::ballot:
            common = votes(warp, lanes);
            break;
        case Op::unanimous: {
            const unsigned yes = votes(warp, lanes);
            common = yes == 0 || yes == lanes;
            break;
        }
        case Op::add:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a + b; });
            break;
        case Op::min_signed:
            common = fold<std::int32_t>(warp, lanes, [](auto a, auto b) { return a < b ? a : b; });
            break;
        case Op::min_unsigned:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a < b ? a : b; });
            break;
        case Op::max_signed:
            common = fold<std::int32_t>(warp, lanes, [](auto a, auto b) { return a > b ? a : b; });
            break;
        case Op::max_unsigned:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a > b ? a : b; });
            break;
        case Op::bit_and:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a & b; });
            break;
        case Op::bit_or:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a | b; });
            break;
        case Op::bit_xor:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a ^ b; });
            break;
    }
    each_lane(lanes, [&](unsigned i) { warp.result[i] = common; });
}

// Completes `warp.rendezvous[slot]` if all have arrived; the lanes other than `running` become ready.
SIMT_DEVICE bool complete(Block& block, Warp& warp, unsigned slot, unsigned running) {
    // Field by field: a wide copy of what narrow stores have just written stalls.
    const Rendezvous& meeting = warp.rendezvous[slot];
    const unsigned arrived = meeting.arrived;
    if (__builtin_expect(arrived != (meeting.mask & warp.live), 1)) return false;
    warp.active &= ~(1u << slot);
    compute(warp, static_cast<WarpOperation>(meeting.operation), arrived, meeting.mask, meeting.site);
    Lane* lanes = block.lanes + (&warp - block.warps) * warp_lanes;
    each_lane(arrived & ~running, [&](unsigned i) { block.ready->push(lanes[i]); });
    ++block.events;
    observe::warp_completes(block, static_cast<unsigned>(&warp - block.warps), arrived, meeting.operation);
    return true;
}

}  // namespace

Transfer arrive_at_warp(WarpOperation operation, unsigned mask, std::uint64_t value,
                        unsigned source) SIMT_WAITS {
    const void* site = SIMT_SITE;
    Lane& me = current_lane();
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
    warp.value[lane] = value;
    warp.source[lane] = source;
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

std::uint64_t warp_result() {
    const auto index = static_cast<unsigned>(execution.lane - execution.block->lanes);
    return execution.block->warps[index / warp_lanes].result[index % warp_lanes];
}

void complete_after_exit(Block& block, Warp& warp) {
    each_lane(warp.active, [&](unsigned slot) {
        if (warp.rendezvous[slot].operation != active_mask_operation) complete(block, warp, slot, 0);
    });
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

void resolve_active_masks(Block& block) {
    for (unsigned w = 0; w * warp_lanes < block.total; ++w) {
        Warp& warp = block.warps[w];
        each_lane(warp.active, [&](unsigned slot) {
            const Rendezvous meeting = warp.rendezvous[slot];
            if (meeting.operation != active_mask_operation) return;
            warp.active &= ~(1u << slot);
            each_lane(meeting.arrived, [&](unsigned i) {
                warp.result[i] = meeting.arrived;
                block.ready->push(block.lanes[w * warp_lanes + i]);
                --block.soft_waits;
            });
        });
    }
    ++block.events;
}

}  // namespace simt
