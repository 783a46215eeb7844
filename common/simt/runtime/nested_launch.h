/// @file
/// Launches by lanes.
#pragma once

#include "runtime/launch_state.h"
#include "simt/error.h"
#include "simt/stream.h"

namespace simt {

/// How deep launches may be nested: a device keeps so many, each of which waits for the one in it
/// (cudaLimitDevRuntimePendingLaunchCount; so seen on an H200).
constexpr unsigned max_launch_depth = 2048;
/// How many launches the lanes of one may leave behind. A device keeps 2048 and runs some meanwhile.
constexpr std::size_t max_pending_launches = std::size_t{1} << 20;

/// What a lane gets for a stream: lanes' launches run one after the other, in whatever stream they are.
inline cudaStream_t lane_stream() { return reinterpret_cast<cudaStream_t>(5); }

/// Keeps a launch by the current lane until its own launch has run.
cudaError_t launch_from_lane(Action run, cudaStream_t stream);
/// Runs what the lanes of `launch` have launched, then what they have to its tail.
cudaError_t run_nested(Launch& launch);
/// Launches around one that begins now: 0 for the host's.
unsigned launch_depth();

/// The current lane's last error, which is its own.
void note_lane_error(cudaError_t error);
cudaError_t lane_error(bool forget);

}  // namespace simt
