// Cyclic reduction: half of the rows get rid of their neighbours, then half of those, until one row is left.
// On the way back each row finds its neighbours solved. Less arithmetic than in rung 07, for twice the steps.
//
// TODO 8.1: systems of 1, 3, 7 and 15 rows are solved; those of 2 or 8 are not. Find the fault in the
// kernel and fix it.

#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"

using btcs::Coefficients;

/// `mid` with both neighbours' unknowns replaced by what their rows say.
static __device__ Coefficients reduced(const Coefficients& before, const Coefficients& mid,
                                       const Coefficients& behind) {
    const float a = mid.lower / before.diagonal, b = mid.upper / behind.diagonal;
    return {-a * before.lower, mid.diagonal - a * before.upper - b * behind.lower, -b * behind.upper,
            mid.rhs - a * before.rhs - b * behind.rhs};
}

/// A block owns a system of m rows, a thread at most one row in every step.
__global__ void cyclic_reduction_kernel(const float* lower, const float* diagonal, const float* upper,
                                        const float* rhs, float* x, int* status, int m) {
    __shared__ btcs::SharedRows rows;
    __shared__ float solution[btcs::most_short_rows];
    __shared__ unsigned bad;
    const int t = static_cast<int>(threadIdx.x);
    const long long first = blockIdx.x * static_cast<long long>(m);
    if (t == 0) bad = 0xffffffffu;  // solved
    __syncthreads();
    if (t < m) {
        const Coefficients row =
            btcs::row_at(lower + first, diagonal + first, upper + first, rhs + first, t, m);
        if (!btcs::dominated(row.lower, row.diagonal, row.upper)) atomicMin(&bad, threadIdx.x);
        rows.set(t, row);
    }
    __syncthreads();

    int distance = 1;  // down: rows 2 distance - 1, 4 distance - 1, ... lose those `distance` away
    for (; 2 * distance <= m; distance *= 2) {
        const int i = 2 * distance * (t + 1) - 1;
        if (i < m) {
            rows.set(i, reduced(rows.get(i - distance), rows.get(i), rows.get(i + distance)));
        }
        __syncthreads();
    }
    for (; distance > 0; distance /= 2) {  // back up: the rows that were left out, neighbours known
        const int i = distance * (2 * t + 1) - 1;
        if (i < m) {
            const Coefficients row = rows.get(i);
            const float before = i >= distance ? row.lower * solution[i - distance] : 0;
            const float behind = i + distance < m ? row.upper * solution[i + distance] : 0;
            solution[i] = (row.rhs - before - behind) / row.diagonal;
        }
        __syncthreads();  // after the last step, too: x is stored by other threads than found it
    }
    if (t < m) x[first + t] = bad == 0xffffffffu ? solution[t] : NAN;
    if (t == 0) status[blockIdx.x] = static_cast<int>(bad);
}

void btcs::cyclic_reduction(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                            float* x, int* status, int m, int systems, cudaStream_t stream) {
    if (m > most_short_rows) throw std::invalid_argument("a system has most_short_rows rows at most");
    if (systems == 0) return;
    const int threads = m > 0 ? (m + 31) / 32 * 32 : 32;
    cyclic_reduction_kernel<<<static_cast<unsigned>(systems), threads, 0, stream>>>(lower, diagonal, upper,
                                                                                    rhs, x, status, m);
    CUDA_CHECK(cudaGetLastError());
}
