#pragma once
/// @file
/// The contract of chapter 2: the gravity of n bodies on each other, and how it moves them.

#include <cuda_runtime.h>

#include <cstddef>

namespace nbody {

/// `acceleration[i]` = sum over all j of m_j (x_j - x_i) / (|x_j - x_i|^2 + s^2)^(3/2), with s = `softening`
/// and the constant of gravity 1.
///
/// A body is (x, y, z, mass) in device memory, and its acceleration is (x, y, z, 0) there. `n` need not be a
/// multiple of anything; for n = 0 nothing is touched. A body may have no mass: it is pulled and does not
/// pull. Two bodies may be at the same place, as each is at its own: with s > 0 that term is 0.
///
/// Any finite input is allowed for which s lies between 1e-9 and 1e9 and no distance is larger than 1e9: then
/// |x_j - x_i|^2 + s^2 and its power 3/2 are ordinary floats. Its power 3 need not be one. What
/// `acceleration` held before does not count.
///
/// The work is queued on `stream` and the call returns before it is done.
/// @throws rungs::CudaError when a launch fails or memory runs out
using Accelerate = void(const float4* bodies, float4* acceleration, int n, float softening,
                        cudaStream_t stream);

/// `steps` steps of length `dt` with the leapfrog (kick, drift, kick), from `bodies` and `velocity` to
/// `bodies_after` and `velocity_after`; `acceleration` is then that of `bodies_after`.
///
/// A velocity is (x, y, z, not used). Masses stay as they are. The arrays after may be the arrays before: the
/// step is then made in place. For no steps they are copies. Otherwise as Accelerate.
using Leapfrog = void(const float4* bodies, const float4* velocity, float4* bodies_after,
                      float4* velocity_after, float4* acceleration, int n, int steps, float dt,
                      float softening, cudaStream_t stream);

// Each rung is one name for two functions. The force is the exercise; the leapfrog around it is given.
Accelerate global;            ///< 01: a thread for each body, everything read from device memory
Leapfrog global;              ///< 01
Accelerate tiled;             ///< 02: bodies come through shared memory, a tile at a time
Leapfrog tiled;               ///< 02
Accelerate two_tiles;         ///< 03: two tiles take turns, one barrier for each
Leapfrog two_tiles;           ///< 03
Accelerate unrolled;          ///< 04: fewer instructions per interaction
Leapfrog unrolled;            ///< 04
Accelerate register_blocked;  ///< 05: several bodies for each thread
Leapfrog register_blocked;    ///< 05
Accelerate split;             ///< 07: the sum is split as well, to fill the GPU; the same bits in every run
Leapfrog split;               ///< 07
Accelerate symmetric;         ///< 08: every pair once; the same bits in every run
Leapfrog symmetric;           ///< 08

/// One row of the ladder.
struct Rung {
    const char* name;  ///< also the stem of its file
    Accelerate* accelerate;
    Leapfrog* leapfrog;
};

/// The ladder, bottom first.
inline constexpr Rung rungs[] = {
    {"01_global", global, global},
    {"02_tiled", tiled, tiled},
    {"03_two_tiles", two_tiles, two_tiles},
    {"04_unrolled", unrolled, unrolled},
    {"05_register_blocked", register_blocked, register_blocked},
    {"07_split", split, split},
    {"08_symmetric", symmetric, symmetric},
};

}  // namespace nbody
