/// @file
/// The special registers that programs read by inline PTX: cu2cpp puts these in place of
/// `asm("mov.u32 %0, %%laneid;" : "=r"(lane))`.
#pragma once

#include <cstdint>

#include "simt/device.h"

namespace simt::registers {

SIMT_DEVICE unsigned laneid() { return lane_id(); }
SIMT_DEVICE unsigned lanemask_eq() { return 1u << lane_id(); }
SIMT_DEVICE unsigned lanemask_lt() { return lanemask_eq() - 1; }
SIMT_DEVICE unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
SIMT_DEVICE unsigned lanemask_gt() { return ~lanemask_le(); }
SIMT_DEVICE unsigned lanemask_ge() { return ~lanemask_lt(); }

SIMT_DEVICE std::uint64_t globaltimer() { return static_cast<std::uint64_t>(clock64()); }
SIMT_DEVICE unsigned globaltimer_lo() { return static_cast<unsigned>(globaltimer()); }
SIMT_DEVICE unsigned globaltimer_hi() { return static_cast<unsigned>(globaltimer() >> 32); }
SIMT_DEVICE unsigned clock() { return globaltimer_lo(); }
SIMT_DEVICE unsigned clock_hi() { return globaltimer_hi(); }

}  // namespace simt::registers
