// Conjugate gradients in double, preconditioned by one multigrid V-cycle in float. The cycle works on r
// divided by its norm, so that no size of b leaves the range of float. The whole solve is one launch:
// half-sweeps and levels wait for each other at the grid's barrier.

#include "solver.cuh"

using namespace pcg;

static constexpr int block_size = 256;
static constexpr int most_levels = 32;

/// The grids, from the finest to one of one or two cells a side. Cell c of a coarse grid lies on cell 2c + 1
/// of the finer one. On each, A x = b is to be solved.
struct Hierarchy {
    int levels = 0;
    int side[most_levels];
    float *x[most_levels], *b[most_levels];
};

/// The threads of the grid share the cells out among them: action(i) for each of mine.
template <class Action>
static __device__ void for_mine(long long n, const Action& action) {
    const long long all = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n; i += all)
        action(i);
}

static __device__ void wait_for_all() { cooperative_groups::this_grid().sync(); }

/// Whether the coordinates of a cell add up to an odd number: black, else red.
template <int d>
static __device__ int colour_of(const Cell<d>& cell) {
    int sum = 0;
    for (int k = 0; k < d; ++k) sum += cell.c[k];
    return sum % 2;
}

/// Gauss-Seidel at one cell.
template <int d>
static __device__ void relax(float* x, const float* b, const Cell<d>& cell, int side) {
    x[cell.index] += (b[cell.index] - laplace_at(x, cell, side)) / (2 * d);
}

/// Gauss-Seidel for all cells of a colour, by the whole grid. All threads of the grid must call it.
template <int d>
static __device__ void half_sweep(float* x, const float* b, int side, int colour) {
    for_mine(cells(d, side), [&](long long i) {
        const Cell<d> cell(i, side);
        if (colour_of(cell) == colour) relax(x, b, cell, side);
    });
    wait_for_all();
}

/// The part of the residual of the finer grid that a coarse cell gets: as much from each fine cell as that
/// takes of it in interpolation, times 4 / 2^d.
template <int d>
static __device__ float restricted(const float* x, const float* b, const Cell<d>& coarse, int side) {
    int corners = 1;
    for (int k = 0; k < d; ++k) corners *= 3;
    float sum = 0;
    for (int corner = 0; corner < corners; ++corner) {
        // TODO 7.1 (about 8 lines): the digits of `corner`, to the base 3, are the steps -1, 0, 1 from cell 2c + 1 along
        // each axis. Where such a cell is inside, add its residual, times 1/2 for each axis with a step.
    }
    return sum * 4 / (1 << d);
}

/// The coarse grid's x at a fine cell: linear between its cells, 0 beyond the boundary.
template <int d>
static __device__ float interpolated(const float* x, const Cell<d>& fine, int side) {
    float sum = 0;
    for (int corner = 0; corner < 1 << d; ++corner) {
        float weight = 1;
        long long index = 0, stride = 1;
        for (int k = 0; k < d; ++k, stride *= side) {
            const int c = fine.c[k], after = corner >> k & 1;
            const int from = c % 2 ? c / 2 : c / 2 - 1 + after;  // an odd cell lies on a coarse one
            if (c % 2 ? after : from < 0 || from >= side) weight = 0;
            if (c % 2 == 0) weight *= 0.5f;
            index += from * stride;
        }
        if (weight > 0) sum += weight * x[index];
    }
    return sum;
}

/// x[0] = M b[0]. All threads of the grid must call it; b[0] has been written before a barrier of the grid.
template <int d>
static __device__ void cycle(const Hierarchy& grids) {
    const int bottom = grids.levels - 1;
    for (int level = 0; level < bottom; ++level) {
        float *const x = grids.x[level], *const b = grids.b[level];
        const int side = grids.side[level];
        for_mine(cells(d, side), [&](long long i) {  // x = 0, and a red half-sweep
            x[i] = colour_of(Cell<d>(i, side)) == 0 ? b[i] / (2 * d) : 0;
        });
        wait_for_all();
        half_sweep<d>(x, b, side, 1);
        const int coarse = grids.side[level + 1];
        for_mine(cells(d, coarse),
                 [&](long long i) { grids.b[level + 1][i] = restricted(x, b, Cell<d>(i, coarse), side); });
        wait_for_all();
    }
    // So few cells that sweeps of one block solve it.
    const int few = static_cast<int>(cells(d, grids.side[bottom])), me = threadIdx.x;
    if (blockIdx.x == 0) {
        float *const x = grids.x[bottom], *const b = grids.b[bottom];
        if (me < few) x[me] = 0;
        for (int half = 0; half < 32; ++half) {
            __syncthreads();
            if (me >= few) continue;
            const Cell<d> cell(me, grids.side[bottom]);
            if (colour_of(cell) == (half < 16 ? half % 2 : 1 - half % 2))
                relax(x, b, cell, grids.side[bottom]);
        }
    }
    wait_for_all();
    for (int level = bottom - 1; level >= 0; --level) {
        float *const x = grids.x[level], *const b = grids.b[level];
        const int side = grids.side[level];
        for_mine(cells(d, side), [&](long long i) {
            x[i] += interpolated(grids.x[level + 1], Cell<d>(i, side), grids.side[level + 1]);
        });
        wait_for_all();
        // TODO 7.2 (2 lines): the sweep after it. Which order of the colours makes M symmetric?
    }
}

/// The preconditioner alone.
template <int d>
__global__ void precondition_kernel(const float* u, float* y, Hierarchy grids, int count) {
    const long long n = cells(d, grids.side[0]);
    for (int v = 0; v < count; ++v) {
        for_mine(n, [&](long long i) { grids.b[0][i] = u[v * n + i]; });
        wait_for_all();
        cycle<d>(grids);
        for_mine(n, [&](long long i) { y[v * n + i] = grids.x[0][i]; });
    }
}

/// What a solve has in global memory besides the grids.
struct Work {
    double *r, *p, *w;
    double* sums;
};

template <int d>
__global__ void multigrid_kernel(const double* b, double* x, double* history, int* outcome, Hierarchy grids,
                                 Work work, int side, int limit, double tolerance) {
    GridSums over_grid(work.sums);
    const long long n = cells(d, side);
    double *const r = work.r, *const p = work.p, *const w = work.w;
    Sums<1> square;
    for_mine(n, [&](long long i) {
        r[i] = b[i], p[i] = 0;
        square.of[0] += b[i] * b[i];
    });
    double rr = over_grid(square).of[0], rz = 0;
    const double bb = rr;
    int k = 0, what;
    for (;; ++k) {
        if (k > 0 && rr <= tolerance * tolerance * bb) {  // it seems to be the end: look again
            square = {};
            for_mine(n, [&](long long i) {
                r[i] = b[i] - laplace_at(x, Cell<d>(i, side), side);
                square.of[0] += r[i] * r[i];
            });
            rr = over_grid(square).of[0];
        }
        if (blockIdx.x == 0 && threadIdx.x == 0) history[k] = sqrt(rr);
        what = verdict(rr, bb, k, limit, tolerance);
        if (what >= 0) break;

        const double scale = sqrt(rr);
        for_mine(n, [&](long long i) { grids.b[0][i] = static_cast<float>(r[i] / scale); });
        wait_for_all();
        cycle<d>(grids);
        Sums<1> product;
        for_mine(n, [&](long long i) { product.of[0] += r[i] / scale * grids.x[0][i]; });
        // r.z of this residual: z is scale times what the cycle has left, and so is r.
        const double next = over_grid(product).of[0] * scale * scale;
        what = breakdown;
        if (!(next > 0) || isinf(next)) break;
        double beta = 0;
        // TODO 7.3 (1 line): beta of preconditioned conjugate gradients, from r.z and the one before; 0 at first.
        rz = next;
        for_mine(n, [&](long long i) { p[i] = scale * grids.x[0][i] + beta * p[i]; });
        wait_for_all();
        product = {};
        for_mine(n, [&](long long i) {
            w[i] = laplace_at(p, Cell<d>(i, side), side);
            product.of[0] += p[i] * w[i];
        });
        const double pw = over_grid(product).of[0];
        if (!(pw > 0) || isinf(pw)) break;
        const double alpha = rz / pw;
        square = {};
        for_mine(n, [&](long long i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * w[i];
            square.of[0] += r[i] * r[i];
        });
        rr = over_grid(square).of[0];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) outcome[0] = what, outcome[1] = k;
}

/// The floats that the grids of a cube take.
static long long floats_of(int d, int side) {
    long long sum = 0;
    for (; side > 0; side = side > 2 ? side / 2 : 0) sum += 2 * cells(d, side);
    return sum;
}

static Hierarchy build(int d, int side, float* memory) {
    Hierarchy grids;
    for (; side > 0; side = side > 2 ? side / 2 : 0) {
        const long long n = cells(d, side);
        grids.side[grids.levels] = side;
        grids.x[grids.levels] = memory;
        grids.b[grids.levels++] = memory + n;
        memory += 2 * n;
    }
    return grids;
}

void pcg::multigrid(const float* u, float* y, int d, int side, int count, cudaStream_t stream) {
    with_dimensions(d, side, [&](auto dimensions) {
        constexpr int most = decltype(dimensions)::value;
        if (side == 0 || count == 0) return;
        auto* const memory =
            static_cast<float*>(rungs::stream_workspace(stream, floats_of(most, side) * sizeof(float)));
        Hierarchy grids = build(most, side, memory);
        const auto kernel = precondition_kernel<most>;
        void* arguments[] = {&u, &y, &grids, &count};
        CUDA_CHECK(cudaLaunchCooperativeKernel(
            kernel, dim3(cooperative_blocks(kernel, block_size, cells(most, side))), dim3(block_size),
            arguments, 0, stream));
    });
}

void pcg::multigrid(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                    double tolerance, cudaStream_t stream) {
    with_dimensions(d, side, [&](auto dimensions) {
        constexpr int most = decltype(dimensions)::value;
        const long long n = cells(most, side);
        clear_history(history, limit, stream);
        if (n > 0) CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(double), stream));
        const auto kernel = multigrid_kernel<most>;
        const int blocks = cooperative_blocks(kernel, block_size, n);
        const std::size_t sums = GridSums::bytes(blocks);
        const std::size_t bytes = sums + 3 * n * sizeof(double) + floats_of(most, side) * sizeof(float);
        auto* const memory = static_cast<unsigned char*>(rungs::stream_workspace(stream, bytes));
        auto* const vectors = reinterpret_cast<double*>(memory + sums);
        Work work{vectors, vectors + n, vectors + 2 * n, reinterpret_cast<double*>(memory)};
        Hierarchy grids = build(most, side, reinterpret_cast<float*>(vectors + 3 * n));
        void* arguments[] = {&b, &x, &history, &outcome, &grids, &work, &side, &limit, &tolerance};
        CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(block_size), arguments, 0, stream));
    });
}
