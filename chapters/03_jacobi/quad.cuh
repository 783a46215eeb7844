#pragma once
// Four neighbouring points of a row as one value: what a 16-byte load brings. Given, for rungs 05 and
// 06 and the summit.

#include "jacobi.cuh"

// float4 is a global type, so its operators are found only here.
__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
__device__ __forceinline__ float4 operator-(float4 a, float4 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
__device__ __forceinline__ float4 operator*(float s, float4 a) {
    return {s * a.x, s * a.y, s * a.z, s * a.w};
}

namespace jacobi {

/// The charges at (x, y) to (x + 3, y).
__device__ __forceinline__ float4 charges(const Lattice& lattice, int x, int y) {
    return {lattice.charge(x, y), lattice.charge(x + 1, y), lattice.charge(x + 2, y),
            lattice.charge(x + 3, y)};
}

/// The new values of (x, y) to (x + 3, y), where the old ones are `old` and the sums of their neighbours
/// `sum`. Adds the squares of the updates to `square`. Points behind the end of the row keep what they have,
/// which may be anything, and count for nothing. The tests for boundary and charge are branches that most
/// warps do not take.
__device__ __forceinline__ float4 relaxed(const Lattice& lattice, int x, int y, float4 sum, float4 old,
                                          float& square) {
    if (y == lattice.y0) sum = sum - charges(lattice, x, y);
    float4 now = 0.25f * sum;
    if (x == 0 || x + 3 >= lattice.nx - 1 || y == 0 || y == lattice.ny - 1) {
        if (lattice.fixed(x, y)) now.x = old.x;
        if (lattice.fixed(x + 1, y)) now.y = old.y;
        if (lattice.fixed(x + 2, y)) now.z = old.z;
        if (lattice.fixed(x + 3, y)) now.w = old.w;
        if (!lattice.fixed(x, y)) square += (now.x - old.x) * (now.x - old.x);
        if (!lattice.fixed(x + 1, y)) square += (now.y - old.y) * (now.y - old.y);
        if (!lattice.fixed(x + 2, y)) square += (now.z - old.z) * (now.z - old.z);
        if (!lattice.fixed(x + 3, y)) square += (now.w - old.w) * (now.w - old.w);
    } else {
        const float4 update = now - old;
        square += update.x * update.x + update.y * update.y + update.z * update.z + update.w * update.w;
    }
    return now;
}

}  // namespace jacobi
