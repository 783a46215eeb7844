#include "simt/tile.h"

#include <bit>

#include "runtime/observe.h"
#include "runtime/rendezvous.h"
#include "runtime/report.h"
#include "runtime/worker.h"

namespace simt {
namespace {

constexpr unsigned min_tile = 2 * warp_lanes, max_tile = max_block_lanes / 2;

/// Numbers the tiles of all sizes: those of two warps from 16 on, of four from 8 on ...
unsigned tile_number(unsigned warp, unsigned size) { return (max_block_warps + warp) / (size / warp_lanes); }

template <class F>
void each_lane_of_tile(Block& block, unsigned first, unsigned warps, F f) {
    for (unsigned w = first; w != first + warps; ++w)
        each_lane(block.warps[w].live, [&](unsigned i) { f(block.warps[w], w, i); });
}

/// Gives each lane its result, at once for the same reason as compute() does.
void compute_tile(Block& block, unsigned first, unsigned warps, TileOperation operation) {
    if (operation == TileOperation::sync) return;
    if (operation == TileOperation::shuffle || operation == TileOperation::broadcast) {
        const void* stray = nullptr;
        each_lane_of_tile(block, first, warps, [&](Warp& warp, unsigned w, unsigned i) {
            const Warp& from = block.warps[warp.source[i] / warp_lanes];
            const unsigned lane = warp.source[i] % warp_lanes;
            const bool there = from.live >> lane & 1;
            if (!there) stray = block.lanes[w * warp_lanes + i].site;
            warp.result[i] = there ? from.value[lane] : ~std::uint64_t{0};
        });
        if (stray) warn_stray_shuffle(*this_worker->launch(), true, stray);
        return;
    }
    bool every = true, some = false;
    each_lane_of_tile(block, first, warps, [&](const Warp& warp, unsigned, unsigned i) {
        every &= warp.value[i] != 0;
        some |= warp.value[i] != 0;
    });
    each_lane_of_tile(block, first, warps, [&](Warp& warp, unsigned, unsigned i) {
        warp.result[i] = operation == TileOperation::all ? every : some;
    });
}

/// Completes an operation of warp `w`'s tile of `size` if all have arrived; the lanes other than `running`
/// become ready.
bool complete_tile(Block& block, unsigned w, unsigned size, TileOperation operation, const Lane* running) {
    TileMeeting& meeting = block.tiles[tile_number(w, size)][static_cast<int>(operation)];
    const unsigned warps = size / warp_lanes, first = w / warps * warps;
    unsigned live = 0;
    for (unsigned i = first; i != first + warps; ++i) {
        if (block.warps[i].live == 0) return false;
        live += static_cast<unsigned>(std::popcount(block.warps[i].live));
    }
    if (meeting.arrived != live) return false;
    meeting.arrived = 0;
    block.tile_waits -= live;
    compute_tile(block, first, warps, operation);
    each_lane_of_tile(block, first, warps, [&](Warp& warp, unsigned v, unsigned i) {
        warp.at_tile &= ~(1u << i);
        Lane& lane = block.lanes[v * warp_lanes + i];
        if (&lane != running) block.ready->push(lane);
    });
    ++block.events;
    observe::tile_completes(block, first, warps, static_cast<unsigned>(operation));
    return true;
}

}  // namespace

void divide_into_tiles(unsigned size) {
    if (!execution.in_lane) report_outside_lane("tiled_partition()");
    observe::tiles_made();
    if (execution.block->total % size != 0)
        fail_lane("the block's threads do not divide into tiles of this size", SIMT_SITE);
}

Transfer arrive_at_tile(TileOperation operation, unsigned size, std::uint64_t value,
                        unsigned source) SIMT_WAITS {
    const void* site = SIMT_SITE;
    Lane& me = current_lane();
    Block& block = *execution.block;
    const unsigned index = static_cast<unsigned>(&me - block.lanes);
    const unsigned w = index / warp_lanes, lane = index % warp_lanes;
    Warp& warp = block.warps[w];
    TileMeeting& meeting = block.tiles[tile_number(w, size)][static_cast<int>(operation)];
    if (meeting.arrived == 0) meeting.source = source;
    if (operation == TileOperation::broadcast && meeting.source != source)
        fail_lane("the threads of a tile of more than a warp give shfl() different ranks, which is undefined",
                  site);
    ++meeting.arrived;
    ++block.tile_waits;
    warp.at_tile |= 1u << lane;
    warp.value[lane] = value;
    warp.source[lane] = source;
    warp.mask[lane] = size;
    me.operation = static_cast<std::uint8_t>(operation);
    me.site = site;
    if (complete_tile(block, w, size, operation, &me)) {
        if (__builtin_expect(this_worker->launch()->cancelled.load(std::memory_order_relaxed), 0))
            this_worker->leave_to_root();
        return nullptr;
    }
    return go_on(block, me);
}

void complete_tiles_after_exit(Block& block, unsigned w) {
    for (unsigned size = min_tile; size <= max_tile; size *= 2)
        for (int operation = 0; operation <= static_cast<int>(TileOperation::any); ++operation)
            if (block.tiles[tile_number(w, size)][operation].arrived != 0)
                complete_tile(block, w, size, static_cast<TileOperation>(operation), nullptr);
}

}  // namespace simt
