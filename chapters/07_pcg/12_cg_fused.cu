// An iteration of conjugate gradients in one pass over memory, with one sum over the grid at its end.

#include "grid_sums.cuh"
#include "rungs/shared_memory.cuh"
#include "sweep.cuh"

using namespace pcg;

// TODO 12.1: the kernel, cg_fused_kernel, and its launch. sweep.cuh is given: it goes through a cube in one
// pass, and may be used or left alone. What happens at a point, the scalars, x and the stop are yours.

void pcg::cg_fused(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    // TODO 12.2: in float.
}

void pcg::cg_fused(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    // TODO 12.3: in double.
}
