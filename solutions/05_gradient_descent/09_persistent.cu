// The whole solve in one launch. Its blocks stay until the solve ends and wait for each other at a barrier of
// the grid, where rung 06 ended a kernel and began the next one.

#include <cooperative_groups.h>

#include <algorithm>

#include "solver.cuh"

using gradient_descent::Sums;

// TODO 9.1 (about 58 lines): the kernel, persistent_kernel: start, iterations, renewals, outcome. Each sum of
// each iteration has a word of its own in an array of Sums, so none has to be cleared.
// BEGIN SOLUTION
static constexpr int block_size = 256;
static constexpr int warps = block_size / 32;

/// A row of A times v, by one warp, in all lanes.
static __device__ float product(const float* row, const float* v, int n) {
    float sum = 0;
    for (int j = threadIdx.x % 32; j < n; j += 32) sum += row[j] * v[j];
    return gradient_descent::warp_sum(sum);
}

/// A warp owns rows first, first + stride, ...: r, q and x of these rows are written by its lane 0 alone.
__global__ void __launch_bounds__(block_size)
    persistent_kernel(const float* a, const float* b, float* x, double* history, int* outcome, Sums* sums,
                      float* r, float* q, int n, int limit, double tolerance) {
    using namespace gradient_descent;
    const auto grid = cooperative_groups::this_grid();
    const int lane = threadIdx.x % 32, stride = gridDim.x * warps;
    const int first = blockIdx.x * warps + threadIdx.x / 32;
    double square = 0, bb = 0;
    for (int i = first; i < n && lane == 0; i += stride) {
        x[i] = 0, r[i] = b[i];
        square += double(b[i]) * b[i];
    }
    add_block_sum(square, &sums[0].rr);
    grid.sync();
    for (int k = 0;; ++k) {
        double rr = sums[k].rr;
        if (k == 0) bb = rr;
        if (k > 0 && (k % renew_every == 0 || rr <= tolerance * tolerance * bb)) {
            square = 0;
            for (int i = first; i < n; i += stride) {
                const float own = b[i] - product(a + std::size_t(i) * n, x, n);
                if (lane == 0) r[i] = own, square += double(own) * own;
            }
            add_block_sum(square, &sums[k].renewed);
            grid.sync();
            rr = sums[k].renewed;
        }
        int what = verdict(rr, bb, k, limit, tolerance);  // the same in all threads
        if (grid.thread_rank() == 0) history[k] = sqrt(rr);
        if (what < 0) {
            double curvature = 0;
            for (int i = first; i < n; i += stride) {
                const float own = product(a + std::size_t(i) * n, r, n);
                if (lane == 0) q[i] = own, curvature += double(r[i]) * own;
            }
            add_block_sum(curvature, &sums[k].rAr);
            grid.sync();
            if (!(sums[k].rAr > 0)) what = breakdown;
        }
        if (what >= 0) {
            if (grid.thread_rank() == 0) outcome[0] = what, outcome[1] = k;
            return;
        }
        const float alpha = static_cast<float>(rr / sums[k].rAr);
        square = 0;
        for (int i = first; i < n && lane == 0; i += stride) {
            const float old = r[i];
            x[i] += alpha * old;
            r[i] = old - alpha * q[i];
            square += double(r[i]) * r[i];
        }
        add_block_sum(square, &sums[k + 1].rr);
        grid.sync();
    }
}
// END SOLUTION

void gradient_descent::persistent(const float* a, const float* b, float* x, double* history, int* outcome,
                                  int n, int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream, sums_in_doubles * (std::size_t(limit) + 1));
    clear_history(history, limit, stream);
    auto* sums = reinterpret_cast<Sums*>(work.sums);
    float *r = work.vectors, *q = r + n;
    // TODO 9.2 (about 8 lines): as many blocks as the device can hold at the same time, no more than there are
    // rows for; a cooperative launch.
    // BEGIN SOLUTION
    int device = 0, sms = 0, each = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, persistent_kernel, block_size, 0));
    const int blocks = std::clamp((n + warps - 1) / warps, 1, each * sms);
    void* arguments[] = {&a, &b, &x, &history, &outcome, &sums, &r, &q, &n, &limit, &tolerance};
    CUDA_CHECK(
        cudaLaunchCooperativeKernel(persistent_kernel, dim3(blocks), dim3(block_size), arguments, 0, stream));
    // END SOLUTION
    work.clear(stream);
}
