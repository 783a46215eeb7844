/// @file
/// What one request costs: the rules of the hardware, in one place.
#pragma once

#include <cstdint>

#include "simt/counters.h"

namespace simt::check {

/// One memory instruction of a warp.
struct Request {
    Space space;
    Access access;
    unsigned width;                ///< bytes a lane
    std::uint32_t lanes;           ///< mask; not 0
    std::uintptr_t addresses[32];  ///< of the lanes in the mask; of shared memory: bytes from its start
};

/// Adds what `request` costs to `sum`.
void add_request(const Request& request, MemoryCounters& sum);

}  // namespace simt::check
