// A kernel that does not end can keep things. Rung 09 with shared memory full of rows: what is kept is read
// from memory once in the whole solve.

#include <cooperative_groups.h>

#include <algorithm>

#include "rungs/shared_memory.cuh"
#include "solver.cuh"

using gradient_descent::Sums;

// TODO 10.1 (about 74 lines, 12 of them new): the kernel, on_chip_kernel. Begin with your rung 09. What is
// new: a block copies its first rows to shared memory, as many as there is room for, and
// multiplies them from there.
// BEGIN SOLUTION
static constexpr int block_size = 512;
static constexpr int warps = block_size / 32;

/// A row of A times v, by one warp, in all lanes.
static __device__ float product(const float* row, const float* v, int n) {
    float sum = 0;
    for (int j = threadIdx.x % 32; j < n; j += 32) sum += row[j] * v[j];
    return gradient_descent::warp_sum(sum);
}

/// A warp owns rows first, first + stride, ...; of those of a block the first `kept` are in shared memory.
__global__ void __launch_bounds__(block_size)
    on_chip_kernel(const float* a, const float* b, float* x, double* history, int* outcome, Sums* sums,
                   float* r, float* q, int n, int limit, double tolerance, int kept) {
    using namespace gradient_descent;
    extern __shared__ float store[];
    const auto grid = cooperative_groups::this_grid();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, stride = gridDim.x * warps;
    const int first = blockIdx.x * warps + warp;
    const auto row = [&](int i) -> const float* {
        const int own = (i - first) / stride * warps + warp;
        return own < kept ? store + std::size_t(own) * n : a + std::size_t(i) * n;
    };
    for (int own = warp, i = first; own < kept && i < n; own += warps, i += stride) {
        // A lane copies what it will read itself: no barrier is needed.
        for (int j = lane; j < n; j += 32) store[std::size_t(own) * n + j] = a[std::size_t(i) * n + j];
    }
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
                const float own = b[i] - product(row(i), x, n);
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
                const float own = product(row(i), r, n);
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

void gradient_descent::on_chip(const float* a, const float* b, float* x, double* history, int* outcome, int n,
                               int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream, sums_in_doubles * (std::size_t(limit) + 1));
    clear_history(history, limit, stream);
    auto* sums = reinterpret_cast<Sums*>(work.sums);
    float *r = work.vectors, *q = r + n;
    // TODO 10.2 (about 14 lines): one block per multiprocessor, with nearly all of its shared memory.
    // BEGIN SOLUTION
    int device = 0, sms = 0, shared = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const int blocks = std::clamp((n + warps - 1) / warps, 1, sms);
    const std::size_t row = sizeof(float) * std::max(n, 1);
    const int most = (n + blocks * warps - 1) / (blocks * warps) * warps;  // rows of a block
    int kept = std::min(most, static_cast<int>((shared - 512) / row));     // add_block_sum() needs a little
    rungs::allow_shared_memory(on_chip_kernel, kept * row);
    void* arguments[] = {&a, &b, &x, &history, &outcome, &sums, &r, &q, &n, &limit, &tolerance, &kept};
    CUDA_CHECK(cudaLaunchCooperativeKernel(on_chip_kernel, dim3(blocks), dim3(block_size), arguments,
                                           kept * row, stream));
    // END SOLUTION
    work.clear(stream);
}
