// Barriers of a block and of a grid, and the small change of device code.
#include <chrono>

#include "report.h"
#include "simt/device.h"
#include "simt/grid_barrier.h"
#include "worker.h"

namespace simt {
namespace {

inline __attribute__((always_inline)) unsigned wait_at(Wait kind, bool vote, const void* site) {
    Worker& worker = *this_worker;
    Block& block = *execution.block;
    if (__builtin_expect(!block.materialised, 0)) worker.materialise(block);
    Barrier& barrier = block.barriers[static_cast<int>(kind)];
    barrier.votes += vote;
    if (++barrier.arrived == block.live && kind != Wait::grid) {
        worker.release(block, barrier);
        return barrier.result;
    }
    Lane& me = block.lanes[current_index()];
    me.wait = kind;
    me.site = site;
    barrier.waiting.push(me);
    worker.suspend(block, me);
    return barrier.result;
}

void require_lane(const char* what) {
    if (!execution.in_lane) report_outside_lane(what);
}

}  // namespace

void sync_grid() {
    const void* site = SIMT_SITE;
    require_lane("grid.sync()");
    if (!this_worker->launch()->grid.cooperative)
        fail_lane("grid.sync() in a kernel that was not launched with cudaLaunchCooperativeKernel()", site);
    wait_at(Wait::grid, false, site);
}

bool grid_is_cooperative() { return execution.in_lane && this_worker->launch()->grid.cooperative; }

}  // namespace simt

using simt::Wait;

void __syncthreads() {
    simt::require_lane("__syncthreads()");
    simt::wait_at(Wait::sync, false, SIMT_SITE);
}

int __syncthreads_count(int predicate) {
    simt::require_lane("__syncthreads_count()");
    return static_cast<int>(simt::wait_at(Wait::count, predicate != 0, SIMT_SITE));
}

int __syncthreads_and(int predicate) {
    simt::require_lane("__syncthreads_and()");
    return simt::wait_at(Wait::all, predicate == 0, SIMT_SITE) == 0;
}

int __syncthreads_or(int predicate) {
    simt::require_lane("__syncthreads_or()");
    return simt::wait_at(Wait::any, predicate != 0, SIMT_SITE) != 0;
}

void __nanosleep(unsigned) { simt::yield_lane_at(SIMT_SITE); }

void __trap() {
    simt::require_lane("__trap()");
    simt::fail_lane("__trap()", SIMT_SITE);
}

long long clock64() {
    static const char clock = 0;
    simt::pause(&clock);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}
