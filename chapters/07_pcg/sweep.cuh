#pragma once
/// @file
/// An iteration of conjugate gradients in one pass over memory. What is computed at a cell, the rung says;
/// this file brings the cells together.
///
/// The new direction p' = r' + beta p, with r' = r - alpha A p, is needed at a cell and at its neighbours,
/// because the pass also wants A p'. And A p is nowhere stored. So it is computed, and for the neighbours
/// computed again: from p within two steps of the cell, and r within one.

#include <algorithm>

#include "solver.cuh"

namespace pcg {

/// What a pass reads and writes. Old and new are different memory: a block still reads what another has
/// replaced.
template <class T>
struct Pass {
    const T *r, *p;
    T *new_r, *new_p;
    T* x;
};

inline constexpr int sweep_block = 512;  ///< threads of a block, at most; one block a multiprocessor

/// How a cube of 2 or 3 dimensions is cut. A plane is what the last coordinate leaves: all cells that have it
/// in common. An item is a stretch of `cells` cells of each of `planes` planes.
struct Tiling {
    int cells, planes;
    int stretches, slabs;  ///< items beside and above each other
};

/// Cells of a plane that a thread has, those at the stretch's rim included; and of which it brings the old p.
template <class T>
inline constexpr int per_thread = sizeof(T) == 4 ? 8 : 6;
template <class T>
inline constexpr int fetched = per_thread<T> + 2;

/// A pass as a rung says it: `step` has
/// - T residual(T r, T w): the new r at a cell where A p is w,
/// - T direction(T r, T p): the new p, where the new r is r and the old p is p,
/// - bool moves_x(); void move(T& x, T r, T p): x at a cell, from the old r and p,
/// - void add(T r, T p, T w): takes note of the new r and p, and of w = A p.
/// A thread owns every so many-th cell of the cube, and works out its neighbours' new p once more.
template <int d, class T, class Step>
__device__ void sweep_cells(const Pass<T>& v, int side, Step& step) {
    const long long n = cells(d, side), threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n; i += threads) {
        const Cell<d> cell(i, side);
        const auto new_r = [&](const Cell<d>& at) {
            return step.residual(v.r[at.index], laplace_at(v.p, at, side));
        };
        const auto new_p = [&](const Cell<d>& at) { return step.direction(new_r(at), v.p[at.index]); };
        const T r = new_r(cell), p = step.direction(r, v.p[i]);
        step.add(r, p, laplace_at(cell, side, p, new_p));
        v.new_r[i] = r;
        v.new_p[i] = p;
        if (step.moves_x()) step.move(v.x[i], v.r[i], v.p[i]);
    }
}

/// The same for 2 and 3 dimensions. A block owns an item and walks through its planes, a thread owns some
/// columns. Old p of three planes and new p of three planes are in shared memory, so that nothing is worked
/// out twice but at the rim of a stretch.
template <int d, class T, class Step>
__device__ void sweep_planes(T* shared, const Pass<T>& v, int side, const Tiling& tiling, int item,
                             Step& step) {
    constexpr int own = per_thread<T>;
    const int threads = blockDim.x;
    const int across = d == 3 ? side : 1;  // the longest way to a neighbour in the plane: the rim of a step
    const int plane = d == 3 ? side * side : side;
    const int first = item % tiling.stretches * tiling.cells, end = min(first + tiling.cells, plane);
    const int bottom = item / tiling.stretches * tiling.planes, top = min(bottom + tiling.planes, side);
    const int wide = tiling.cells + 4 * across, narrow = tiling.cells + 2 * across;
    // The old p of cell c is old_p[c - first + 2 across], its new p is new_p[c - first + across].
    T *below = shared, *old_p = below + wide, *above = old_p + wide;
    T *far_below = above + wide, *near_below = far_below + narrow, *new_p = near_below + narrow;

    // A thread's columns are `start` and every `threads`-th behind it.
    const int start = first - across + static_cast<int>(threadIdx.x);
    unsigned inside = 0, mine = 0, left = 0,
             right = 0;  // a bit for each: in the plane, the item's; has neighbours
#pragma unroll
    for (int j = 0; j < own; ++j) {
        const int c = start + j * threads;
        if (c >= 0 && c < min(end + across, plane)) inside |= 1u << j;
        if (c >= first && c < end) mine |= 1u << j;
        if (d == 2 || c % side > 0) left |= 1u << j;
        if (d == 2 || (c + 1) % side > 0) right |= 1u << j;
    }
    const auto at = [](unsigned bits, int j) { return (bits >> j & 1) != 0; };

    T coming_p[fetched<T>], coming_r[own], coming_x[own];  // of the planes that are needed next
    const auto fetch_p = [&](int z) {
        const T* const from = v.p + z * static_cast<long long>(plane);
#pragma unroll
        for (int j = 0; j < fetched<T>; ++j) {
            const int l = threadIdx.x + j * threads, c = first - 2 * across + l;
            coming_p[j] = z >= 0 && z < side && c >= 0 && c < plane && l < wide ? from[c] : T(0);
        }
    };
    const auto fetch_r = [&](int z) {
        const long long from = z * static_cast<long long>(plane) + start;
#pragma unroll
        for (int j = 0; j < own; ++j) {
            const bool exists = z >= 0 && z < side && at(inside, j);
            coming_r[j] = exists ? v.r[from + j * threads] : T(0);
            const bool moves = at(mine, j) && z >= bottom && z < top && step.moves_x();  // else it is others' x
            if (moves) coming_x[j] = v.x[from + j * threads];
        }
    };
    const auto store_p = [&](T* to) {
#pragma unroll
        for (int j = 0; j < fetched<T>; ++j) {
            const int l = threadIdx.x + j * threads;
            if (l < wide) to[l] = coming_p[j];
        }
    };
    const auto laplace = [&](const T* under, const T* u, const T* over, int l, int j) {
        T around = under[l] + over[l];
        if (at(left, j)) around += u[l - 1];
        if (at(right, j)) around += u[l + 1];
        if (d == 3) around += u[l - across] + u[l + across];
        return T(2 * d) * u[l] - around;
    };

    __syncthreads();  // the item before may still be read
    fetch_p(bottom - 2);
    store_p(below);
    fetch_p(bottom - 1);
    store_p(old_p);
    fetch_p(bottom);
    fetch_r(bottom - 1);
    T last_r[own];  // the new r of the plane before
    for (int z = bottom - 1; z <= top; ++z) {
        store_p(above);
        if (z < top) fetch_p(z + 2);  // long before it is needed
        __syncthreads();
        T r[own];
#pragma unroll
        for (int j = 0; j < own; ++j) {
            const int l = threadIdx.x + j * threads;  // in new_p; in old_p, l + across
            if (l >= narrow) break;
            T p = 0;
            if (at(inside, j) && z >= 0 && z < side) {
                const T before = old_p[l + across];
                r[j] = step.residual(coming_r[j], laplace(below, old_p, above, l + across, j));
                p = step.direction(r[j], before);
                if (at(mine, j) && z >= bottom && z < top) {
                    const long long i = z * static_cast<long long>(plane) + start + j * threads;
                    v.new_r[i] = r[j];
                    v.new_p[i] = p;
                    if (step.moves_x()) {
                        step.move(coming_x[j], coming_r[j], before);
                        v.x[i] = coming_x[j];
                    }
                }
            }
            new_p[l] = p;
        }
        if (z < top) fetch_r(z + 1);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < own; ++j) {
            const int l = threadIdx.x + j * threads;
            if (z > bottom && at(mine, j))
                step.add(last_r[j], near_below[l], laplace(far_below, near_below, new_p, l, j));
            last_r[j] = r[j];
        }
        T* const oldest = far_below;
        far_below = near_below, near_below = new_p, new_p = oldest;
        T* const lowest = below;
        below = old_p, old_p = above, above = lowest;
    }
}

/// A pass. All threads of the grid must call it; `shared` is as large as the
/// plan says.
template <int d, class T, class Step>
__device__ void sweep(void* shared, const Pass<T>& v, int side, const Tiling& tiling, Step& step) {
    if constexpr (d == 2 || d == 3) {
        if (tiling.cells > 0) {
            for (int item = blockIdx.x; item < tiling.stretches * tiling.slabs; item += gridDim.x)
                sweep_planes<d>(static_cast<T*>(shared), v, side, tiling, item, step);
            return;
        }
    }
    sweep_cells<d>(v, side, step);
}

/// How to launch a kernel that sweeps.
struct Plan {
    Tiling tiling = {};
    int blocks = 1, threads = sweep_block;
    std::size_t shared = 0;
};

/// The plan for a cube. A tiling of no cells means cell by cell.
template <int d, class T>
Plan plan_sweep(int side) {
    const long long sms = device_attribute(cudaDevAttrMultiProcessorCount), n = cells(d, side);
    Plan plan;
    plan.blocks = static_cast<int>(std::clamp<long long>((n + sweep_block - 1) / sweep_block, 1, sms));
    plan.threads = static_cast<int>(std::clamp<long long>((n + 31) / 32 * 32, 32, sweep_block));
    if ((d != 2 && d != 3) || n == 0 || side > 1 << 15) return plan;

    const long long plane = d == 3 ? 1LL * side * side : side, across = d == 3 ? side : 1;
    const long long room = (device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 2048) / sizeof(T);
    const long long most = std::min({sweep_block * per_thread<T> - 2 * across,
                                     sweep_block * fetched<T> - 4 * across, (room - 18 * across) / 6});
    if (most < 2 * across && most < plane) return plan;  // little but rim
    // Of all ways to cut, the one whose busiest block has the least to do.
    double least = 0;
    for (long long slabs = 1; slabs <= std::min<long long>(side, sms); ++slabs) {
        const long long planes = (side + slabs - 1) / slabs, deep = (side + planes - 1) / planes;
        for (long long wanted = 1; wanted <= 2 * sms; ++wanted) {
            const long long stretch = ((plane + wanted - 1) / wanted + 31) / 32 * 32;
            if (stretch > most) continue;
            const long long stretches = (plane + stretch - 1) / stretch;
            const double cost = static_cast<double>((stretches * deep + sms - 1) / sms) *
                                (static_cast<double>(stretch + 2 * across) + 256) *
                                static_cast<double>(planes + 3);
            if (plan.tiling.cells > 0 && cost >= least) continue;
            least = cost;
            plan.tiling = {static_cast<int>(stretch), static_cast<int>(planes), static_cast<int>(stretches),
                           static_cast<int>(deep)};
        }
    }
    if (plan.tiling.cells == 0) return plan;
    plan.blocks = static_cast<int>(std::min<long long>(sms, 1LL * plan.tiling.stretches * plan.tiling.slabs));
    const long long wanted = std::max((plan.tiling.cells + 2 * across + per_thread<T> - 1) / per_thread<T>,
                                      (plan.tiling.cells + 4 * across + fetched<T> - 1) / fetched<T>);
    plan.threads = static_cast<int>((wanted + 31) / 32 * 32);
    plan.shared = static_cast<std::size_t>(6 * plan.tiling.cells + 18 * across) * sizeof(T);
    return plan;
}

}  // namespace pcg
