// Conjugate gradients that need a dozen iterations however fine the grid: the residual goes through a
// V-cycle, which smooths on the grid itself and leaves the rest to coarser ones. x and the residual are
// double; the cycle, and the direction it leads to, are float. The whole solve is one launch: half-sweeps and
// levels wait for each other at the grid's barrier, and the smallest levels are left to one block.

#include "cycle.cuh"

using namespace pcg;

// TODO 14.1: the kernels, multigrid_kernel and precondition_kernel, and their launches. The design is yours:
// cycle.cuh has passes over large cubes of three dimensions, and may be used or left alone.

void pcg::multigrid(const double* b, double* x, double* history, int* outcome, int dimensions, int side,
                    int limit, double tolerance, cudaStream_t stream) {
    // TODO 14.2: in double.
}

void pcg::multigrid(const float* u, float* y, int dimensions, int side, int count, cudaStream_t stream) {
    // TODO 14.3: the preconditioner alone.
}
