// Float does the work, double the correction: b - A x in double, divided by its norm, is what conjugate
// gradients in float solve for, roughly; what they find is added to x in double; and again.

#include "grid_sums.cuh"
#include "solver.cuh"

using namespace pcg;

static constexpr int block_size = 256;
static constexpr double gain = 1e-3;  ///< by which r has to fall before double looks at x again

/// Iterations to a correction, where float does not get as far as it should.
static __device__ int most_inner(int side) { return 50 + 8 * min(side, 1 << 16); }

// TODO 8.1: the kernel, float_inside_kernel, for a cooperative grid. b and x are double; the r, p, w and e of
// conjugate gradients for A e = (b - A x) / norm are float. A correction ends when r has fallen by `gain`,
// after most_inner(side) iterations, or where p.Ap is not positive. What p is more than r stays: the next
// correction begins with p = r + (p - r) * (norm before / norm now), in the first one it is r. `limit` and
// `history` count corrections.
// BEGIN SOLUTION
/// What a solve has in global memory.
struct Work {
    double* partial;  ///< of the sums over the grid
    float *r, *p, *w, *e;
};

/// A thread owns every gridDim.x * blockDim.x-th point.
template <int d>
__global__ void float_inside_kernel(const double* b, double* x, double* history, int* outcome, Work work,
                                    int side, int limit, double tolerance) {
    GridSums over_grid(work.partial);
    float *const r = work.r, *const p = work.p, *const w = work.w, *const e = work.e;
    const auto grid = cooperative_groups::this_grid();
    const long long n = points(d, side), me = grid.thread_rank(), threads = grid.size();
    const auto sum = [&](const auto& term) {
        Sums<1> own;
        for (long long i = me; i < n; i += threads) own.of[0] += term(i);
        return over_grid(own).of[0];
    };
    const auto exact = [&](long long i) { return b[i] - laplace_at(x, Point<d>(i, side), side); };

    double bb = 0, scale = 1;  // r is (b - A x) / scale
    int k = 0, what;
    for (;; ++k) {
        const double norm2 = sum([&](long long i) {
            if (k == 0) r[i] = p[i] = 0;
            const double residual = k == 0 ? b[i] : exact(i);
            return residual * residual;
        });
        if (k == 0) bb = norm2;
        if (me == 0) history[k] = sqrt(norm2);
        what = verdict(norm2, bb, k, limit, tolerance);
        if (what >= 0) break;

        // p - r is beta times the direction before: it stays, in units of the new scale.
        const float units = k == 0 ? 0.0f : static_cast<float>(scale / sqrt(norm2));
        scale = sqrt(norm2);
        double rr = sum([&](long long i) {
            const float fresh = static_cast<float>((k == 0 ? b[i] : exact(i)) / scale);
            p[i] = fresh + units * (p[i] - r[i]);
            r[i] = fresh, e[i] = 0;
            return double(fresh) * fresh;
        });
        const double enough = fmax(gain * gain * rr, 0.25 * tolerance * tolerance * bb / norm2);
        for (int inner = 0; rr > enough && inner < most_inner(side); ++inner) {
            const double pAp = sum([&](long long i) {
                w[i] = laplace_at(p, Point<d>(i, side), side);
                return double(p[i]) * w[i];
            });
            if (!(pAp > 0)) break;
            const float alpha = static_cast<float>(rr / pAp);
            const double next = sum([&](long long i) {
                e[i] += alpha * p[i];
                r[i] -= alpha * w[i];
                return double(r[i]) * r[i];
            });
            const float beta = static_cast<float>(next / rr);
            rr = next;
            for (long long i = me; i < n; i += threads) p[i] = r[i] + beta * p[i];
            grid.sync();
        }
        for (long long i = me; i < n; i += threads) x[i] = (k == 0 ? 0 : x[i]) + scale * e[i];
        grid.sync();
    }
    for (long long i = me; i < n && k == 0; i += threads) x[i] = 0;
    if (me == 0) outcome[0] = what, outcome[1] = k;
}
// END SOLUTION

void pcg::float_inside(const double* b, double* x, double* history, int* outcome, int dimensions, int side,
                       int limit, double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        clear_history(history, limit, stream);
        // TODO 8.2: memory for the sums and for four vectors of floats, and the cooperative launch.
        // BEGIN SOLUTION
        const auto kernel = float_inside_kernel<d>;
        const int blocks = cooperative_blocks(kernel, block_size, n);
        const std::size_t sums = GridSums::bytes(blocks);
        auto* const partial =
            static_cast<double*>(rungs::stream_workspace(stream, sums + 4 * n * sizeof(float)));
        auto* const vectors = reinterpret_cast<float*>(partial + sums / sizeof(double));
        Work work{partial, vectors, vectors + n, vectors + 2 * n, vectors + 3 * n};
        void* arguments[] = {&b, &x, &history, &outcome, &work, &side, &limit, &tolerance};
        CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(block_size), arguments, 0, stream));
        // END SOLUTION
    });
}
