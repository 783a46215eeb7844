// The whole solve in one launch. Its blocks stay until the solve ends and wait for each other at a barrier of
// the grid, where rung 06 ended a kernel and began the next one.

#include <cooperative_groups.h>

#include <algorithm>

#include "solver.cuh"

using gradient_descent::Sums;

// TODO 9.1 (about 58 lines): the kernel, persistent_kernel: start, iterations, renewals, outcome. Each sum of
// each iteration has a word of its own in an array of Sums, so none has to be cleared.

void gradient_descent::persistent(const float* a, const float* b, float* x, double* history, int* outcome,
                                  int n, int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream, sums_in_doubles * (std::size_t(limit) + 1));
    clear_history(history, limit, stream);
    auto* sums = reinterpret_cast<Sums*>(work.sums);
    float *r = work.vectors, *q = r + n;
    // TODO 9.2 (about 8 lines): as many blocks as the device can hold at the same time, no more than there are
    // rows for; a cooperative launch.
    work.clear(stream);
}
