#pragma once
/// @file
/// Given: the pull of one body on another, as in rung 01, for the rungs that are not about it.

#include <cuda_runtime.h>

namespace nbody {

/// Adds the pull of `other` on `own` to `sum`. A body without mass pulls nobody, wherever it is.
inline __device__ void add_pull(const float4& own, const float4& other, float softening, float3& sum) {
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float squared = dx * dx + dy * dy + dz * dz + softening * softening;
    const float inverse = rsqrtf(squared);
    const float pull = other.w * inverse * inverse * inverse;
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
}

}  // namespace nbody
