// A recurrence z_i = lambda z_{i-1} + d_i looks like a chain, and is a scan: z_i is the sum of all d_j before
// it, each with lambda^(i - j). After a step with distance s every thread has the sum of 2 s terms.

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

// TODO 13.1: the kernel, recurrence_kernel. One block takes all of d, as many elements at a time
// as it has threads.

void btcs::recurrence(const float* d, float* z, long long n, double lambda, cudaStream_t stream) {
    // TODO 13.2: the launch.
}
