// The two ways between a grid and the next coarser one: linear interpolation of a correction, and its
// transpose, which takes a residual down. Both gather: a thread owns what it writes.

#include "grids.cuh"

using namespace pcg;

// TODO 10.1: the kernels, restrict_kernel and prolong_kernel. Weights(side)(c) is what fine coordinate c takes of
// coarse coordinate c / 2; it takes the rest of the one before.

void pcg::transfer(const float* v, float* coarse, int dimensions, int side, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, coarse_side(side));
        if (n == 0) return;
        // TODO 10.2: the launch of restrict_kernel.
    });
}

void pcg::transfer(const float* coarse, const float* x, float* y, int dimensions, int side,
                   cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        if (n == 0) return;
        // TODO 10.3: the launch of prolong_kernel.
    });
}
