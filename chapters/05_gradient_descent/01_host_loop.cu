// Gauss-Jacobi as it is first written: one thread per row, and the host asks for ||r|| after each sweep. In
// every step of the inner loop the 32 threads of a warp read 32 different rows, n floats apart; and while the
// host waits for its answer, the device has nothing to do.

#include <utility>
#include <vector>

#include "solver.cuh"

using gradient_descent::Scalars;

/// A thread owns one row: it forms r_i = b_i - (A x)_i and y_i = x_i + r_i / a_ii.
__global__ void host_loop_kernel(const float* a, const float* b, const float* x, float* y, Scalars* s,
                                 int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float r = 0;
    if (i < n) {  // no early return: all threads take part in the sum below
        const float* const row = a + std::size_t(i) * n;
        r = b[i];
        for (int j = 0; j < n; ++j) r -= row[j] * x[j];
        if (row[i] == 0) atomicExch(&s->broken, 1);
        y[i] = x[i] + r / row[i];
    }
    gradient_descent::add_block_sum(double(r) * r, &s->next);
}

void gradient_descent::host_loop(const float* a, const float* b, float* x, double* history, int* outcome,
                                 int n, int limit, double tolerance, cudaStream_t stream) {
    constexpr int block = 128;
    const int blocks = n > 0 ? (n + block - 1) / block : 1;
    const Workspace work(n, 1, stream);
    clear_history(history, limit, stream);
    float *xk = x, *next = work.vectors;
    if (n > 0) CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));

    std::vector<double> norms;
    Scalars seen{};
    double bb = 0;
    int end[2] = {-1, 0};  // an Outcome, and k
    for (int k = 0; end[0] < 0; ++k) {
        CUDA_CHECK(cudaMemsetAsync(work.scalars, 0, sizeof(Scalars), stream));
        host_loop_kernel<<<blocks, block, 0, stream>>>(a, b, xk, next, work.scalars, n);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(&seen, work.scalars, sizeof(Scalars), cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));  // the host waits, and then the device does
        if (k == 0) bb = seen.next;
        norms.push_back(std::sqrt(seen.next));
        end[0] = seen.broken ? int(breakdown) : verdict(seen.next, bb, k, limit, tolerance);
        end[1] = k;
        if (end[0] < 0) std::swap(xk, next);
    }
    if (xk != x) CUDA_CHECK(cudaMemcpyAsync(x, xk, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(history, norms.data(), norms.size() * sizeof(double), cudaMemcpyHostToDevice,
                               stream));
    CUDA_CHECK(cudaMemcpyAsync(outcome, end, sizeof end, cudaMemcpyHostToDevice, stream));
    work.clear(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));  // norms and end are gone once this returns
}
