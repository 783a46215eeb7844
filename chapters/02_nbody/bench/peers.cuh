#pragma once
/// @file
/// What the ladder is measured against: the tile of the literature, as it is usually compiled
/// and at its best.

#include "nbody.cuh"

namespace nbody::peers {

/// The tiled kernel of L. Nyland, M. Harris, J. Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3 (2007),
/// chapter 31: a body per thread, tiles of 256, the loop unrolled. n must be a multiple of 256.
Accelerate classic;

/// The same with the reciprocal root of the compiler's flag -ftz=true: three instructions
/// an interaction fewer.
Accelerate classic_ftz;

}  // namespace nbody::peers
