// The matrix of an implicit time step, made where it is needed: three bands in device memory.

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

// TODO 2.1: the kernel, create_tridiag_kernel. A thread owns one row of the matrix.

void btcs::create_tridiag(const float* faces, float* lower, float* diagonal, float* upper, long long n,
                          double r, cudaStream_t stream) {
    // TODO 2.2: the launch, and its error check. There may be no row at all.
}
