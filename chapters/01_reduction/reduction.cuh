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
/// infinities of both signs. The order of the additions, and with it the rounding, is the rung's own.
///
/// The work is queued on `stream` and the call returns before it is done.
/// @throws rungs::CudaError when a launch fails
using Sum = void(const float* v, float* sum, std::size_t n, cudaStream_t stream);

/// `*sum` = v[0] w[0] + v[1] w[1] + ... + v[n - 1] w[n - 1]; otherwise as Sum. `v` and `w` may be the same.
using Dot = void(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream);

// Each rung is one name for two functions: the idea is the same.
Sum atomic;          ///< 01: one atomicAdd for every element
Dot atomic;          ///< 01
Sum global_tree;     ///< 02: a tree in device memory, one launch per step
Dot global_tree;     ///< 02
Sum shared_tree;     ///< 03: a tree in shared memory in each block
Dot shared_tree;     ///< 03
Sum interleaved;     ///< 04: the tree that adds neighbours first: divergent
Dot interleaved;     ///< 04
Sum bank_conflicts;  ///< 05: the same, packed: bank conflicts
Dot bank_conflicts;  ///< 05
Sum padded;          ///< 06: the same, padded
Dot padded;          ///< 06
Sum grid_stride;     ///< 08: adds while loading, few blocks
Dot grid_stride;     ///< 08
Sum warp_shuffle;    ///< 09: warps exchange registers
Dot warp_shuffle;    ///< 09
Sum vectorized;      ///< 10: 16-byte loads, several in flight
Dot vectorized;      ///< 10
Sum one_launch;      ///< 11: one launch; the same bits in every run
Dot one_launch;      ///< 11

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
    {"02_global_tree", global_tree, global_tree},
    {"03_shared_tree", shared_tree, shared_tree},
    {"04_interleaved", interleaved, interleaved},
    {"05_bank_conflicts", bank_conflicts, bank_conflicts},
    {"06_padded", padded, padded},
    {"08_grid_stride", grid_stride, grid_stride},
    {"09_warp_shuffle", warp_shuffle, warp_shuffle},
    {"10_vectorized", vectorized, vectorized},
    {"11_one_launch", one_launch, one_launch},
};

}  // namespace reduction
