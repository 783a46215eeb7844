#pragma once
/// @file
/// The contract of chapter 0: small problems, one for each thing that a first kernel has to get right.
///
/// All pointers are device memory. Images and matrices are row-major: row after row, so that pixel (x, y) of
/// an image is element y * width + x. Sizes need not be multiples of anything and may be 0, in which case
/// there is nothing to do. No side of an image or matrix exceeds 32768, so an int holds every index into
/// it; `n` may exceed 2^32. Inputs and outputs do not overlap.
///
/// The work is queued on `stream`; a call may return before it is done.
/// Every launcher throws rungs::CudaError when a launch fails.

#include <cuda_runtime.h>

#include <cstddef>

namespace first_kernels {

/// y[i] = x[i] * x[i], for all i < n.
using Square = void(const float* x, float* y, std::size_t n, cudaStream_t stream);

/// z[i] = a * x[i] + y[i], for all i < n.
using Axpy = void(const float* x, const float* y, float* z, std::size_t n, float a, cudaStream_t stream);

/// grey[k] = {l, l, l, alpha of image[k]}, with l = (77 red + 150 green + 29 blue) / 256 in whole numbers.
/// In a uchar4, x is red, y green, z blue and w alpha.
using Grey = void(const uchar4* image, uchar4* grey, int width, int height, cudaStream_t stream);

/// The elements come in groups of 256, the last of which may be shorter. `times` times in a row, every
/// element of a group takes the value of the element after it, and the last one of the group keeps its own.
using Shift = void(const float* in, float* out, std::size_t n, int times, cudaStream_t stream);

/// Every channel of blurred[y * width + x] is the mean of that channel over the (2 radius + 1)^2 pixels
/// around (x, y), rounded down. Outside of the image, the nearest pixel of the image counts.
/// 0 <= radius <= most_radius.
using Blur = void(const uchar4* image, uchar4* blurred, int width, int height, int radius,
                  cudaStream_t stream);
inline constexpr int most_radius = 8;

/// What an array of structures is made of.
struct Particle {
    float position;
    float velocity;
    float mass;
};

/// An array of structures becomes a structure of arrays: position[i], velocity[i] and mass[i]
/// are those of particles[i].
using Split = void(const Particle* particles, float* position, float* velocity, float* mass, std::size_t n,
                   cudaStream_t stream);

/// `in` has `rows` rows of `columns` elements, `out` the other way round: element (r, c) of `in` is element
/// (c, r) of `out`.
using Transpose = void(const float* in, float* out, int rows, int columns, cudaStream_t stream);

/// A picture of the scene in spheres.cuh, which is always the same, in any size.
using Spheres = void(uchar4* image, int width, int height, cudaStream_t stream);

Square square;              ///< 01: the index of a thread, and the guard
Axpy axpy;                  ///< 02: the launch
Square round_trip;          ///< 03: from the host to the device and back
Grey grey;                  ///< 04: two dimensions
Square grid_stride;         ///< 05: a fixed grid for any n
Shift shift;                ///< 06: barriers
Blur blur;                  ///< 07: a stencil that reads device memory
Blur blur_tile;             ///< 08: a tile with a halo in shared memory
Split split;                ///< 09: an array of structures
Transpose transpose;        ///< 10: coalesced one way only
Transpose transpose_tiled;  ///< 11: a tile in shared memory
Spheres spheres;            ///< 13: constant memory

/// One row of the ladder.
struct Rung {
    const char* name;  ///< also the stem of its file
};

/// The ladder, bottom first.
inline constexpr Rung rungs[] = {
    {"01_square"},          {"02_axpy"},    {"03_round_trip"}, {"04_grey"},  {"05_grid_stride"},
    {"06_shift"},           {"07_blur"},    {"08_blur_tile"},  {"09_split"}, {"10_transpose"},
    {"11_transpose_tiled"}, {"13_spheres"},
};

}  // namespace first_kernels
