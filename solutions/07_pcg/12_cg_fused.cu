// An iteration of conjugate gradients in one pass over memory, with one sum over the grid at its end.

#include "grid_sums.cuh"
#include "rungs/shared_memory.cuh"
#include "sweep.cuh"

using namespace pcg;

// TODO 12.1: the kernel, cg_fused_kernel, and its launch. sweep.cuh is given: it goes through a cube in one
// pass, and may be used or left alone. What happens at a point, the scalars, x and the stop are yours.
// BEGIN SOLUTION
// The pass makes r and p of this iteration from those of the one before, and A p along with them; four sums
// tell alpha, and the next beta as well. The whole solve is one launch: blocks wait for each other
// at the grid's barrier.

/// What happens at a point.
template <class T>
struct Step : StepOfCg<T> {
    using StepOfCg<T>::alpha, StepOfCg<T>::beta;

    __device__ T residual(T r, T w) const { return r - alpha * w; }
    __device__ T direction(T r, T p) const { return r + beta * p; }
};

/// What a solve has in global memory: two of r and p, used in turn, x, and the blocks' sums.
template <class T>
struct Work {
    T *r[2], *p[2], *x;
    double* sums;
};

template <class T, int d>
__global__ void __launch_bounds__(sweep_block, 1)
    cg_fused_kernel(const T* b, double* history, int* outcome, Work<T> work, Tiling tiling, int side,
                    int limit, double tolerance) {
    extern __shared__ __align__(16) double memory[];
    GridSums over_grid(work.sums);
    const long long n = points(d, side), threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long me = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    const long long kept = swept_length<d, T>(side);
    const auto place = [side](long long i) { return swept_place<d, T>(i, side); };
    T* const x = work.x;

    Step<T> step;  // alpha = beta = 0: the first pass copies b, which is in r, and makes p = r
    Pass<T> pass{work.r[1], work.p[1], work.r[0], work.p[0], x};
    double bb = 0;
    T behind = 0;  // x lacks behind * (p - r): the last step but one, since p - r is beta times its direction
    bool carried = false;  // r is not b - A x, but what the recurrence says
    int k = 0, what;
    for (;;) {
        step.sums = {};
        sweep<d>(memory, pass, side, tiling, step);
        const Sums<4> sums = over_grid(step.sums);
        T *const r = pass.new_r, *const p = pass.new_p;  // r_k and p_k
        pass = {r, p, pass.r, pass.p, x};
        const double rr = sums.of[0], pw = sums.of[1], rw = sums.of[2], ww = sums.of[3];
        if (k == 0) bb = rr;
        what = verdict(rr, bb, k, limit, tolerance);
        if (what < 0 && (!(pw > 0) || isinf(pw))) what = breakdown;
        if (what >= 0) {
            for (long long i = me; behind != 0 && i < kept; i += threads) x[i] += behind * (p[i] - r[i]);
            behind = 0;
        }
        if (what == converged && carried) {  // it seems to be the end: look again
            cooperative_groups::this_grid().sync();
            Sums<1> square;
            for (long long i = me; i < n; i += threads) {
                const Point<d> point(i, side);
                const long long c = place(i);
                const T fresh = b[i] - laplace_at(point, side, x[c],
                                                  [&](const Point<d>& at) { return x[place(at.index)]; });
                p[c] -= r[c];
                r[c] = fresh;
                square.of[0] += double(fresh) * fresh;
            }
            square = over_grid(square);
            if (!(square.of[0] <=
                  tolerance * tolerance * bb)) {  // go on from here: the same p - r, another r
                step.alpha = 0, step.beta = 1, step.along_p = 0;
                carried = false;
                continue;
            }
            if (me == 0) history[k] = sqrt(square.of[0]);
            break;
        }
        if (me == 0) history[k] = sqrt(rr);
        if (what >= 0) break;
        step.alpha = static_cast<T>(rr / pw);
        const double next = rr - 2 * step.alpha * rw + double(step.alpha) * step.alpha * ww;
        step.beta = static_cast<T>(fmax(next, 0.0) / rr);
        step.along_p = step.alpha, step.along_r = 0;
        if (behind != 0) {
            step.along_p = step.alpha + behind, step.along_r = -behind;
            behind = 0;
        } else if (step.beta > T(0.125)) {
            behind = step.alpha / step.beta;
            step.along_p = 0;
        }
        ++k;
        carried = true;
    }
    if (me == 0) outcome[0] = what, outcome[1] = k;
}

/// Copies rows of `count` numbers, whose beginnings are `apart` and `apart_from` numbers apart.
template <class T>
static void copy_rows(T* to, std::size_t apart, const T* from, std::size_t apart_from, std::size_t count,
                      std::size_t rows, cudaStream_t stream) {
    if (count == 0) return;
    if (apart == apart_from) {  // one row may be longer than a pitch may be
        CUDA_CHECK(cudaMemcpyAsync(to, from, apart * rows * sizeof(T), cudaMemcpyDeviceToDevice, stream));
        return;
    }
    CUDA_CHECK(cudaMemcpy2DAsync(to, apart * sizeof(T), from, apart_from * sizeof(T), count * sizeof(T), rows,
                                 cudaMemcpyDeviceToDevice, stream));
}

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int dimensions, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        Plan plan = plan_sweep<d, T>(side);
        clear_history(history, limit, stream);

        // Rows as the sweep wants them: b is copied there, and x back from there.
        const std::size_t length = row_length<d, T>(side), kept = swept_length<d, T>(side);
        const std::size_t rows = kept / std::max<std::size_t>(length, 1), sums = GridSums::bytes(plan.blocks);
        auto* const memory =
            static_cast<unsigned char*>(rungs::stream_workspace(stream, sums + 5 * kept * sizeof(T)));
        T* const vectors = reinterpret_cast<T*>(memory + sums);
        Work<T> work{{vectors, vectors + 2 * kept},
                     {vectors + kept, vectors + 3 * kept},
                     vectors + 4 * kept,
                     reinterpret_cast<double*>(memory)};
        if (kept > 0) CUDA_CHECK(cudaMemsetAsync(work.r[1], 0, 3 * kept * sizeof(T), stream));  // and p[1], x
        copy_rows(work.r[1], length, b, side, side, rows, stream);
        const auto kernel = cg_fused_kernel<T, d>;
        rungs::allow_shared_memory(kernel, plan.shared);
        void* arguments[] = {&b, &history, &outcome, &work, &plan.tiling, &side, &limit, &tolerance};
        CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(plan.blocks), dim3(plan.threads), arguments,
                                               plan.shared, stream));
        copy_rows(x, side, work.x, length, side, rows, stream);
    });
}
// END SOLUTION

void pcg::cg_fused(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    // TODO 12.2: in float.
    // BEGIN SOLUTION
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
    // END SOLUTION
}

void pcg::cg_fused(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    // TODO 12.3: in double.
    // BEGIN SOLUTION
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
    // END SOLUTION
}
