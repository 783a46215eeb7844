// A red-black sweep of Gauss-Seidel: two kernels, one for each colour, since a point needs the new values of
// its neighbours, all of which have the other colour.

#include "grids.cuh"

using namespace pcg;

// TODO 9.1: the kernel of half a sweep, smoother_kernel: points of one colour are relaxed. y has to be complete
// when both halves are done.

void pcg::smoother(const float* r, const float* x, float* y, int dimensions, int side, int first,
                   cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        if (n == 0) return;
        // TODO 9.2: the two launches.
    });
}
