// Elimination for systems that follow each other in memory, one thread per system: at any time the
// lanes of a warp read floats that are a whole system apart. It is what rung 07 is measured against.

#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

/// A thread owns a system. What is left of a row waits in x and in `upper_left` for the way back.
__global__ void thomas_contiguous_kernel(const float* lower, const float* diagonal, const float* upper,
                                         const float* rhs, float* x, int* status, float* upper_left, int m,
                                         int systems) {
    const long long system = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (system >= systems) return;
    const long long first = system * m;
    int bad = btcs::solved;
    btcs::Row row;
    for (int k = 0; k < m; ++k) {
        const btcs::Coefficients c =
            btcs::row_at(lower + first, diagonal + first, upper + first, rhs + first, k, m);
        if (bad == btcs::solved && !btcs::dominated(c.lower, c.diagonal, c.upper)) bad = k;
        row = btcs::normalised(btcs::without_before(btcs::row_of(c.lower, c.diagonal, c.upper, c.rhs), row));
        upper_left[first + k] = row.upper, x[first + k] = row.rhs;
    }
    status[system] = bad;
    float value = 0;
    for (long long e = first + m - 1; e >= first; --e) {
        value = x[e] - upper_left[e] * value;
        x[e] = bad == btcs::solved ? value : NAN;
    }
}

void btcs::thomas_contiguous(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                             float* x, int* status, int m, int systems, cudaStream_t stream) {
    if (m > most_short_rows) throw std::invalid_argument("a system has most_short_rows rows at most");
    if (systems == 0) return;
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(m) * static_cast<std::size_t>(systems);
    auto* const upper_left = static_cast<float*>(rungs::stream_workspace(stream, bytes));
    const auto blocks = static_cast<unsigned>((systems + 127LL) / 128);
    thomas_contiguous_kernel<<<blocks, 128, 0, stream>>>(lower, diagonal, upper, rhs, x, status, upper_left,
                                                         m, systems);
    CUDA_CHECK(cudaGetLastError());
}
