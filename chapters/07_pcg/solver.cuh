#pragma once
/// @file
/// What the rungs share: the operator at one point, sums over a block, when to stop.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "pcg.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

namespace pcg {

/// Points beside each other in a row, as many as a thread moves at once.
template <class T>
struct alignas(16) Pack {
    static constexpr int size = 16 / sizeof(T);
    T of[size];
};

/// A place in the cube. It is found by a division per axis, of 32 bits where index and side have no more:
/// nvcc looks for that at run time.
template <int d>
struct Point {
    long long index;
    int c[d];  ///< coordinates, the fastest first

    __device__ Point(long long i, int side) : index(i) {
        for (int k = 0; k < d; ++k) {
            c[k] = static_cast<int>(i % side);
            i /= side;
        }
    }
};

/// (A u) at a point where u is `centre`. Calls value(point) for those neighbours that are inside.
template <int d, class T, class Value>
__device__ T laplace_at(Point<d> point, int side, T centre, const Value& value) {
    T around = 0;
    long long stride = 1;
#pragma unroll
    for (int k = 0; k < d; ++k, stride *= side) {
        const long long index = point.index;
        const int c = point.c[k];
        if (c > 0) {
            point.c[k] = c - 1, point.index = index - stride;
            around += value(point);
        }
        if (c + 1 < side) {
            point.c[k] = c + 1, point.index = index + stride;
            around += value(point);
        }
        point.c[k] = c, point.index = index;
    }
    return T(2 * d) * centre - around;
}

/// The same, of an array.
template <int d, class T>
__device__ T laplace_at(const T* u, const Point<d>& point, int side) {
    return laplace_at(point, side, u[point.index], [u](const Point<d>& at) { return u[at.index]; });
}

/// Calls action(std::integral_constant<int, d>{}): d as the compiler can use it.
/// @throws std::invalid_argument
template <class Action>
void with_dimensions(int d, int side, const Action& action) {
    if (side < 0) throw std::invalid_argument("a cube has no negative side");
    switch (d) {
        case 1:
            return action(std::integral_constant<int, 1>{});
        case 2:
            return action(std::integral_constant<int, 2>{});
        case 3:
            return action(std::integral_constant<int, 3>{});
        case 4:
            return action(std::integral_constant<int, 4>{});
        case 5:
            return action(std::integral_constant<int, 5>{});
        case 6:
            return action(std::integral_constant<int, 6>{});
        default:
            throw std::invalid_argument("a cube has 1 to 6 dimensions here");
    }
}

/// An Outcome, or -1 to go on, when the k-th residual has r.r = rr.
inline __device__ int verdict(double rr, double bb, int k, int limit, double tolerance) {
    if (!(rr <= too_far * too_far * bb) || isinf(rr)) return diverged;  // so is NaN
    if (rr <= tolerance * tolerance * bb) return converged;
    return k == limit ? limit_reached : -1;
}

/// Several sums at once.
template <int count>
struct Sums {
    double of[count] = {};
};

/// Each of the sums over the block, in its first warp. All threads must call it; their number is a
/// multiple of 32.
template <int count>
__device__ Sums<count> block_sums(Sums<count> own) {
    __shared__ double partial[count][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const auto over_warp = [](double x) {
        for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
        return x;
    };
    __syncthreads();  // partial may still be read from the call before
    for (int s = 0; s < count; ++s) {
        own.of[s] = over_warp(own.of[s]);
        if (lane == 0) partial[s][warp] = own.of[s];
    }
    __syncthreads();
    for (int s = 0; s < count && warp == 0; ++s) own.of[s] = over_warp(lane < warps ? partial[s][lane] : 0.0);
    return own;
}

/// Not reached yet: NaN.
inline void clear_history(double* history, int limit, cudaStream_t stream) {
    if (limit < 0) throw std::invalid_argument("no negative number of iterations");
    CUDA_CHECK(
        cudaMemsetAsync(history, 0xff, (static_cast<std::size_t>(limit) + 1) * sizeof(double), stream));
}

/// What the present device has.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

}  // namespace pcg
