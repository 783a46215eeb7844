// Rung 05 with what it can keep on the chip: a block owns a stretch of points in a row, and has their x, r
// and A p in shared memory from the first iteration to the last. Only p, which others have to
// see, goes through memory.

#include "grid_sums.cuh"
#include "rungs/shared_memory.cuh"
#include "solver.cuh"

using namespace pcg;

// TODO 6.1: the kernel, on_chip_kernel. The dynamic shared memory of a block holds x, r and w = A p of its
// points; p is in global memory. If a block's points do not fit, the launcher gives the same three vectors
// in global memory, `spilled`.
// BEGIN SOLUTION
static constexpr int block_size = 512;

/// A block owns `each` points from blockIdx.x * each on, as far as there are so many.
template <class T, int d>
__global__ void __launch_bounds__(block_size, 1)
    on_chip_kernel(const T* b, T* all_x, double* history, int* outcome, T* p, T* spilled, double* partial,
                   long long each, int side, int limit, double tolerance) {
    extern __shared__ __align__(16) double memory[];
    GridSums over_grid(partial);
    const long long first = blockIdx.x * each, own = min(each, points(d, side) - first);
    T* const x = spilled ? spilled + 3 * first : reinterpret_cast<T*>(memory);
    T *const r = x + each, *const w = r + each;
    b += first, all_x += first;
    const auto sum = [&](const auto& term) {
        Sums<1> sums;
        for (long long i = threadIdx.x; i < own; i += block_size) sums.of[0] += term(i);
        return over_grid(sums).of[0];
    };
    double rr = sum([&](long long i) {
        x[i] = 0, r[i] = p[first + i] = b[i];
        return double(r[i]) * r[i];
    });
    const double bb = rr;
    const bool records = blockIdx.x == 0 && threadIdx.x == 0;
    int k = 0, what;
    for (;; ++k) {
        if (records) history[k] = sqrt(rr);
        what = verdict(rr, bb, k, limit, tolerance);
        if (what >= 0) break;
        const double pAp = sum([&](long long i) {
            w[i] = laplace_at(p, Point<d>(first + i, side), side);
            return double(p[first + i]) * w[i];
        });
        if (!(pAp > 0) || isinf(pAp)) {
            what = breakdown;
            break;
        }
        const T alpha = static_cast<T>(rr / pAp);
        double next = sum([&](long long i) {
            x[i] += alpha * p[first + i];
            r[i] -= alpha * w[i];
            return double(r[i]) * r[i];
        });
        if (next <= tolerance * tolerance * bb) {  // it seems to be the end: look at x again
            for (long long i = threadIdx.x; i < own; i += block_size) all_x[i] = x[i];
            cooperative_groups::this_grid().sync();
            next = sum([&](long long i) {
                r[i] = b[i] - laplace_at(all_x - first, Point<d>(first + i, side), side);
                return double(r[i]) * r[i];
            });
        }
        const T beta = static_cast<T>(next / rr);
        rr = next;
        for (long long i = threadIdx.x; i < own; i += block_size) p[first + i] = r[i] + beta * p[first + i];
        cooperative_groups::this_grid().sync();
    }
    for (long long i = threadIdx.x; i < own; i += block_size) all_x[i] = x[i];
    if (records) outcome[0] = what, outcome[1] = k;
}
// END SOLUTION

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int dimensions, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        clear_history(history, limit, stream);
        // TODO 6.2: a block for each multiprocessor, but no more than there are points for; how many points each
        // has; whether they fit: of cudaDevAttrMaxSharedMemoryPerBlockOptin the sums over a block take up to
        // 2 KiB; memory for p, for the sums, for what does not fit;
        // rungs::allow_shared_memory; the cooperative launch.
        // BEGIN SOLUTION
        const auto kernel = on_chip_kernel<T, d>;
        const int sms = device_attribute(cudaDevAttrMultiProcessorCount);
        const int blocks = static_cast<int>(std::clamp<long long>((n + block_size - 1) / block_size, 1, sms));
        long long each = (n + blocks - 1) / blocks;
        std::size_t shared = 3 * each * sizeof(T), sums = GridSums::bytes(blocks);
        const auto room = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
        const bool fits = shared + 2048 <= room;  // the sums over a block need some as well
        const std::size_t vectors = fits ? n : n + 3 * each * blocks;
        auto* partial = static_cast<double*>(rungs::stream_workspace(stream, sums + vectors * sizeof(T)));
        T *p = reinterpret_cast<T*>(partial + sums / sizeof(double)), *spilled = fits ? nullptr : p + n;
        if (!fits) shared = 0;
        rungs::allow_shared_memory(kernel, shared);
        void* arguments[] = {&b,       &x,    &history, &outcome, &p,        &spilled,
                             &partial, &each, &side,    &limit,   &tolerance};
        CUDA_CHECK(
            cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(block_size), arguments, shared, stream));
        // END SOLUTION
    });
}

void pcg::on_chip(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                  double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}

void pcg::on_chip(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                  double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}
