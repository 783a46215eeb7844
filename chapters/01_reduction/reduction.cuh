#pragma once
/// @file
/// The contract of chapter 1: add up n floats, or n products, in device memory.

#include <cuda_runtime.h>

#include <cstddef>

namespace reduction {

/// `*sum` = v[0] + v[1] + ... + v[n - 1], and 0 for n = 0.
///
/// `v` and `sum` are device memory. `v` may start at any float, on a 16-byte boundary or not; `n` need not be
/// a multiple of anything and may exceed 2^32. What `sum` held before does not count: a launcher clears or
/// overwrites it. NaN and infinities go through as IEEE 754 adds them: one NaN makes the sum NaN, as do
/// infinities of both signs. The order of the additions is the rung's own, and so is the rounding.
///
/// The work is queued on `stream` and the call returns before it is done.
/// @throws rungs::CudaError when a launch fails
using Sum = void(const float* v, float* sum, std::size_t n, cudaStream_t stream);

/// `*sum` = v[0] w[0] + v[1] w[1] + ... + v[n - 1] w[n - 1]; otherwise as Sum. `v` and `w` may be the same.
using Dot = void(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream);

// Each rung is one name for two functions: the idea is the same.
Sum atomic;        ///< 01: one atomicAdd for every element
Dot atomic;        ///< 01
Sum interleaved;   ///< 02: a tree in shared memory, divergent
Dot interleaved;   ///< 02
Sum shared_tree;   ///< 03: the tree with sequential addressing
Dot shared_tree;   ///< 03
Sum grid_stride;   ///< 04: adds while loading, few blocks
Dot grid_stride;   ///< 04
Sum warp_shuffle;  ///< 05: warps exchange registers
Dot warp_shuffle;  ///< 05
Sum vectorized;    ///< 06: 16-byte loads, several in flight; one launch; the same bits in every run
Dot vectorized;    ///< 06

/// The terms of a sum: term i is v[i]. A kernel written over "terms" serves both problems.
struct Values {
    static constexpr unsigned vectors = 1;  ///< loads that make one term
    const float* v;
    __device__ float operator()(std::size_t i) const { return v[i]; }
};

/// The terms of a dot product: term i is v[i] w[i].
struct Products {
    static constexpr unsigned vectors = 2;  ///< loads that make one term
    const float* v;
    const float* w;
    __device__ float operator()(std::size_t i) const { return v[i] * w[i]; }
};

/// One row of the ladder.
struct Rung {
    const char* name;  ///< also the stem of its file
    Sum* sum;
    Dot* dot;
};

/// The ladder, bottom first.
inline constexpr Rung rungs[] = {
    {"01_atomic", atomic, atomic},
    {"02_interleaved", interleaved, interleaved},
    {"03_shared_tree", shared_tree, shared_tree},
    {"04_grid_stride", grid_stride, grid_stride},
    {"05_warp_shuffle", warp_shuffle, warp_shuffle},
    {"06_vectorized", vectorized, vectorized},
};

}  // namespace reduction
