/// @file
/// What one request costs: the rules of the hardware, in one place.
#pragma once

#include <cstdint>

#include "simt/inspect/counters.h"

namespace simt::check {

/// One memory instruction of a warp: of textures, several requests.
struct Request {
    Space space;
    Access access;
    unsigned width;                ///< bytes a lane
    unsigned lanes_together;       ///< of a texture: how many lanes it serves at a time
    std::uint32_t lanes;           ///< mask; not 0
    std::uintptr_t addresses[32];  ///< of the lanes in the mask; of shared memory: bytes from its start
};

/// Adds what `request` costs to `sum`.
void add_request(const Request& request, MemoryCounters& sum);

}  // namespace simt::check
