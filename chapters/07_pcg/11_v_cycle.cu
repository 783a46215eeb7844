// A V-cycle, the parts put together: on each grid a sweep from 0, the residual to the next grid; and back
// with the correction, and a sweep in the opposite order.

#include <vector>

#include "grids.cuh"

using namespace pcg;

// TODO 11.1: the kernels. Those of rungs 09 and 10 are what is needed, besides one for r - A x.

void pcg::v_cycle(const float* u, float* y, int dimensions, int side, int count, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        // TODO 11.2: memory for r, x and what is left of r, one rungs::stream_workspace for all grids together: a
        // second call gives the same memory again. Then, for each of the `count` vectors, the
        // launches down and up.
    });
}
