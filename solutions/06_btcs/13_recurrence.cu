// A recurrence z_i = lambda z_{i-1} + d_i looks like a chain, and is a scan: z_i is the sum of all d_j before
// it, each with lambda^(i - j). After a step with distance s every thread has the sum of 2 s terms.

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

// TODO 13.1: the kernel, recurrence_kernel. One block takes all of d, as many elements at a time
// as it has threads.
// BEGIN SOLUTION
static constexpr int block_size = 1024;

/// A thread owns one element of each chunk; `carry` is the last z of the chunk before.
__global__ void recurrence_kernel(const float* d, float* z, long long n, float lambda) {
    __shared__ float sums[block_size];
    const int t = static_cast<int>(threadIdx.x);
    float carry = 0;
    for (long long begin = 0; begin < n; begin += block_size) {
        const long long i = begin + t;
        float sum = i < n ? d[i] : 0;
        if (t == 0) sum += lambda * carry;
        float power = lambda;  // to the power of distance
        for (int distance = 1; distance < block_size; distance *= 2) {
            sums[t] = sum;
            __syncthreads();
            if (t >= distance) sum += power * sums[t - distance];
            power *= power;
            __syncthreads();
        }
        sums[t] = sum;
        __syncthreads();
        carry = sums[block_size - 1];
        __syncthreads();
        if (i < n) z[i] = sum;
    }
}
// END SOLUTION

void btcs::recurrence(const float* d, float* z, long long n, double lambda, cudaStream_t stream) {
    // TODO 13.2: the launch.
    // BEGIN SOLUTION
    recurrence_kernel<<<1, block_size, 0, stream>>>(d, z, n, static_cast<float>(lambda));
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
