// One launch that keeps the vectors of conjugate gradients on the chip, and has no barrier of the grid.

#include <algorithm>
#include <cstring>
#include <cuda/atomic>

#include "grid_sums.cuh"
#include "rungs/shared_memory.cuh"
#include "solver.cuh"

using namespace pcg;

// TODO 15.1: the kernel, persistent_kernel, and its launch. The design is yours. What does not fit on the chip
// has to be solved as well.

void pcg::persistent(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                     double tolerance, cudaStream_t stream) {
    // TODO 15.2: in float.
}

void pcg::persistent(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                     double tolerance, cudaStream_t stream) {
    // TODO 15.3: in double.
}
