#pragma once
/// @file
/// How a vector divides into quads: four floats in a row that one 16-byte load brings. And what is left over.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "reduction.cuh"

namespace reduction {

/// `head` floats before the first quad, then `count` quads; up to 3 floats are left after the last.
struct Quads {
    std::size_t head;
    std::size_t count;
};

/// The quads of the n floats from `v` on. The first begins at a line of 128 bytes, not only at a
/// multiple of 16, so that no warp touches one line more than its loads fill: head < 32.
inline Quads quads_of(const float* v, std::size_t n) {
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(v) % 128;
    const std::size_t head = std::min(n, (128 - misaligned) % 128 / 4);
    return {head, (n - head) / 4};
}

/// Whether quads of v are quads of w: both are equally far from a 16-byte boundary.
inline bool equally_aligned(const float* v, const float* w) {
    return (reinterpret_cast<std::uintptr_t>(v) - reinterpret_cast<std::uintptr_t>(w)) % 16 == 0;
}

/// Products of vectors that are not equally aligned: a type of its own, as w has no quads where v has.
struct SkewedProducts : Products {};

/// The sum of its four terms from i on.
inline __device__ float four(const SkewedProducts& a, std::size_t i) {
    return (a(i) + a(i + 1)) + (a(i + 2) + a(i + 3));
}

}  // namespace reduction
