// Thomas's algorithm for many systems at once. System i is column i of a matrix, so that neighbouring threads
// read neighbouring floats. Two threads share a system: one eliminates from the top, one from the bottom, and
// they meet in the middle. What they have to remember on the way stays on the chip where that pays.

#include <algorithm>
#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"
#include "rungs/shared_memory.cuh"

// TODO 6.1: the kernel, thomas_batched_kernel. The design is yours.

void btcs::thomas_batched(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                          float* x, int* status, int m, int systems, cudaStream_t stream) {
    // TODO 6.2: the launch, for any number of systems and up to most_rows rows.
}
