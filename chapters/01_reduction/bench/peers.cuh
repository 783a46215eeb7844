#pragma once
/// @file
/// The libraries that the ladder is measured against.

#include "reduction.cuh"

namespace reduction::peers {

/// CUB's DeviceReduce::Sum. One host thread, one stream at a time: the workspace is kept from call to call.
Sum cub_sum;

/// cuBLAS's Sdot, with the result left on the device. One host thread: the handle is kept from call to call.
Dot cublas_dot;

}  // namespace reduction::peers
