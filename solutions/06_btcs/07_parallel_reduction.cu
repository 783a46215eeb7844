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
// BEGIN SOLUTION
/// A block owns a system of m rows, a thread one of them. Threads behind the end have the row x = 0.
__global__ void parallel_reduction_kernel(const float* lower, const float* diagonal, const float* upper,
                                          const float* rhs, float* x, int* status, int m) {
    __shared__ btcs::SharedRows rows;
    __shared__ unsigned bad;
    const int i = static_cast<int>(threadIdx.x);
    const long long first = blockIdx.x * static_cast<long long>(m);
    Coefficients own{0, 1, 0, 0};
    if (i < m) own = btcs::row_at(lower + first, diagonal + first, upper + first, rhs + first, i, m);
    if (i == 0) bad = 0xffffffffu;  // solved
    __syncthreads();
    if (!btcs::dominated(own.lower, own.diagonal, own.upper)) atomicMin(&bad, threadIdx.x);
    rows.set(i, own);

    for (int distance = 1; distance < m; distance *= 2) {
        __syncthreads();
        const Coefficients none{0, 1, 0, 0};
        const Coefficients before = i >= distance ? rows.get(i - distance) : none;
        const Coefficients behind = i + distance < m ? rows.get(i + distance) : none;
        const float a = own.lower / before.diagonal, b = own.upper / behind.diagonal;
        own = {-a * before.lower, own.diagonal - a * before.upper - b * behind.lower, -b * behind.upper,
               own.rhs - a * before.rhs - b * behind.rhs};
        __syncthreads();  // all have read
        rows.set(i, own);
    }
    if (i < m) x[first + i] = bad == 0xffffffffu ? own.rhs / own.diagonal : NAN;
    if (i == 0) status[blockIdx.x] = static_cast<int>(bad);
}
// END SOLUTION

void btcs::parallel_reduction(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                              float* x, int* status, int m, int systems, cudaStream_t stream) {
    if (m > most_short_rows) throw std::invalid_argument("a system has most_short_rows rows at most");
    // TODO 7.2: the launch; systems of 0 rows have a status as well.
    // BEGIN SOLUTION
    if (systems == 0) return;
    const int threads = m > 0 ? (m + 31) / 32 * 32 : 32;
    parallel_reduction_kernel<<<static_cast<unsigned>(systems), threads, 0, stream>>>(lower, diagonal, upper,
                                                                                      rhs, x, status, m);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
