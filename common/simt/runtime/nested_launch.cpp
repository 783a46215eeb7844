// Launches by lanes: CUDA's dynamic parallelism. They wait until the launch that asked for them has run all
// its blocks, and it has not ended before they have.
#include "runtime/nested_launch.h"

#include <algorithm>

#include "runtime/observe.h"
#include "runtime/worker.h"

namespace simt {
namespace {

/// Launches that the calling thread is in: a host's, one of its lanes', and so on.
thread_local unsigned depth = 0;

/// Where the current lane's last error stands, in its launch, which is locked.
auto find_error(Launch& launch) {
    const auto same = [](uint3 a, uint3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
    return std::find_if(launch.lane_errors.begin(), launch.lane_errors.end(), [&](const auto& known) {
        return same(known.block, blockIdx) && same(known.thread, threadIdx);
    });
}

}  // namespace

cudaError_t launch_from_lane(Action run, cudaStream_t stream) {
    Launch& launch = *this_worker->launch();
    std::lock_guard lock(launch.lanes_mutex);
    if (launch.depth >= max_launch_depth || launch.nested.size() + launch.tail.size() >= max_pending_launches)
        return cudaErrorLaunchPendingCountExceeded;
    const bool tail = stream == cudaStreamTailLaunch;
    (tail ? launch.tail : launch.nested).push_back(std::move(run));
    observe::lane_launches(tail);
    return cudaSuccess;
}

cudaError_t run_nested(Launch& launch) {
    if (launch.nested.empty() && launch.tail.empty()) return cudaSuccess;
    struct Deeper {
        Deeper() {
            ++depth;
            observe::nested_launches_begin();
        }
        ~Deeper() {
            --depth;
            observe::nested_launches_end();
        }
    } deeper;
    for (auto* launches : {&launch.nested, &launch.tail}) {
        for (Action& run : *launches) {
            observe::nested_launch_begins(launches == &launch.tail);
            if (const cudaError_t error = run()) return error;
            run = {};  // its arguments
        }
    }
    return cudaSuccess;
}

unsigned launch_depth() { return depth; }

void note_lane_error(cudaError_t error) {
    Launch& launch = *this_worker->launch();
    std::lock_guard lock(launch.lanes_mutex);
    if (const auto known = find_error(launch); known != launch.lane_errors.end())
        known->error = error;
    else
        launch.lane_errors.push_back({blockIdx, threadIdx, error});
}

cudaError_t lane_error(bool forget) {
    Launch& launch = *this_worker->launch();
    std::lock_guard lock(launch.lanes_mutex);
    const auto known = find_error(launch);
    if (known == launch.lane_errors.end()) return cudaSuccess;
    const cudaError_t error = known->error;
    if (forget) launch.lane_errors.erase(known);
    return error;
}

}  // namespace simt
