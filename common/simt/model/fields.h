/// @file
/// The numbers of a LaunchProfile, in the order in which they are written down.
#pragma once

#include "simt/inspect/model.h"

namespace simt::model {

struct Field {
    const char* name;
    double LaunchProfile::*value;
};

inline constexpr Field fields[] = {
    {"blocks", &LaunchProfile::blocks},
    {"threads", &LaunchProfile::threads},
    {"shared_bytes", &LaunchProfile::shared_bytes},
    {"grid_barriers", &LaunchProfile::grid_barriers},
    {"instructions", &LaunchProfile::instructions},
    {"doubles", &LaunchProfile::doubles},
    {"special", &LaunchProfile::special},
    {"requests", &LaunchProfile::requests},
    {"lines", &LaunchProfile::lines},
    {"wavefronts", &LaunchProfile::wavefronts},
    {"shuffles", &LaunchProfile::shuffles},
    {"barriers", &LaunchProfile::barriers},
    {"sectors", &LaunchProfile::sectors},
    {"block_sectors", &LaunchProfile::block_sectors},
    {"written_sectors", &LaunchProfile::written_sectors},
    {"dram_read_sectors", &LaunchProfile::dram_read_sectors},
    {"dram_write_sectors", &LaunchProfile::dram_write_sectors},
    {"atomics", &LaunchProfile::atomics},
    {"atomics_same", &LaunchProfile::atomics_same},
    {"load_rounds", &LaunchProfile::load_rounds},
    {"l2_rounds", &LaunchProfile::l2_rounds},
    {"dram_rounds", &LaunchProfile::dram_rounds},
    {"shared_rounds", &LaunchProfile::shared_rounds},
    {"sync_rounds", &LaunchProfile::sync_rounds},
    {"block_barriers", &LaunchProfile::block_barriers},
    {"block_instructions", &LaunchProfile::block_instructions},
};

}  // namespace simt::model
