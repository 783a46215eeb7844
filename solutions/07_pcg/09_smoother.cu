// A red-black sweep of Gauss-Seidel: two kernels, one for each colour, since a point needs the new values of
// its neighbours, all of which have the other colour.

#include "grids.cuh"

using namespace pcg;

// TODO 9.1: the kernel of half a sweep, smoother_kernel: points of one colour are relaxed. y has to be complete
// when both halves are done.
// BEGIN SOLUTION
static constexpr int block_size = 256;

/// A thread owns a point, and relaxes it if it has this colour. Its neighbours, all of the other
/// colour, are in x.
template <int d>
__global__ void smoother_kernel(const float* r, const float* x, float* y, int side, int colour, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
    if (i >= n) return;
    const Point<d> point(i, side);
    if (colour_of(point) != colour) return;
    const float around = -laplace_at(point, side, 0.0f, [x](const Point<d>& at) { return x[at.index]; });
    y[i] = (r[i] + around) / (2 * d);
}
// END SOLUTION

void pcg::smoother(const float* r, const float* x, float* y, int dimensions, int side, int first,
                   cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        if (n == 0) return;
        // TODO 9.2: the two launches.
        // BEGIN SOLUTION
        const auto blocks = static_cast<unsigned>((n - 1) / block_size + 1);
        const auto kernel = smoother_kernel<d>;
        kernel<<<blocks, block_size, 0, stream>>>(r, x, y, side, first, n);
        CUDA_CHECK(cudaGetLastError());
        kernel<<<blocks, block_size, 0, stream>>>(r, y, y, side, 1 - first, n);
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}
