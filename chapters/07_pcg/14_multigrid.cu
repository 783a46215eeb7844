// Conjugate gradients that need a dozen iterations however fine the grid: the residual goes through a
// V-cycle, which smooths on the grid itself and leaves the rest to coarser ones. x and b are double; the
// cycle is float.

#include "cycle.cuh"
#include "grid_sums.cuh"

using namespace pcg;

// TODO 14.1: the kernels, multigrid_kernel and precondition_kernel, and their launches. cycle.cuh is given: it
// has passes over large cubes of three dimensions, and may be used or left alone. All other grids, the cycle
// and the solve are yours.

void pcg::multigrid(const double* b, double* x, double* history, int* outcome, int dimensions, int side,
                    int limit, double tolerance, cudaStream_t stream) {
    // TODO 14.2: in double.
}

void pcg::multigrid(const float* u, float* y, int dimensions, int side, int count, cudaStream_t stream) {
    // TODO 14.3: the preconditioner alone.
}
