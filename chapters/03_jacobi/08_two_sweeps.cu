// Two sweeps per pass over the memory. A block loads its tile with a halo of two points, sweeps the tile and
// a halo of one in shared memory, and then the tile itself: what a neighbouring block computes as well is
// computed twice, and nobody waits for it.

#include "jacobi.cuh"
#include "norm.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

// TODO 8.1: the kernel, two_sweeps_kernel: `levels` sweeps, 1 or 2, from `from` to `to`. As in rung 04 it does
// nothing where squares[-1] is at most `limit`; to squares[0] goes the sum of the last of its sweeps alone,
// over inner points.

void jacobi::two_sweeps(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                        float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const double limit = limit_of(eps);
    constexpr int depth = 2;  // sweeps in a pass
    iterate_in_passes(start, phi, work, norm, sweeps, lattice, most, eps, depth, stream,
                      [&](Fields fields, int levels, int passes, double* squares) {
                          // TODO 8.2: `passes` passes on `stream`, each from fields.now to fields.next(). Pass i
                          // has its sum at squares + i, and after each the fields advance().
                      });
}
