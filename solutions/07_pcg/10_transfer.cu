// The two ways between a grid and the next coarser one: linear interpolation of a correction, and its
// transpose, which takes a residual down. Both gather: a thread owns what it writes.

#include "grids.cuh"

using namespace pcg;

// TODO 10.1: the kernels, restrict_kernel and prolong_kernel. Weights(side)(c) is what fine coordinate c takes of
// coarse coordinate c / 2; it takes the rest of the one before.
// BEGIN SOLUTION
static constexpr int block_size = 256;

/// A thread owns a coarse point and adds up the 4^d fine points that take from it, each by what it takes.
template <int d>
__global__ void restrict_kernel(const float* v, float* coarse, int side, float scale, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
    if (i >= n) return;
    const Point<d> point(i, coarse_side(side));
    const Weights weight_of(side);
    float sum = 0;
    for (int corner = 0; corner < 1 << 2 * d; ++corner) {
        float weight = 1;
        long long index = 0, stride = 1;
        for (int k = 0; k < d; ++k, stride *= side) {
            const int which = corner >> 2 * k & 3, c = 2 * point.c[k] + which;
            const float after = weight_of(c);
            weight *= c >= side ? 0 : which < 2 ? after : 1 - after;
            index += c * stride;
        }
        if (weight != 0) sum += weight * v[index];
    }
    coarse[i] = scale * sum;
}

/// A thread owns a fine point and takes from the 2^d coarse points around it.
template <int d>
__global__ void prolong_kernel(const float* coarse, const float* x, float* y, int side, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
    if (i >= n) return;
    const Point<d> point(i, side);
    const Weights weight_of(side);
    float sum = 0;
    for (int corner = 0; corner < 1 << d; ++corner) {
        float weight = 1;
        long long index = 0, stride = 1;
        for (int k = 0; k < d; ++k, stride *= coarse_side(side)) {
            const int before = corner >> k & 1, from = point.c[k] / 2 - before;
            const float after = weight_of(point.c[k]);
            weight *= from < 0 || from >= coarse_side(side) ? 0 : before ? 1 - after : after;
            index += from * stride;
        }
        if (weight != 0) sum += weight * coarse[index];
    }
    y[i] = x[i] + sum;
}
// END SOLUTION

void pcg::transfer(const float* v, float* coarse, int dimensions, int side, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, coarse_side(side));
        if (n == 0) return;
        // TODO 10.2: the launch of restrict_kernel.
        // BEGIN SOLUTION
        const auto blocks = static_cast<unsigned>((n - 1) / block_size + 1);
        const float scale = restriction_scale(d, side);
        restrict_kernel<d><<<blocks, block_size, 0, stream>>>(v, coarse, side, scale, n);
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}

void pcg::transfer(const float* coarse, const float* x, float* y, int dimensions, int side,
                   cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        if (n == 0) return;
        // TODO 10.3: the launch of prolong_kernel.
        // BEGIN SOLUTION
        const auto blocks = static_cast<unsigned>((n - 1) / block_size + 1);
        prolong_kernel<d><<<blocks, block_size, 0, stream>>>(coarse, x, y, side, n);
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}
