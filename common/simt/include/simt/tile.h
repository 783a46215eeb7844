/// @file
/// Operations of a tile of more than a warp: its barrier, shuffles, votes.
///
/// A tile is some neighbouring warps of a block, as many as a power of two. An operation waits for every lane
/// of the tile that has not exited, and forever for a warp that has exited as a whole, like devices. Lanes
/// that arrive with the same operation and the same size meet, wherever their calls are. A shuffle that
/// reads a lane which has exited gives 0xFF bytes, with one warning.
#pragma once

#include "simt/warp.h"

namespace simt {

/// `broadcast`: a shuffle in which all lanes read the same one, as CUDA's has to be.
enum class TileOperation : std::uint8_t { sync, shuffle, broadcast, all, any };

/// Ends the launch unless the block consists of tiles of `size` lanes.
SIMT_SITED void divide_into_tiles(unsigned size);

/// Half of a tile's operation, as arrive_at_warp(); `source` is a lane of the block.
Transfer arrive_at_tile(TileOperation operation, unsigned size, std::uint64_t value,
                        unsigned source) SIMT_WAITS;

/// Waits for the lanes of the tile of `size`; then gives each what `operation` makes of their `value`s.
SIMT_DEVICE std::uint64_t tile_collective(TileOperation operation, unsigned size, std::uint64_t value = 0,
                                          unsigned source = 0) {
    carry_out(arrive_at_tile(operation, size, value, source));
    return warp_result();
}

}  // namespace simt
