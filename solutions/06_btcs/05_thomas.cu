// Thomas's algorithm for many systems at once: down the rows, and back up. It is as sequential as can be, so
// a thread does a whole system, and its neighbours do the systems beside it.

#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 5.1: the kernel, thomas_kernel. A thread owns a system. btcs::dominated() says whether a row can be
// trusted; status gets the first one that cannot, and all of x is NaN then.
// BEGIN SOLUTION
/// A thread owns a system. `c` has room for a number a row; d' waits in x for the way back.
__global__ void thomas_kernel(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                              float* x, int* status, float* c, int m, int systems) {
    const long long system = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (system >= systems) return;
    int bad = btcs::solved;
    float ratio = 0, value = 0;  // c' and d' of the row before
    for (int k = 0; k < m; ++k) {
        const long long e = k * static_cast<long long>(systems) + system;
        const float before = k > 0 ? lower[e] : 0, behind = k < m - 1 ? upper[e] : 0, own = diagonal[e];
        if (bad == btcs::solved && !btcs::dominated(before, own, behind)) bad = k;
        const float pivot = own - before * ratio;
        ratio = behind / pivot;
        value = (rhs[e] - before * value) / pivot;
        c[e] = ratio;
        x[e] = value;
    }
    status[system] = bad;
    value = 0;
    for (int k = m - 1; k >= 0; --k) {
        const long long e = k * static_cast<long long>(systems) + system;
        value = x[e] - c[e] * value;
        x[e] = bad == btcs::solved ? value : NAN;
    }
}
// END SOLUTION

void btcs::thomas(const float* lower, const float* diagonal, const float* upper, const float* rhs, float* x,
                  int* status, int m, int systems, cudaStream_t stream) {
    if (m > most_rows) throw std::invalid_argument("a system of a batch has most_rows rows at most");
    // TODO 5.2: the launch. What a thread has to remember of each row can go to
    // rungs::stream_workspace(stream, bytes).
    // BEGIN SOLUTION
    if (systems == 0) return;
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(m) * static_cast<std::size_t>(systems);
    auto* const c = static_cast<float*>(rungs::stream_workspace(stream, bytes));
    const auto blocks = static_cast<unsigned>((systems + 127LL) / 128);
    thomas_kernel<<<blocks, 128, 0, stream>>>(lower, diagonal, upper, rhs, x, status, c, m, systems);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
