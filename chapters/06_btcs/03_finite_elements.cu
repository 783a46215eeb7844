// Linear finite elements on an interval, assembled row by row: each row is the sum of what its two elements
// bring, and no two threads write the same number.

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

// TODO 3.1: the kernel, finite_elements_kernel. A thread owns one inner node. No diagonal may be below the
// sum of the magnitudes beside it, not even by a rounding.

void btcs::finite_elements(const float* nodes, const float* conductivity, const float* load, float* lower,
                           float* diagonal, float* upper, float* rhs, long long n, cudaStream_t stream) {
    // TODO 3.2: the launch, and its error check.
}
