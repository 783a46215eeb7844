#pragma once
/// @file
/// An iteration of conjugate gradients in one pass over memory. What is computed at a point, the rung says;
/// this file brings the points together.
///
/// The new direction p' = r' + beta p, with r' = r - alpha A p, is needed at a point and at its neighbours,
/// because the pass also wants A p'. And A p is nowhere stored. So it is computed, and for the neighbours
/// computed again: from p within two steps of the point, and r within one.

#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "solver.cuh"

namespace pcg {

/// Vectors of 2 and 3 dimensions are swept with every row in whole packs: so long is a row then, of which the
/// last few numbers are 0 and belong to no point. Others are as the contract has them.
template <int d, class T>
__host__ __device__ constexpr long long row_length(int side) {
    constexpr int size = d == 2 || d == 3 ? Pack<T>::size : 1;
    return (side + size - 1LL) / size * size;
}

/// Numbers in such a vector.
template <int d, class T>
__host__ __device__ constexpr long long swept_length(int side) {
    return side > 0 ? points(d, side) / side * row_length<d, T>(side) : 0;
}

/// The place of point i in it.
template <int d, class T>
__device__ long long swept_place(long long i, int side) {
    const long long gap = row_length<d, T>(side) - side;
    return gap == 0 ? i : i + i / side * gap;
}

/// What a pass reads and writes. Old and new are different memory: a block still reads what
/// another has replaced.
template <class T>
struct Pass {
    T *r, *p, *new_r, *new_p, *x;
};

inline constexpr int sweep_block = 512;  ///< threads of a block, at most; one block a multiprocessor

/// Rows of a plane that a thread has, one above the other.
template <int d>
inline constexpr int rows_each = d == 3 ? 2 : 1;

/// How a cube of 2 or 3 dimensions is cut. A plane is what the last coordinate leaves: all points that have
/// it in common. Of 2 dimensions it is one row. An item is a box of `packs` x `rows` x `planes`.
struct Tiling {
    int packs, rows, planes;
    int columns, strips, slabs;  ///< items along the three coordinates

    __host__ __device__ int items() const { return columns * strips * slabs; }
    /// Packs left and right of a row that belong to other items.
    __host__ __device__ int rim() const { return columns > 1 ? 1 : 0; }
};

/// What the steps of conjugate gradients have in common: how x is moved, and what is summed up.
template <class T>
struct StepOfCg {
    T alpha = 0, beta = 0;       ///< x moved by alpha p; beta of the direction to come
    T along_p = 0, along_r = 0;  ///< how x is brought up to date, if it is
    Sums<4> sums;                ///< r.r, p.w, r.w, w.w

    __device__ bool moves_x() const { return along_p != 0; }
    __device__ void move(T& x, T r, T p) const { x += along_p * p + along_r * r; }
    template <int n>
    __device__ void add(const T (&r)[n], const T (&p)[n], const T (&w)[n]) {
#pragma unroll
        for (int c = 0; c < n; ++c) {
            const double own_r = r[c], own_p = p[c], own_w = w[c];
            sums.of[0] += own_r * own_r;
            sums.of[1] += own_p * own_w;
            sums.of[2] += own_r * own_w;
            sums.of[3] += own_w * own_w;
        }
    }
};

/// A pass as a rung says it: `step` has
/// - T residual(T r, T w): the new r at a point where A p is w,
/// - T direction(T r, T p): the new p, where the new r is r and the old p is p,
/// - bool moves_x(); void move(T& x, T r, T p): x at a point, from the old r and p,
/// - `template <int n> void add(const T (&r)[n], const T (&p)[n], const T (&w)[n])`: takes note of the new r
///   and p at n points, and of w = A p.
/// A thread owns every so many-th point of the cube, and works out its neighbours' new p once more.
template <int d, class T, class Step>
__device__ void sweep_points(const Pass<T>& v, int side, Step& step) {
    const long long n = points(d, side), threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n; i += threads) {
        const Point<d> point(i, side);
        const auto new_r = [&](const Point<d>& at) {
            return step.residual(v.r[at.index], laplace_at(v.p, at, side));
        };
        const auto new_p = [&](const Point<d>& at) { return step.direction(new_r(at), v.p[at.index]); };
        const T r[1] = {new_r(point)}, p[1] = {step.direction(r[0], v.p[i])};
        const T w[1] = {laplace_at(point, side, p[0], new_p)};
        step.add(r, p, w);
        v.new_r[i] = r[0];
        v.new_p[i] = p[0];
        if (step.moves_x()) step.move(v.x[i], v.r[i], v.p[i]);
    }
}

/// The same for 2 and 3 dimensions. A block owns an item and walks through its planes; a thread owns a pack
/// of each of a few rows, those of the rim, one around the item, included. Shared memory has old p of three
/// planes and of two more that are on their way, new p of two, and r and x on their way: nothing is worked
/// out twice but at the rim, and what comes from memory is asked for two planes before it is needed.
template <int d, class T, class Step>
__device__ void sweep_planes(Pack<T>* shared, const Pass<T>& v, int side, const Tiling& tiling, int item,
                             Step& step) {
    constexpr int size = Pack<T>::size, each = rows_each<d>;
    constexpr int rim = d == 3 ? 1 : 0;  // rows below and above an item's that belong to others
    const int thread = threadIdx.x, lane = thread % 32;
    const int height = d == 3 ? side : 1, length = (side + size - 1) / size, plane = height * length;
    const int left = item % tiling.columns * tiling.packs - tiling.rim();
    const int low = item / tiling.columns % tiling.strips * tiling.rows - rim;
    const int bottom = item / (tiling.columns * tiling.strips) * tiling.planes;
    const int top = min(bottom + tiling.planes, side);

    // A plane of new p in shared memory has rim + rows + rim rows, of old p two more, since it is needed one
    // step further out.
    const int width = tiling.packs + 2 * tiling.rim();
    const int new_rows = tiling.rows + 2 * rim, old_rows = new_rows + 2 * rim;
    const int new_size = new_rows * width, old_size = old_rows * width;

    // This thread's packs: one of each of the rows row ... row + each - 1.
    const bool active = thread < new_rows / each * width;
    const int column = thread % width, row = active ? thread / width * each : 0;
    const int gx = left + column, gy = low + row;
    const int here = row * width + column;  // in a plane of new p; of old p, rim * width further
    const int live = min(size, side - gx * size);
    unsigned inside = 0, mine = 0;  // a bit for each row: is it in the cube, in the item
#pragma unroll
    for (int j = 0; j < each; ++j) {
        if (active && gx >= 0 && gx < length && gy + j >= 0 && gy + j < height) inside |= 1u << j;
        if (column >= tiling.rim() && column < tiling.rim() + tiling.packs && row + j >= rim &&
            row + j < rim + tiling.rows)
            mine |= inside & 1u << j;
    }
    const auto has = [](unsigned bits, int j) { return (bits >> j & 1) != 0; };
    // Old p has two rows that no thread owns. The first threads bring the lower, the next ones the upper.
    const int far_column = thread < width ? thread : thread - width;
    const int far_row = thread < width ? 0 : old_rows - 1;
    const int far_x = left + far_column, far_y = low - rim + far_row;
    const bool brings = thread < 2 * rim * width;
    const bool far_inside = brings && far_x >= 0 && far_x < length && far_y >= 0 && far_y < height;
    const int far_here = far_row * width + far_column;

    // Places in memory, in packs: of this thread's in plane 0, and of what it brings.
    const unsigned at = gy * length + gx, far_at = far_y * length + far_x;
    const auto pack = [](const T* vector, unsigned i) {
        return reinterpret_cast<const Pack<T>*>(vector) + i;
    };
    const auto place = [](T* vector, unsigned i) { return reinterpret_cast<Pack<T>*>(vector) + i; };
    // Asks for old p of plane z. Outside of the cube it is 0, as all shared memory is at first.
    const auto fetch_p = [&](Pack<T>* to, int z) {
        if (z >= 0 && z < side) {
            const unsigned from = static_cast<unsigned>(z) * plane;
#pragma unroll
            for (int j = 0; j < each; ++j) {
                if (has(inside, j))
                    __pipeline_memcpy_async(to + (rim + j) * width + here, pack(v.p, from + at + j * length),
                                            sizeof(Pack<T>));
            }
            if (far_inside) __pipeline_memcpy_async(to + far_here, pack(v.p, from + far_at), sizeof(Pack<T>));
        } else {
#pragma unroll
            for (int j = 0; j < each; ++j)
                if (active) to[(rim + j) * width + here] = Pack<T>{};
            if (brings) to[far_here] = Pack<T>{};
        }
    };
    // The same of r, and of x, which only its own thread reads.
    const auto fetch_r = [&](Pack<T>* to_r, Pack<T>* to_x, int z) {
        const bool exists = z >= 0 && z < side, moves = step.moves_x() && z >= bottom && z < top;
        const unsigned from = static_cast<unsigned>(z) * plane + at;
#pragma unroll
        for (int j = 0; j < each; ++j) {
            if (has(inside, j) && exists)
                __pipeline_memcpy_async(to_r + j * width + here, pack(v.r, from + j * length),
                                        sizeof(Pack<T>));
            if (active && !exists) to_r[j * width + here] = Pack<T>{};
            if (has(mine, j) && moves)
                __pipeline_memcpy_async(to_x + j * width + here, pack(v.x, from + j * length),
                                        sizeof(Pack<T>));
        }
    };

    // A u at a pack, from u there and around it. Left and right neighbours are those of the lanes beside,
    // except at a warp's ends, which read them from the row in shared memory.
    const bool starts = column == 0, ends = column == width - 1;
    const int edge = lane == 0 && !starts ? here * size - 1 : lane == 31 && !ends ? (here + 1) * size : 0;
    const auto laplace = [&](const Pack<T>* rows, const Pack<T>& centre, const Pack<T>& under,
                             const Pack<T>& over, const Pack<T>& south, const Pack<T>& north) {
        const T beyond = reinterpret_cast<const T*>(rows)[edge];
        const T shown_before = __shfl_up_sync(0xffffffffu, centre.of[size - 1], 1);
        const T shown_after = __shfl_down_sync(0xffffffffu, centre.of[0], 1);
        const T before = starts ? T(0) : lane == 0 ? beyond : shown_before;
        const T after = ends ? T(0) : lane == 31 ? beyond : shown_after;
        Pack<T> w;
#pragma unroll
        for (int c = 0; c < size; ++c) {
            T around = (under.of[c] + over.of[c]) +
                       ((c > 0 ? centre.of[c - 1] : before) + (c + 1 < size ? centre.of[c + 1] : after));
            if (rim > 0) around += south.of[c] + north.of[c];
            w.of[c] = T(2 * d) * centre.of[c] - around;
        }
        if (side % size != 0) {
#pragma unroll
            for (int c = 0; c < size; ++c) w.of[c] = c < live ? w.of[c] : T(0);
        }
        return w;
    };

    __syncthreads();  // the item before may still be read
    for (int i = thread; i < 5 * old_size + 8 * new_size; i += blockDim.x) shared[i] = Pack<T>{};
    __syncthreads();
    // Where a plane's old p is: of z - 1, z, z + 1, and of two that are on their way. They change places.
    Pack<T>*under = shared, *old_p = under + old_size, *over = old_p + old_size, *next = over + old_size,
    *last = next + old_size;
    Pack<T>*near_p = last + old_size, *new_p = near_p + new_size;  // new p of z - 1 and of z
    Pack<T>*old_r = new_p + new_size, *next_r = old_r + new_size, *last_r = next_r + new_size;
    Pack<T>*old_x = last_r + new_size, *next_x = old_x + new_size, *last_x = next_x + new_size;
    fetch_p(under, bottom - 2);
    fetch_p(old_p, bottom - 1);
    fetch_p(over, bottom);
    fetch_r(old_r, old_x, bottom - 1);
    __pipeline_commit();
    fetch_p(next, bottom + 1);
    fetch_r(next_r, next_x, bottom);
    __pipeline_commit();
    Pack<T> p_below[each] = {}, p_near[each] = {},
            r_near[each] = {};                  // new p of z - 2 and z - 1, new r of z - 1
    const int south_at = row > 0 ? -width : 0;  // the rim has no row beyond it, and needs no A p
    const int north_at = row + each < new_rows ? each * width : (each - 1) * width;
    for (int z = bottom - 1; z <= top; ++z) {
        __pipeline_wait_prior(1);  // all but what was asked for last
        __syncthreads();
        if (z + 2 <= top) {
            fetch_p(last, z + 3);
            fetch_r(last_r, last_x, z + 2);
        }
        __pipeline_commit();

        // New r and p of plane z. A p is taken to be 0 where there is no point; so they stay 0.
        const unsigned exist = z >= 0 && z < side ? inside : 0, kept = z >= bottom && z < top ? mine : 0;
        const unsigned to = static_cast<unsigned>(z) * plane + at;
        Pack<T> r[each], p[each];
        const Pack<T>* const rows = old_p + rim * width;
        Pack<T> south = rim > 0 ? rows[here - width] : Pack<T>{}, centre = rows[here];
#pragma unroll
        for (int j = 0; j < each; ++j) {
            const int up = j * width, mid = here + rim * width + up;
            const Pack<T> north = rim > 0 ? rows[here + up + width] : Pack<T>{};
            const Pack<T> w = laplace(rows + up, centre, under[mid], over[mid], south, north);
            const Pack<T> before = old_r[here + up];
            const bool is = has(exist, j);
#pragma unroll
            for (int c = 0; c < size; ++c) {
                r[j].of[c] = step.residual(before.of[c], is ? w.of[c] : T(0));
                p[j].of[c] = step.direction(r[j].of[c], centre.of[c]);
            }
            if (has(kept, j)) {
                *place(v.new_r, to + j * length) = r[j];
                *place(v.new_p, to + j * length) = p[j];
                if (step.moves_x()) {
                    Pack<T> x = old_x[here + up];
#pragma unroll
                    for (int c = 0; c < size; ++c) step.move(x.of[c], before.of[c], centre.of[c]);
                    *place(v.x, to + j * length) = x;
                }
            }
            if (active) new_p[here + up] = p[j];
            south = centre, centre = north;
        }

        // A p of plane z - 1: its neighbours above have just been found, those beside it before the barrier.
        if (z > bottom) {
#pragma unroll
            for (int j = 0; j < each; ++j) {
                const Pack<T> w = laplace(near_p + j * width, p_near[j], p_below[j], p[j],
                                          j > 0     ? p_near[j > 0 ? j - 1 : 0]
                                          : rim > 0 ? near_p[here + south_at]
                                                    : Pack<T>{},
                                          j + 1 < each ? p_near[j + 1 < each ? j + 1 : 0]
                                          : rim > 0    ? near_p[here + north_at]
                                                       : Pack<T>{});
                if (has(mine, j)) step.add(r_near[j].of, p_near[j].of, w.of);
            }
        }
#pragma unroll
        for (int j = 0; j < each; ++j) p_below[j] = p_near[j], p_near[j] = p[j], r_near[j] = r[j];
        Pack<T>* free = under;
        under = old_p, old_p = over, over = next, next = last, last = free;
        free = near_p, near_p = new_p, new_p = free;
        free = old_r, old_r = next_r, next_r = last_r, last_r = free;
        free = old_x, old_x = next_x, next_x = last_x, last_x = free;
    }
}

/// A pass. All threads of the grid must call it; `shared` is as large as the plan says.
template <int d, class T, class Step>
__device__ void sweep(void* shared, const Pass<T>& v, int side, const Tiling& tiling, Step& step) {
    if constexpr (d == 2 || d == 3) {
        for (int item = blockIdx.x; item < tiling.items(); item += gridDim.x)
            sweep_planes<d>(static_cast<Pack<T>*>(shared), v, side, tiling, item, step);
    } else {
        sweep_points<d>(v, side, step);
    }
}

/// How to launch a kernel that sweeps.
struct Plan {
    Tiling tiling = {};
    int blocks = 1, threads = sweep_block;
    std::size_t shared = 0;
};

/// The plan for a cube.
template <int d, class T>
Plan plan_sweep(int side) {
    const long long sms = device_attribute(cudaDevAttrMultiProcessorCount), n = points(d, side);
    Plan plan;
    plan.blocks = static_cast<int>(std::clamp<long long>((n + sweep_block - 1) / sweep_block, 1, sms));
    plan.threads = static_cast<int>(std::clamp<long long>((n + 31) / 32 * 32, 32, sweep_block));
    if ((d != 2 && d != 3) || n == 0) return plan;

    constexpr int each = rows_each<d>, rim = d == 3 ? 1 : 0;
    const int height = d == 3 ? side : 1, length = static_cast<int>(row_length<d, T>(side)) / Pack<T>::size;
    // Less 2 KiB: the sums that a kernel declares itself take more than one.
    const long long room =
        (device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 2048) / sizeof(Pack<T>);
    // Of all ways to cut, the one whose busiest block has the least to move. A barrier counts as
    // so many packs.
    constexpr int barrier = 400;
    double least = 0;
    const int fewest = (length + 127) / 128;
    for (int wanted = fewest; wanted < fewest + 8 || least == 0; ++wanted) {
        const int packs = (length + wanted - 1) / wanted, columns = (length + packs - 1) / packs;
        const int width = packs + (columns > 1 ? 2 : 0);
        // Where rows are cut, a piece of one need not begin and end with a line of 128 bytes, or even with a
        // sector of 32. The extra cost, in packs, was fitted to measurements in float. Double gained
        // nothing by it.
        const bool lines = sizeof(T) > 4 || columns == 1 || (length % 8 == 0 && packs % 2 == 0);
        const int extra = lines ? 0 : length % 2 == 0 && packs % 2 == 0 ? 1 : 4;
        for (int owned = rim > 0 ? each : 1; owned < height + 2 * rim + each; owned += each) {
            const int rows = owned - 2 * rim;
            const long long shared = 1LL * (13 * rows + 36 * rim) * width;
            const int threads = std::max(owned / each, 2 * rim) * width;
            if (rows < 1) continue;
            if (threads > sweep_block || shared > room) break;
            const int strips = (height + rows - 1) / rows;
            for (int turns = 1; turns <= 6; ++turns) {
                const long long most = std::clamp<long long>(turns * sms / (1LL * columns * strips), 1, side);
                const long long planes = (side + most - 1) / most, slabs = (side + planes - 1) / planes;
                const double cost =
                    static_cast<double>((columns * strips * slabs + sms - 1) / sms) *
                    static_cast<double>(planes + 3) *
                    ((width + extra) * (2 * rows + 6 * rim) + 3 * (packs + extra) * rows + barrier);
                if (least > 0 && cost >= least) continue;
                least = cost;
                plan.tiling = {packs,   rows,   static_cast<int>(planes),
                               columns, strips, static_cast<int>(slabs)};
                plan.threads = (threads + 31) / 32 * 32;
                plan.shared = static_cast<std::size_t>(shared) * sizeof(Pack<T>);
            }
        }
    }
    plan.blocks = static_cast<int>(std::min<long long>(sms, plan.tiling.items()));
    return plan;
}

}  // namespace pcg
