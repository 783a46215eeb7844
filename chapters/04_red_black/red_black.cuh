#pragma once
/// @file
/// The contract of chapter 4: iterate -Laplace(u) = f on the unit cube, and say after each iteration how far
/// from solved it is.

#include <cuda_runtime.h>

#include <cstddef>

namespace red_black {

/// `iterations` iterations for A u = b, from `start` on; `norms[t]` = ||b - A u||_2 after iteration t + 1.
///
/// The unknowns are the values at the n^3 inner points of a grid with spacing h = 1 / (n + 1) on the unit
/// cube. Point (i, j, k) is element (i n + j) n + k of `start`, `b` and `u`; i, j, k go from 0 to n - 1. On
/// the cube's surface u is 0, and so is every value at index -1 or n, which is not stored. A has 6 on its
/// diagonal and -1 for each of the six neighbours, and b is h^2 f, so that A u = b
/// is the second-order discretisation.
///
/// What one iteration does depends on the rung's problem:
/// - *jacobi*: every point becomes (b + sum of its six neighbours) / 6, all from the values before.
/// - *red_black*: first the red points, (i + j + k) even, then the black ones, which see the new red values.
/// - *sor*: as red_black, but each point goes `omega` times as far.
/// - *block*: the cube is cut into tiles; each tile does `sweeps` red-black iterations on its own points
///   while the values of all other tiles stay as they were before.
///
/// All pointers are device memory on 16-byte boundaries. `work` has work_size(n) elements that the rung may
/// use as it likes: what they hold before and after means nothing. `start` may not overlap the others. For
/// `iterations` = 0, u = start. Any n from 0 on works, 2^31 points and more too.
///
/// Nothing overflows, the squares of the norms included, as long as neither b nor a value of an iterate
/// exceeds 2^50 in magnitude. A point's residual below 2^-60 in magnitude may count as 0 in a norm: the
/// change that belongs to it is a sixth of that, and its square lies where normal floats end, at 2^-126.
/// Points that the updates do not carry a NaN or an infinity of b to stay finite.
///
/// The work is queued on `stream` and the call returns before it is done.
/// @throws rungs::CudaError when a launch fails
template <class T>
using Iterate = void(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                     cudaStream_t stream);

/// As Iterate. `omega` is the relaxation factor, 0 < omega < 2; 0 asks for the one that is best for this n.
template <class T>
using Relax = void(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   double omega, cudaStream_t stream);

/// As Iterate. A tile has tile_i x tile_j x tile_k points, fewer where the cube ends.
template <class T>
using Tiles = void(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   int sweeps, cudaStream_t stream);

using Float = Iterate<float>;
using Double = Iterate<double>;
using FloatRelax = Relax<float>;
using DoubleRelax = Relax<double>;
using FloatTiles = Tiles<float>;
using DoubleTiles = Tiles<double>;

inline constexpr int tile_i = 8;   ///< points of a tile of problem *block* along i,
inline constexpr int tile_j = 8;   ///< along j,
inline constexpr int tile_k = 32;  ///< and along k, where memory is contiguous

/// Elements in a row of one colour: half of n, rounded up to a multiple of four.
__host__ __device__ constexpr std::size_t half_row(int n) {
    return (static_cast<std::size_t>(n) + 7) / 8 * 4;
}

/// Elements of `work`: u and b, split by colour.
__host__ __device__ constexpr std::size_t work_size(int n) {
    return 4 * static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * half_row(n);
}

// Each rung is one name for two functions, one per precision.
Float jacobi;                    ///< 01: all points from the values before
Double jacobi;                   ///< 01
Float shared_tile;               ///< 02: the same from tiles in shared memory
Double shared_tile;              ///< 02
Float parity;                    ///< 03: a thread for each point; every other thread leaves
Double parity;                   ///< 03
Float half_grid;                 ///< 04: a thread for each point of one colour
Double half_grid;                ///< 04
Float colour_split;              ///< 05: one array for each colour
Double colour_split;             ///< 05
Float fused_residual;            ///< 07: the norm falls out of the update
Double fused_residual;           ///< 07
FloatRelax sor;                  ///< 08: successive over-relaxation
DoubleRelax sor;                 ///< 08
FloatTiles block_gauss_seidel;   ///< 09: Gauss-Seidel inside a tile, Jacobi between tiles
DoubleTiles block_gauss_seidel;  ///< 09
Float one_pass;                  ///< 10: both colours in one pass, only red through memory
Double one_pass;                 ///< 10
Float wavefront;                 ///< 11: several iterations in one pass over memory
Double wavefront;                ///< 11

/// Parameters that only some rungs have.
struct Tuning {
    double omega = 0;  ///< of sor
    int sweeps = 2;    ///< of block
};

/// A rung of any problem, called like every other.
template <class T>
using Call = void(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                  const Tuning& tuning, cudaStream_t stream);

template <class T, Iterate<T>* rung>
void call(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations, const Tuning&,
          cudaStream_t stream) {
    rung(start, b, u, norms, work, n, iterations, stream);
}
template <class T, Relax<T>* rung>
void call(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
          const Tuning& tuning, cudaStream_t stream) {
    rung(start, b, u, norms, work, n, iterations, tuning.omega, stream);
}
template <class T, Tiles<T>* rung>
void call(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
          const Tuning& tuning, cudaStream_t stream) {
    rung(start, b, u, norms, work, n, iterations, tuning.sweeps, stream);
}

/// One row of the ladder.
struct Rung {
    const char* name;     ///< also the stem of its file
    const char* problem;  ///< what it iterates; in double, with _double behind
    Call<float>* single;
    Call<double>* twice;

    Call<float>* of(float) const { return single; }
    Call<double>* of(double) const { return twice; }
};

/// The ladder, bottom first.
inline constexpr Rung rungs[] = {
    {"01_jacobi", "jacobi", call<float, jacobi>, call<double, jacobi>},
    {"02_shared_tile", "jacobi", call<float, shared_tile>, call<double, shared_tile>},
    {"03_parity", "red_black", call<float, parity>, call<double, parity>},
    {"04_half_grid", "red_black", call<float, half_grid>, call<double, half_grid>},
    {"05_colour_split", "red_black", call<float, colour_split>, call<double, colour_split>},
    {"07_fused_residual", "red_black", call<float, fused_residual>, call<double, fused_residual>},
    {"08_sor", "sor", call<float, sor>, call<double, sor>},
    {"09_block_gauss_seidel", "block", call<float, block_gauss_seidel>, call<double, block_gauss_seidel>},
    {"10_one_pass", "red_black", call<float, one_pass>, call<double, one_pass>},
    {"11_wavefront", "red_black", call<float, wavefront>, call<double, wavefront>},
};

}  // namespace red_black
