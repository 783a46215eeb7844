// An iteration in one pass over memory, with one sum over the grid at its end. The pass makes r and p of this
// iteration from those of the one before, and A p along with them; four sums tell alpha, and the next beta as
// well. The whole solve is one launch: blocks wait for each other at the grid's barrier.

#include "rungs/shared_memory.cuh"
#include "sweep.cuh"

using namespace pcg;

// TODO 12.1: the kernel, cg_fused_kernel, and its launch. The design is yours: sweep.cuh goes through a cube in
// one pass, and may be used or left alone.

void pcg::cg_fused(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    // TODO 12.2: in float.
}

void pcg::cg_fused(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    // TODO 12.3: in double.
}
