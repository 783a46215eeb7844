// One launch that keeps everything it can: a block owns a brick of the cube, with x, r, p and w = A p in
// registers and shared memory from the first iteration to the last. What it needs of its neighbours is p one
// point beyond its faces. That it works out itself: it keeps r and p there, too, and is told w. So an
// iteration sends one number for each point of a face, and four sums, and waits once. There is no barrier of
// the grid: each number travels with the turn that it belongs to, and who needs it looks until it is there.

#include <algorithm>
#include <cstring>
#include <cuda/atomic>

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
