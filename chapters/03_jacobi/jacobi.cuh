#pragma once
/// @file
/// The contract of chapter 3: solve Laplace's equation, or Poisson's with one point charge, on a lattice.

#include <cuda_runtime.h>

#include <cstddef>

namespace jacobi {

/// Floats from the beginning of a row of a field to that of the next: `nx` rounded up to a multiple of 32, so
/// that every row begins at a multiple of 128 bytes.
constexpr std::size_t pitch_of(int nx) { return (static_cast<std::size_t>(nx) + 31) / 32 * 32; }

/// Jacobi sweeps on a lattice of `nx` times `ny` grid points until the update is small.
///
/// A *field* is `pitch_of(nx) * ny` floats: point (x, y) is element x + pitch_of(nx) * y, and what
/// follows the last point of a row has no meaning. Every buffer starts at a multiple of 512 bytes, enough for
/// a texture, as what cudaMalloc returns does today. The points with x = 0, x = nx - 1, y = 0 or y = ny - 1
/// are the boundary and keep the value that they have in `start`. A *sweep* gives every other point
///
///     new(x, y) = (old(x, y - 1) + old(x - 1, y) + old(x + 1, y) + old(x, y + 1) - s(x, y)) / 4,
///
/// where s is q at the point (x0, y0) and 0 elsewhere, all from old values; the order of the additions, and
/// with it the rounding, is the rung's own. The *norm* of a sweep is sqrt(sum (new - old)^2) over these inner
/// points, formed from the rounded values. Sweeps go on from `start` until the norm is at most `eps`, or
/// `most` sweeps are done: with a negative `eps` exactly `most`. (In exact arithmetic no norm is larger than
/// the one before, see the lesson; a rung may rely on that.)
///
/// @param start   the field to begin with; not changed
/// @param phi     receives the field after the last sweep
/// @param work    a field of scratch memory; it may hold anything, before and after
/// @param norm    receives the norm of the last sweep; 0 when `most` is 0
/// @param sweeps  receives how many sweeps were done
/// @param nx,ny   points; from 0 to 2^18 each, the smaller ones too: without inner points the norm is 0
/// @param q,x0,y0 minus a physical charge, and its point; none if q is 0 or (x0, y0) is not an inner point
/// @param most    the largest number of sweeps, from 0 to 2^30
/// @param eps     where to stop
///
/// Nothing overflows, the squares of the norm included, as long as neither q nor a value of a field exceeds
/// 2^50 in magnitude. An update below 2^-63 in magnitude may count as 0 in the norm: its square is less than
/// the smallest normal float. NaN and infinities spread as sums spread them. The five buffers do not overlap.
/// The call may wait for `stream`, and does all its work there; afterwards the outputs are in the memory, or
/// will be when the stream has come so far.
/// @throws rungs::CudaError when a launch fails, or where a texture cannot hold the field (rung 03)
using Solve = void(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                   float q, int x0, int y0, int most, float eps, cudaStream_t stream);

Solve global;          ///< 01: one thread per point, and the norm in a pass of its own
Solve shared_tile;     ///< 02: a tile and its halo in shared memory
Solve texture_2d;      ///< 03: reads through a two-dimensional texture, clamped by the hardware
Solve norm_on_device;  ///< 04: the norm within the sweep, kept on the device
Solve wide_loads;      ///< 05: 16-byte loads, many of them in flight
Solve wide_tile;       ///< 06: both in a tile of 128 columns
Solve two_sweeps;      ///< 08: two sweeps per pass over the memory, in shared memory
Solve temporal;        ///< 09: many sweeps per pass over the memory

/// What a kernel knows of the lattice. Kernels take it by value.
struct Lattice {
    int nx = 0;
    int ny = 0;
    float q = 0;  ///< the point charge
    int x0 = 0;   ///< and its point
    int y0 = 0;

    __host__ __device__ std::size_t pitch() const { return (static_cast<std::size_t>(nx) + 31) / 32 * 32; }
    /// The element of point (x, y).
    __host__ __device__ std::size_t at(int x, int y) const {
        return pitch() * static_cast<std::size_t>(y) + static_cast<std::size_t>(x);
    }
    /// True for a point of the lattice, boundary included.
    __host__ __device__ bool contains(int x, int y) const { return x >= 0 && y >= 0 && x < nx && y < ny; }
    /// True where a sweep changes nothing; also for points that are not on the lattice.
    __host__ __device__ bool fixed(int x, int y) const {
        return x <= 0 || y <= 0 || x >= nx - 1 || y >= ny - 1;
    }
    __host__ __device__ float charge(int x, int y) const { return x == x0 && y == y0 ? q : 0.0f; }
    bool empty() const { return nx == 0 || ny == 0; }
};

/// One row of the ladder.
struct Rung {
    const char* name;  ///< also the stem of its file
    Solve* solve;
};

/// The ladder, bottom first. Rung 07 is no kernel.
inline constexpr Rung rungs[] = {
    {"01_global", global},         {"02_shared_tile", shared_tile},
    {"03_texture_2d", texture_2d}, {"04_norm_on_device", norm_on_device},
    {"05_wide_loads", wide_loads}, {"06_wide_tile", wide_tile},
    {"08_two_sweeps", two_sweeps}, {"09_temporal", temporal},
};

}  // namespace jacobi
