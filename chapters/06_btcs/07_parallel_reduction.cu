// Parallel cyclic reduction: a block solves a system, and every row gets rid of both neighbours in every
// step. What is left of them is twice as far away, until nothing is.

#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"

using btcs::Coefficients;

// TODO 7.1: the kernel, parallel_reduction_kernel. A block owns a system, a thread one of its rows.
// btcs::row_at() reads a row; status gets the first one that btcs::dominated() refuses, and all of
// x is NaN then.

void btcs::parallel_reduction(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                              float* x, int* status, int m, int systems, cudaStream_t stream) {
    if (m > most_short_rows) throw std::invalid_argument("a system has most_short_rows rows at most");
    // TODO 7.2: the launch; systems of 0 rows have a status as well.
}
