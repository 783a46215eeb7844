// Float does the work, double the correction: the single-pass conjugate gradients of rung 12 in float, on a
// residual that double has computed and divided by its norm. When r has become small, what was found is added
// to x, and r is b - A x again.

#include "grid_sums.cuh"
#include "rungs/shared_memory.cuh"
#include "sweep.cuh"

using namespace pcg;

// TODO 13.1: the kernel, mixed_precision_kernel, and its launch. sweep.cuh is given, as in rung 12; the
// corrections around it are yours.
// BEGIN SOLUTION
// The direction p stays when r is replaced: starting over would throw away what the
// iterations before have learnt.

static constexpr double gain = 1e-3;  ///< by which r has to fall before double looks at x again

/// What happens at a point: as in rung 12.
struct Step : StepOfCg<float> {
    __device__ float residual(float r, float w) const { return r - alpha * w; }
    __device__ float direction(float r, float p) const { return r + beta * p; }
};

/// What a solve has in global memory: of A e = r, two of r and of p, used in turn, and e;
/// and the blocks' sums.
struct Work {
    float *r[2], *p[2], *e;
    double* sums;
};

template <int d>
__global__ void __launch_bounds__(sweep_block, 1)
    mixed_precision_kernel(const double* b, double* x, double* history, int* outcome, Work work,
                           Tiling tiling, int side, int limit, double tolerance) {
    extern __shared__ __align__(16) double memory[];
    GridSums over_grid(work.sums);
    const auto grid = cooperative_groups::this_grid();
    const long long n = points(d, side), me = grid.thread_rank(), all = grid.size();
    float* const e = work.e;
    const int most = 50 + 8 * min(side, 1 << 16);  // iterations to a correction, where float cannot get there

    double bb = 0, scale = 1;  // r is (b - A x) / scale
    int k = 0, now = 0, what;
    for (;; ++k) {
        Sums<1> square;
        for (long long i = me; i < n; i += all) {
            const double exact = b[i] - laplace_at(x, Point<d>(i, side), side);
            square.of[0] += exact * exact;
        }
        const double exact_rr = over_grid(square).of[0];
        if (k == 0) bb = exact_rr;
        if (me == 0) history[k] = sqrt(exact_rr);
        what = verdict(exact_rr, bb, k, limit, tolerance);
        if (what >= 0) break;

        float *r = work.r[now], *p = work.p[now];  // of the last iteration; 0 at first
        const double old = scale;
        scale = sqrt(exact_rr);
        const float units = k > 0 ? static_cast<float>(old / scale) : 0.0f;
        for (long long i = me; i < n; i += all) {
            const double exact = b[i] - laplace_at(x, Point<d>(i, side), side);
            const long long c = swept_place<d, float>(i, side);
            const float carry = (p[c] - r[c]) * units;
            r[c] = static_cast<float>(exact / scale);
            e[c] = 0;
            p[c] = carry;
        }
        grid.sync();

        Step step;
        step.beta = 1;     // alpha = 0: the first pass leaves r as it is
        float behind = 0;  // e lacks behind * (p - r), as x does in rung 12
        double enough = 0;
        for (int iteration = 0;; ++iteration) {
            step.sums = {};
            sweep<d>(memory, Pass<float>{work.r[now], work.p[now], work.r[1 - now], work.p[1 - now], e}, side,
                     tiling, step);
            now = 1 - now;
            const Sums<4> sums = over_grid(step.sums);
            const double rr = sums.of[0], pw = sums.of[1], rw = sums.of[2], ww = sums.of[3];
            if (iteration == 0)
                enough = fmax(gain * gain * rr, 0.25 * tolerance * tolerance * bb / (scale * scale));
            if (!(pw > 0) || isinf(pw)) {
                if (iteration == 0) what = breakdown;
                break;
            }
            if (rr <= enough || iteration == most) break;
            step.alpha = static_cast<float>(rr / pw);
            const double next = rr - 2 * step.alpha * rw + double(step.alpha) * step.alpha * ww;
            step.beta = static_cast<float>(fmax(next, 0.0) / rr);
            step.along_p = step.alpha, step.along_r = 0;
            if (behind != 0) {
                step.along_p = step.alpha + behind, step.along_r = -behind;
                behind = 0;
            } else if (step.beta > 0.125f) {
                behind = step.alpha / step.beta;
                step.along_p = 0;
            }
        }
        if (what >= 0) break;
        r = work.r[now], p = work.p[now];
        for (long long i = me; i < n; i += all) {
            const long long c = swept_place<d, float>(i, side);
            const float found = e[c] + behind * (p[c] - r[c]);
            x[i] += scale * found;
        }
        grid.sync();
    }
    if (me == 0) outcome[0] = what, outcome[1] = k;
}
// END SOLUTION

void pcg::mixed_precision(const double* b, double* x, double* history, int* outcome, int dimensions, int side,
                          int limit, double tolerance, cudaStream_t stream) {
    // TODO 13.2: in double.
    // BEGIN SOLUTION
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        Plan plan = plan_sweep<d, float>(side);
        const long long n = points(d, side);
        clear_history(history, limit, stream);
        const std::size_t sums = GridSums::bytes(plan.blocks), kept = swept_length<d, float>(side);
        auto* const memory =
            static_cast<unsigned char*>(rungs::stream_workspace(stream, sums + 5 * kept * sizeof(float)));
        auto* const vectors = reinterpret_cast<float*>(memory + sums);
        Work work{{vectors, vectors + kept},
                  {vectors + 2 * kept, vectors + 3 * kept},
                  vectors + 4 * kept,
                  reinterpret_cast<double*>(memory)};
        if (n > 0) {
            CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(double), stream));
            CUDA_CHECK(cudaMemsetAsync(vectors, 0, 5 * kept * sizeof(float), stream));
        }
        const auto kernel = mixed_precision_kernel<d>;
        rungs::allow_shared_memory(kernel, plan.shared);
        void* arguments[] = {&b, &x, &history, &outcome, &work, &plan.tiling, &side, &limit, &tolerance};
        CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(plan.blocks), dim3(plan.threads), arguments,
                                               plan.shared, stream));
    });
    // END SOLUTION
}
