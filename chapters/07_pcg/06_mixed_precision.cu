// Float does the work, double the correction: conjugate gradients in float, on a residual that double has
// computed and divided by its norm. When r has become small, what was found is added to x, and r is b - A x
// again. The direction p stays: starting over would throw away what the iterations before have learnt.

#include "solver.cuh"

using namespace pcg;

static constexpr int block_size = 256;
static constexpr double gain = 1e-3;  ///< by which r has to fall before double looks at x again

/// What a solve has in global memory.
struct Work {
    float *r, *p, *w, *e;  ///< of A e = r: residual, direction, A p, and what is to be added to x
    double* sums;
};

/// The threads of the grid share the cells out among them: thread t has t, t + all, ...
template <int d>
__global__ void mixed_precision_kernel(const double* b, double* x, double* history, int* outcome, Work work,
                                       int side, int limit, double tolerance) {
    GridSums over_grid(work.sums);
    const long long n = cells(d, side), me = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    const long long all = static_cast<long long>(gridDim.x) * blockDim.x;
    float *const r = work.r, *const p = work.p, *const w = work.w, *const e = work.e;

    double bb = 0, scale = 1, before = 0;  // r is (b - A x) / scale; r.r of the iteration before
    int k = 0, what;
    for (;;) {
        Sums<1> square;
        for (long long i = me; i < n; i += all) {
            const double exact = b[i] - laplace_at(x, Cell<d>(i, side), side);
            square.of[0] += exact * exact;
        }
        const double rr = over_grid(square).of[0];
        if (k == 0) bb = rr;
        if (me == 0) history[k] = sqrt(rr);
        what = verdict(rr, bb, k, limit, tolerance);
        if (what >= 0) break;

        const double old = scale;
        scale = sqrt(rr);
        square = {};
        for (long long i = me; i < n; i += all) {
            // TODO 6.1 (3 lines): what float is to solve for: r = (b - A x) / scale, e = 0; and p, which is in units
            // of the scale before, in those of the new one. At first there is no p.
            r[i] = e[i] = p[i] = 0;
            square.of[0] += double(r[i]) * r[i];
        }
        double now = over_grid(square).of[0], beta = 0;
        if (k > 0) beta = now / (before * (old / scale) * (old / scale));
        const double enough = gain * gain * now;
        const int most = 50 + 8 * side;  // where float cannot get there
        for (int i = 0; now > enough && i < most; ++i) {
            for (long long c = me; c < n; c += all) p[c] = r[c] + static_cast<float>(beta) * p[c];
            cooperative_groups::this_grid().sync();
            Sums<1> curvature;
            for (long long c = me; c < n; c += all) {
                w[c] = laplace_at(p, Cell<d>(c, side), side);
                curvature.of[0] += double(p[c]) * w[c];
            }
            const double pw = over_grid(curvature).of[0];
            if (!(pw > 0) || isinf(pw)) {
                what = breakdown;
                break;
            }
            square = {};
            // TODO 6.2 (about 4 lines): a step of conjugate gradients for A e = r, in float; and its r.r.
            before = now;
            now = over_grid(square).of[0];
            beta = now / before;
        }
        if (what >= 0) break;
        for (long long i = me; i < n; i += all) {
            // TODO 6.3 (1 line): the correction, in double.
        }
        cooperative_groups::this_grid().sync();
        ++k;
    }
    if (me == 0) outcome[0] = what, outcome[1] = k;
}

void pcg::mixed_precision(const double* b, double* x, double* history, int* outcome, int d, int side,
                          int limit, double tolerance, cudaStream_t stream) {
    with_dimensions(d, side, [&](auto dimensions) {
        constexpr int most = decltype(dimensions)::value;
        const long long n = cells(most, side);
        clear_history(history, limit, stream);
        if (n > 0) CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(double), stream));
        const auto kernel = mixed_precision_kernel<most>;
        const int blocks = cooperative_blocks(kernel, block_size, n);

        const std::size_t sums = GridSums::bytes(blocks);
        auto* const memory =
            static_cast<unsigned char*>(rungs::stream_workspace(stream, sums + 4 * n * sizeof(float)));
        auto* const vectors = reinterpret_cast<float*>(memory + sums);
        Work work{vectors, vectors + n, vectors + 2 * n, vectors + 3 * n, reinterpret_cast<double*>(memory)};
        void* arguments[] = {&b, &x, &history, &outcome, &work, &side, &limit, &tolerance};
        CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(block_size), arguments, 0, stream));
    });
}
