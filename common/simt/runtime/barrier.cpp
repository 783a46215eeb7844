// Barriers of a block and of a grid, and the small change of device code.
#include <chrono>

#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/worker.h"
#include "simt/device.h"
#include "simt/grid_barrier.h"

namespace simt {
namespace {

// The rare cases are tail calls, so that the usual one saves no registers.

[[gnu::noinline, gnu::cold]] Transfer arrive_first(Wait kind, bool vote, const void* site);

[[gnu::noinline]] Transfer complete(Block& block, Barrier& barrier) {
    this_worker->release(block, barrier);
    return nullptr;
}

SIMT_DEVICE Transfer arrive_at(Wait kind, bool vote, const void* site) {
    Lane* me = execution.lane;
    if (__builtin_expect(me == nullptr, 0)) return arrive_first(kind, vote, site);
    Block& block = *execution.block;
    Barrier& barrier = block.barriers[static_cast<int>(kind)];
    barrier.votes += vote;
    if constexpr (observe::on) {
        if (__builtin_expect(block.last_site == site && block.last_kind == static_cast<int>(kind), 1))
            ++block.at_last_site;
        else
            observe::barrier_reached(block, static_cast<int>(kind), site);
    }
    LaneQueue& waiting = *barrier.waiting;
    // Only whole barriers empty this queue, so it starts at 0.
    if (waiting.tail + 1 == block.live && kind != Wait::grid) return complete(block, barrier);
    waiting.lanes[waiting.tail++] = me;
    me->site = site;
    return go_on(block, *me);
}

Transfer arrive_first(Wait kind, bool vote, const void* site) {
    make_lane_records();
    switch (kind) {
        case Wait::count:
            return arrive_at(Wait::count, vote, site);
        case Wait::all:
            return arrive_at(Wait::all, vote, site);
        case Wait::any:
            return arrive_at(Wait::any, vote, site);
        case Wait::grid:
            return arrive_at(Wait::grid, vote, site);
        default:
            return arrive_at(Wait::sync, vote, site);
    }
}

void require_lane(const char* what) {
    if (!execution.in_lane) report_outside_lane(what);
}

}  // namespace

Transfer arrive_at_grid_barrier() SIMT_WAITS {
    require_lane("grid.sync()");
    if (!this_worker->launch()->grid.cooperative)
        fail_lane("grid.sync() in a kernel that was not launched with cudaLaunchCooperativeKernel()",
                  SIMT_SITE);
    return arrive_at(Wait::grid, false, SIMT_SITE);
}

bool grid_is_cooperative() { return execution.in_lane && this_worker->launch()->grid.cooperative; }

Transfer arrive_at_barrier() SIMT_WAITS { return arrive_at(Wait::sync, false, SIMT_SITE); }
Transfer arrive_at_count(bool vote) SIMT_WAITS { return arrive_at(Wait::count, vote, SIMT_SITE); }
Transfer arrive_at_and(bool vote) SIMT_WAITS { return arrive_at(Wait::all, !vote, SIMT_SITE); }
Transfer arrive_at_or(bool vote) SIMT_WAITS { return arrive_at(Wait::any, vote, SIMT_SITE); }

int count_result() {
    return static_cast<int>(execution.block->barriers[static_cast<int>(Wait::count)].result);
}
int and_result() { return execution.block->barriers[static_cast<int>(Wait::all)].result == 0; }
int or_result() { return execution.block->barriers[static_cast<int>(Wait::any)].result != 0; }

Transfer arrive_at_sleep() SIMT_WAITS { return arrive_at_yield(SIMT_SITE); }

}  // namespace simt

void __trap() {
    simt::require_lane("__trap()");
    simt::fail_lane("__trap()", SIMT_SITE);
}

long long clock64() {
    static const char clock = 0;
    // Whoever asks again and again waits for time to pass, and it passes for other lanes, too. To measure
    // something, two questions are enough.
    constexpr unsigned patience = 4;
    if (simt::in_vain(&clock) || simt::execution.spins >= patience) simt::yield_lane();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}
