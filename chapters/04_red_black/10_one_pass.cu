// Both colours in one pass, and only red ones through memory: what an iteration leaves is known when its red
// points are, since black ones follow from them. The norm falls out of the pass as in rung 07.

#include <algorithm>
#include <utility>

#include "red_black.cuh"
#include "rungs/shared_memory.cuh"
#include "split.cuh"

// TODO 10.1: kernels and launches of all iterations, with their norms. The design is yours. split.cuh has the
// layout by colour and moves start and b into it; rungs::allow_shared_memory raises a kernel's limit of
// dynamic shared memory above 48 KiB.

void red_black::one_pass(const float* start, const float* b, float* u, double* norms, float* work, int n,
                         int iterations, cudaStream_t stream) {
    // TODO 10.2: float.
}

void red_black::one_pass(const double* start, const double* b, double* u, double* norms, double* work, int n,
                         int iterations, cudaStream_t stream) {
    // TODO 10.3: double.
}
