#pragma once
/// @file
/// Two grids of a V-cycle, one above the other: where the coarse points lie among the fine ones.

#include <cmath>

#include "solver.cuh"

namespace pcg {

/// Points of the next coarser grid along an axis; 0 where a grid has no coarser one. Both grids have the same
/// walls, one distance before the first point and one after the last. So coarse points are 2 fine distances
/// apart if `side` is odd, and 2 + 2 / side if it is even.
__host__ __device__ constexpr int coarse_side(int side) { return (side - 1) / 2; }

/// Points 2t and 2t + 1 of a fine axis lie between the coarse points t - 1 and t. (Coarse points -1 and
/// coarse_side(side) are the walls.)
__host__ __device__ constexpr int pairs(int side) { return coarse_side(side) + 1; }

/// The weight of coarse point c / 2 in what is interpolated at fine point c of an axis; that of the one
/// before is 1 less this.
struct Weights {
    int fine, coarse;
    float inverse;

    __device__ explicit Weights(int side)
        : fine(side + 1), coarse(coarse_side(side) + 1), inverse(1.0f / (side + 1)) {}
    __device__ float operator()(int c) const {
        return static_cast<float>(
                   static_cast<int>((c + 1LL) * coarse - (c / 2) * static_cast<long long>(fine))) *
               inverse;
    }
    /// The same for short axes, cheaper.
    __device__ float of_short(int c) const {
        return static_cast<float>((c + 1) * coarse - (c >> 1) * fine) * inverse;
    }
};

/// By what the transpose of interpolation has to be multiplied, so that it takes the residual of a grid with
/// this side to the right-hand side of the next one. If coarse points are q times as far apart, 1 / q^d makes
/// a mean of a sum, and q^2 is there because A has h^2 in it.
inline float restriction_scale(int d, int side) {
    const double ratio = (side + 1.0) / (coarse_side(side) + 1.0);
    return static_cast<float>(ratio * ratio / std::pow(ratio, d));
}

/// Whether the coordinates of a point add up to an odd number: black, else red. All neighbours of a
/// red point are black.
template <int d>
__device__ int colour_of(const Point<d>& point) {
    int sum = 0;
    for (int k = 0; k < d; ++k) sum += point.c[k];
    return sum % 2;
}

}  // namespace pcg
