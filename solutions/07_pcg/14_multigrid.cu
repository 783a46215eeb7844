// Conjugate gradients that need a dozen iterations however fine the grid: the residual goes through a
// V-cycle, which smooths on the grid itself and leaves the rest to coarser ones. x and b are double; the
// cycle is float.

#include "cycle.cuh"
#include "grid_sums.cuh"

using namespace pcg;

// TODO 14.1: the kernels, multigrid_kernel and precondition_kernel, and their launches. cycle.cuh is given: it
// has passes over large cubes of three dimensions, and may be used or left alone. All other grids, the cycle
// and the solve are yours.
// BEGIN SOLUTION
// The whole solve is one launch: half-sweeps and levels wait for each other at the grid's barrier, and the
// smallest levels are left to one block. The direction that the cycle leads to is float, too.

static constexpr int few_points = 1024;  ///< grids with as many or fewer are left to one block

/// The threads that share the points of a grid among them: of the whole grid, or of one block.
struct Team {
    long long rank, size;
    bool block;

    /// action(i) for each of this thread's numbers below n.
    template <class Action>
    __device__ void share(long long n, const Action& action) const {
        for (long long i = rank; i < n; i += size) action(i);
    }
    /// All threads must call it.
    __device__ void wait() const {
        if (block)
            __syncthreads();
        else
            cooperative_groups::this_grid().sync();
    }
};

static __device__ Team whole_grid() {
    return {blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x,
            static_cast<long long>(gridDim.x) * blockDim.x, false};
}

/// The sum of a point's neighbours.
template <int d>
static __device__ float neighbours(const float* x, const Point<d>& point, int side) {
    return -laplace_at(point, side, 0.0f, [x](const Point<d>& at) { return x[at.index]; });
}

/// Gauss-Seidel at a point, where the neighbours add up to `around`. A division would be ten instructions.
struct GaussSeidel {
    float one_over_diagonal;
    /// This is no float, as a rule. So a point that has been relaxed has not 0 left of its r, but -excess
    /// times its value.
    float excess;

    __device__ explicit GaussSeidel(int d)
        : one_over_diagonal(1.0f / (2 * d)),
          excess(static_cast<float>(2 * d * (2.0 * d * one_over_diagonal - 1))) {}

    __device__ float relaxed(float r, float around) const { return (r + around) * one_over_diagonal; }

    /// What a red point has left of its r after the sweep, when its neighbours add up to `around`.
    __device__ float rest_of_red(float around) const { return around; }
};

/// The part of the rest of a grid that a coarse point gets: as much from each fine point as that takes of it
/// in interpolation. Only red points have a rest.
template <int d>
static __device__ float restricted(const float* x, const Point<d>& coarse, int side,
                                   const GaussSeidel& smoother) {
    const Weights weight_of(side);
    float sum = 0;
    for (int corner = 0; corner < 1 << 2 * d; ++corner) {
        Point<d> point(0, side);
        float weight = 1;
        long long stride = 1;
        for (int k = 0; k < d; ++k, stride *= side) {
            const int which = corner >> 2 * k & 3;
            point.c[k] = 2 * coarse.c[k] + which;
            point.index += point.c[k] * stride;
            const float after = weight_of(point.c[k]);
            weight *= point.c[k] >= side ? 0 : which < 2 ? after : 1 - after;
        }
        if (weight == 0 || colour_of(point) != 0) continue;
        sum += weight * smoother.rest_of_red(neighbours(x, point, side));
    }
    return sum;
}

/// The coarse grid's x at a fine point: linear between its points and the walls.
template <int d>
static __device__ float interpolated(const float* x, const Point<d>& fine, int side) {
    const int coarse = coarse_side(side);
    const Weights weight_of(side);
    float sum = 0;
    for (int corner = 0; corner < 1 << d; ++corner) {
        float weight = 1;
        long long index = 0, stride = 1;
        for (int k = 0; k < d; ++k, stride *= coarse) {
            const int before = corner >> k & 1, from = fine.c[k] / 2 - before;
            const float own = weight_of(fine.c[k]);
            weight *= from < 0 || from >= coarse ? 0 : before ? 1 - own : own;
            index += from * stride;
        }
        if (weight != 0) sum += weight * x[index];
    }
    return sum;
}

/// From x = 0, a sweep, red and then black, for A x = b on one grid; and what is left, on the next one.
template <int d>
static __device__ __noinline__ void go_down(Team team, GaussSeidel smoother, Level fine, Level coarse,
                                            float* x, const float* b, float* coarse_b) {
    const int side = fine.side;
    team.share(points(d, side), [&](long long i) {
        const Point<d> point(i, side);
        float around = 0;  // red points are relaxed with neighbours that are 0
        if (colour_of(point) == 1) {
            around = -laplace_at(point, side, 0.0f,
                                 [&](const Point<d>& red) { return smoother.relaxed(b[red.index], 0); });
        }
        x[i] = smoother.relaxed(b[i], around);
    });
    team.wait();
    team.share(points(d, coarse.side), [&](long long i) {
        coarse_b[i] = fine.scale * restricted(x, Point<d>(i, coarse.side), side, smoother);
    });
    team.wait();
}

/// The coarse grid's correction, and another sweep. Returns this thread's part of b.x
template <int d>
static __device__ __noinline__ double go_up(Team team, GaussSeidel smoother, Level fine, float* x,
                                            const float* b, const float* coarse_x) {
    const int side = fine.side;
    double rz = 0;
    team.share(points(d, side), [&](long long i) {  // of red points: black ones are relaxed next
        const Point<d> point(i, side);
        if (colour_of(point) == 0) x[i] += interpolated(coarse_x, point, side);
    });
    const auto half_sweep = [&](int colour) {
        team.wait();
        team.share(points(d, side), [&](long long i) {
            const Point<d> point(i, side);
            if (colour_of(point) != colour) return;
            x[i] = smoother.relaxed(b[i], neighbours(x, point, side));
            rz += double(b[i]) * x[i];
        });
    };
    half_sweep(1);
    half_sweep(0);
    team.wait();
    return rz;
}

/// On the smallest grid, a point a thread, so many sweeps that little is left. All threads of a block must
/// call it. Returns this thread's part of b.x
template <int d>
static __device__ __noinline__ double solve_smallest(GaussSeidel smoother, int side, float* x,
                                                     const float* b) {
    __shared__ float values[pass_block + 1];  // and a 0, where there is no neighbour
    const int me = threadIdx.x, halves = 2 * (side + 1);
    const Point<d> point(me, side);
    const bool mine = me < points(d, side);
    const float right = mine ? b[me] : 0;
    const int colour = mine ? colour_of(point) : -1;
    int beside[2 * d], stride = 1;
#pragma unroll
    for (int k = 0; k < d; ++k, stride *= side) {
        beside[2 * k] = point.c[k] > 0 ? me - stride : pass_block;
        beside[2 * k + 1] = point.c[k] + 1 < side ? me + stride : pass_block;
    }
    values[me] = 0;
    if (me == 0) values[pass_block] = 0;
    for (int half = 0; half < 2 * halves; ++half) {
        __syncthreads();
        if (colour != (half < halves ? half % 2 : 1 - half % 2)) continue;
        float around = 0;
#pragma unroll
        for (int i = 0; i < 2 * d; ++i) around += values[beside[i]];
        values[me] = smoother.relaxed(right, around);
    }
    if (mine) x[me] = values[me];
    __syncthreads();
    return double(right) * values[me];
}

/// x = M b on grid `finest`; x and b hold the points of all grids. Returns this thread's part of b.x. All
/// threads of the grid must call it; b has been written before a barrier, and before other threads' x is read
/// there has to be one.
template <int d>
static __device__ double cycle(const Grids& grids, float* all_x, float* all_b, int finest) {
    const GaussSeidel smoother(d);
    const Team whole = whole_grid(), block{threadIdx.x, blockDim.x, true};
    const auto x = [&](int level) { return all_x + grids.level[level].at; };
    const auto b = [&](int level) { return all_b + grids.level[level].at; };
    const auto large = [&](int level) { return d == 3 && grids.level[level].large; };
    const int bottom = grids.count - 1;
    int small = finest;  // the first grid that is left to one block
    while (small < bottom && (large(small) || points(d, grids.level[small].side) > few_points)) ++small;

    for (int level = finest; level < small; ++level) {
        const Level &fine = grids.level[level], &coarse = grids.level[level + 1];
        if (large(level)) {
            pass_down(smoother, b(level), b(level + 1), fine, coarse);
            whole.wait();
        } else {
            go_down<d>(whole, smoother, fine, coarse, x(level), b(level), b(level + 1));
        }
    }
    double rz = 0;  // of the level done last
    if (blockIdx.x == 0) {
        for (int level = small; level < bottom; ++level)
            go_down<d>(block, smoother, grids.level[level], grids.level[level + 1], x(level), b(level),
                       b(level + 1));
        rz = solve_smallest<d>(smoother, grids.level[bottom].side, x(bottom), b(bottom));
        for (int level = bottom - 1; level >= small; --level)
            rz = go_up<d>(block, smoother, grids.level[level], x(level), b(level), x(level + 1));
    }
    for (int level = small - 1; level >= finest; --level) {
        whole.wait();
        const Level &fine = grids.level[level], &coarse = grids.level[level + 1];
        if (large(level))
            rz = pass_up<false>(smoother, b(level), x(level + 1), x(level), nullptr, 0, fine, coarse);
        else
            rz = go_up<d>(whole, smoother, fine, x(level), b(level), x(level + 1));
    }
    return rz;
}

/// What a solve has in global memory. b - A x is `scaled_r` / scale, and z and p are as much larger than in
/// the textbook, so that no size of b leaves the range of float.
struct Work {
    double* x;                                  ///< every other x
    float *scaled_r, *z, *p[Directions::most];  ///< scaled_r and z: of all grids
    double* sums;
};

/// Where a point is in padded rows.
static __device__ long long padded(long long i, const Level& level) {
    return level.pitch == level.side ? i : i / level.side * level.pitch + i % level.side;
}

template <int d>
__global__ void __launch_bounds__(pass_block, 2)
    multigrid_kernel(const double* b, double* x, double* history, int* outcome, Work work, Grids grids,
                     int limit, double tolerance) {
    GridSums over_grid(work.sums);
    const Team team = whole_grid();
    const Level finest = grids.count > 0 ? grids.level[0] : Level{};
    const int side = finest.side;
    const long long n = points(d, side);
    const bool large = d == 3 && finest.large;
    float *const scaled_r = work.scaled_r, *const z = work.z;
    const auto sum = [&](double own) {
        Sums<1> sums;
        sums.of[0] = own;
        return over_grid(sums).of[0];
    };

    double own = 0;
    team.share(n, [&](long long i) { own += b[i] * b[i]; });
    const double bb = sum(own), scale = sqrt(n / bb);
    if (bb > 0 && !isinf(bb))
        team.share(n, [&](long long i) { scaled_r[padded(i, finest)] = static_cast<float>(b[i] * scale); });
    cooperative_groups::this_grid().sync();

    const GaussSeidel smoother(d);
    Directions behind;  // those that x has not taken yet
    // x goes back and forth between two arrays. As a rule a large cube takes three steps: x is the third.
    double *const odd_x = large ? x : work.x, *const even_x = large ? work.x : x;
    const double* now_x = nullptr;  // 0
    // x takes them, and r = b - A x, in double: nothing can drift for long.
    const auto catch_up = [&] {
        double* const new_x = now_x == odd_x ? even_x : odd_x;
        double square = 0;
        if (large) {
            square = step_pass(b, now_x, new_x, behind, scaled_r, scale, finest, grids.step_planes);
        } else {
            const auto moved = [&](const Point<d>& point) {
                return (now_x ? now_x[point.index] : 0) + behind.alpha[0] * behind.p[0][point.index];
            };
            team.share(n, [&](long long i) {
                const Point<d> point(i, side);
                const double here = moved(point), r = b[i] - laplace_at(point, side, here, moved);
                new_x[i] = here;
                scaled_r[i] = static_cast<float>(r * scale);
                square += r * r;
            });
        }
        now_x = new_x, behind.count = 0;
        return sum(square);
    };

    double rr = bb, rz = 0, pAp = 0;
    int k = 0, what;
    for (;; ++k) {
        what = verdict(rr, bb, k, limit, tolerance);
        if (what >= 0 && behind.count > 0) {
            rr = catch_up();
            what = verdict(rr, bb, k, limit, tolerance);
        }
        if (team.rank == 0) history[k] = sqrt(rr);
        if (what >= 0) break;
        what = breakdown;
        // Of the finest grid the way down tells its part of r.z. So beta is known before the way up.
        if (large) {
            own = 2 * d * pass_down(smoother, scaled_r, scaled_r + grids.level[1].at, finest, grids.level[1]);
            team.wait();
            own += cycle<d>(grids, z, scaled_r, 1) / finest.scale;
        } else {
            own = cycle<d>(grids, z, scaled_r, 0);
        }
        const double new_rz = sum(own);
        if (!(new_rz > 0) || isinf(new_rz)) break;
        float beta = 0;
        if (k > 0) beta = static_cast<float>(new_rz / rz);

        // The new direction, and p.A p.
        const float* const old_p = k > 0 ? work.p[(k - 1) % Directions::most] : large ? scaled_r : z;
        float* const p = work.p[k % Directions::most];
        if (large) {
            const double zAz = new_rz - sum(pass_up<true>(smoother, scaled_r, z + grids.level[1].at, p, old_p,
                                                          beta, finest, grids.level[1]));
            // z is orthogonal to the r before; so z.A old_p is -new_rz / the alpha before.
            pAp = zAz + (k > 0 ? beta * (beta - 2 * new_rz / rz) * pAp : 0);
        } else {
            own = 0;
            const auto direction = [&](const Point<d>& point) {
                return z[point.index] + beta * old_p[point.index];
            };
            team.share(n, [&](long long i) {
                const Point<d> point(i, side);
                const float here = direction(point);
                p[i] = here;
                own += double(laplace_at(point, side, here, direction)) * here;
            });
            pAp = sum(own);
        }
        rz = new_rz;
        if (!(pAp > 0) || isinf(pAp)) break;

        // x is double, and r in the end too. But most of the time it is enough that r, in float, goes on.
        const double alpha = rz / pAp;
        behind.add(p, alpha / scale);
        if (large && behind.count < Directions::most)
            rr = sum(residual_pass(p, scaled_r, static_cast<float>(alpha), finest, grids.residual_planes)) /
                 (scale * scale);
        else
            rr = catch_up();
    }
    if (behind.count > 0) catch_up();
    // All threads have passed the last barrier, or one that followed the last step.
    if (!now_x)
        team.share(n, [&](long long i) { x[i] = 0; });
    else if (now_x != x)
        team.share(n, [&](long long i) { x[i] = work.x[i]; });
    if (team.rank == 0) outcome[0] = what, outcome[1] = k;
}

/// The preconditioner alone, for `count` vectors.
template <int d>
__global__ void __launch_bounds__(pass_block, 2)
    precondition_kernel(const float* u, float* y, Work work, Grids grids, int count) {
    const Team team = whole_grid();
    const Level& finest = grids.level[0];
    const long long n = points(d, finest.side);
    for (int v = 0; v < count; ++v, u += n, y += n) {
        team.share(n, [&](long long i) { work.scaled_r[padded(i, finest)] = u[i]; });
        team.wait();
        cycle<d>(grids, work.z, work.scaled_r, 0);
        team.wait();
        team.share(n, [&](long long i) { y[i] = work.z[padded(i, finest)]; });
    }
}

/// Memory of the stream's. n: doubles of x, 0 for none.
static Work workspace(int blocks, long long n, const Grids& grids, cudaStream_t stream) {
    const auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const long long padded = grids.count > 1 ? grids.level[1].at : grids.floats;
    const std::size_t sums = aligned(GridSums::bytes(blocks)), vector = aligned(n * sizeof(double));
    const std::size_t all = aligned(grids.floats * sizeof(float)),
                      one = n > 0 ? aligned(padded * sizeof(float)) : 0;
    auto* memory = static_cast<unsigned char*>(
        rungs::stream_workspace(stream, sums + vector + 2 * all + Directions::most * one));
    Work work{};
    const auto take = [&memory](auto*& pointer, std::size_t bytes) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(memory);
        memory += bytes;
    };
    take(work.sums, sums);
    take(work.x, vector);
    take(work.scaled_r, all);
    take(work.z, all);
    for (float*& p : work.p) take(p, one);
    CUDA_CHECK(cudaMemsetAsync(work.scaled_r, 0, all, stream));  // where rows are padded, it stays so
    return work;
}
// END SOLUTION

void pcg::multigrid(const double* b, double* x, double* history, int* outcome, int dimensions, int side,
                    int limit, double tolerance, cudaStream_t stream) {
    // TODO 14.2: in double.
    // BEGIN SOLUTION
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const auto kernel = multigrid_kernel<d>;
        const long long n = points(d, side);
        clear_history(history, limit, stream);
        const int blocks = pass_blocks(kernel, d, n);
        Grids grids(d, side, blocks);
        Work work = workspace(blocks, n, grids, stream);
        void* arguments[] = {&b, &x, &history, &outcome, &work, &grids, &limit, &tolerance};
        CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(pass_block), arguments,
                                               pass_shared(d), stream));
    });
    // END SOLUTION
}

void pcg::multigrid(const float* u, float* y, int dimensions, int side, int count, cudaStream_t stream) {
    // TODO 14.3: the preconditioner alone.
    // BEGIN SOLUTION
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const auto kernel = precondition_kernel<d>;
        if (side == 0 || count == 0) return;
        const int blocks = pass_blocks(kernel, d, points(d, side));
        Grids grids(d, side, blocks);
        Work work = workspace(blocks, 0, grids, stream);
        void* arguments[] = {&u, &y, &work, &grids, &count};
        CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(pass_block), arguments,
                                               pass_shared(d), stream));
    });
    // END SOLUTION
}
