// Linear finite elements on an interval, assembled row by row: each row is the sum of what its two elements
// bring, and no two threads write the same number.

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

// TODO 3.1: the kernel, finite_elements_kernel. A thread owns one inner node. No diagonal may be below the
// sum of the magnitudes beside it, not even by a rounding.
// BEGIN SOLUTION
__global__ void finite_elements_kernel(const float* nodes, const float* conductivity, const float* load,
                                       float* lower, float* diagonal, float* upper, float* rhs, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const float before = nodes[i + 1] - nodes[i], behind = nodes[i + 2] - nodes[i + 1];
    const float left = conductivity[i] / before, right = conductivity[i + 1] / behind;
    lower[i] = -left;
    diagonal[i] = __fadd_ru(left, right);  // rounded down it would not dominate the row
    upper[i] = -right;
    rhs[i] = (load[i] * before + load[i + 1] * behind) / 2;
}
// END SOLUTION

void btcs::finite_elements(const float* nodes, const float* conductivity, const float* load, float* lower,
                           float* diagonal, float* upper, float* rhs, long long n, cudaStream_t stream) {
    // TODO 3.2: the launch, and its error check.
    // BEGIN SOLUTION
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>((n + 255) / 256);
    finite_elements_kernel<<<blocks, 256, 0, stream>>>(nodes, conductivity, load, lower, diagonal, upper, rhs,
                                                       n);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
