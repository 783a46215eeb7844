// A recurrence as it is written first: one thread, element after element. Each z waits for the one before,
// and on the way for memory. It is what rung 13 is measured against.

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

/// One thread does it all.
__global__ void serial_recurrence_kernel(const float* d, float* z, long long n, float lambda) {
    float last = 0;
    for (long long i = 0; i < n; ++i) z[i] = last = lambda * last + d[i];
}

void btcs::serial_recurrence(const float* d, float* z, long long n, double lambda, cudaStream_t stream) {
    serial_recurrence_kernel<<<1, 1, 0, stream>>>(d, z, n, static_cast<float>(lambda));
    CUDA_CHECK(cudaGetLastError());
}
