#pragma once
// How many kernels a worker has launched, and launches that are refused: known and done on the CPU backend,
// where the linker leads every launch through here.

#include <cstdint>

namespace rungs::protocol {

/// simt::run_grid(const simt::Grid&), which every launch calls; workers are linked with --wrap of it.
#define RUNGS_RUN_GRID _ZN4simt8run_gridERKNS_4GridE

/// Kernels launched since the process started; `known` is false where nobody counts.
struct Launches {
    bool known;
    std::uint64_t count;
};
Launches launches();

/// From now on no launch succeeds, or all do again.
void refuse_launches(bool refuse);

}  // namespace rungs::protocol
