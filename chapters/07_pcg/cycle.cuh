#pragma once
/// @file
/// The grids of a V-cycle, the ways between them, and passes over large cubes of three dimensions. What is
/// computed at a point, the rung says; this file brings the points together.

#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "grids.cuh"
#include "rungs/shared_memory.cuh"

namespace pcg {

/// A grid of a V-cycle.
struct Level {
    int side = 0;
    bool large = false;  ///< whether the passes below work on it
    int pitch = 0;       ///< floats from row to row: more than `side` where the passes below work
    long long at = 0;    ///< where its points begin, among those of all grids
    float scale = 0;     ///< of the restriction to the next grid
    int down_planes = 0, up_planes = 0;  ///< of the slabs in which the passes below cut it
};

/// Threads of a block. Two such blocks on a multiprocessor leave 80 registers per thread: enough
/// for all passes.
inline constexpr int pass_block = 384;
inline constexpr int pass_warps = pass_block / 32;
inline constexpr int least_side = 8;  ///< of a cube that is worth the passes below

/// What the threads of a block show each other: a value of each lane, for two rows of each warp, of two
/// planes in turn.
struct Exchange {
    float red[2][2 * pass_warps][32], black[2][2 * pass_warps][32], coarse[pass_warps][32];
};

/// The same in a pass where points have no colours: the first and the last row of each warp.
template <class T>
struct Rims {
    T first[2][pass_warps][32], last[2][pass_warps][32];
};

/// What a thread needs of a plane it asks for `ahead` planes before. It comes to shared memory while the
/// thread goes on, to a slot of its own, which is used again `slots` planes later: after a barrier.
inline constexpr int ahead = 2, slots = 4;

/// The shared memory of a way.
struct Way {
    Exchange exchange;
    float2 r[slots][2][pass_block], p[slots][2][pass_block];
    float coarse[2][4][pass_block];  ///< of the pairs of planes in turn: here, left, in front, both
};

/// A block's shared memory, the same for all passes: between two of them there is a barrier of the grid.
template <class T>
__device__ __forceinline__ T& shared_memory() {
    extern __shared__ __align__(16) unsigned char memory[];
    return *reinterpret_cast<T*>(memory);
}

/// Asks for a number; 0 where there is none.
template <class T>
__device__ __forceinline__ void ask(T& to, const T* from, bool exists) {
    __pipeline_memcpy_async(&to, from, sizeof(T), exists ? 0 : sizeof(T));
}

/// How many planes a slab should have, so that `blocks` blocks finish `tiles` x `planes` planes soonest, if
/// each slab takes `more` further planes.
inline int planes_of_slab(long long tiles, int planes, int more, int blocks) {
    long long least = 0;
    int best = 1;
    for (int each = 1; each <= planes; ++each) {
        const long long items = tiles * ((planes + each - 1) / each);
        const long long time = (items + blocks - 1) / blocks * (each + more);
        if (each == 1 || time < least) least = time, best = each;
    }
    return best;
}

/// A tile of a pass: what a thread has to do with it. A thread has a pair of points, 2t and 2t + 1, of each
/// of two rows 2u and 2u + 1, and goes through the planes of a slab. Pairs at the tile's rim belong to
/// neighbours; their threads compute them once more and keep the results to themselves.
struct Tile {
    int t, u;           ///< pair along a row, pair of rows
    int bottom, top;    ///< pairs of planes: from, to
    bool inside[2][2];  ///< row, point: whether there is such a column
    bool mine;          ///< whether the tile, and not a neighbour, has them

    /// @param item        number of the tile: along rows first, then rows, then planes
    /// @param side        points of the grid along an axis
    /// @param wide, high  pairs, and pairs of rows, that belong to a tile
    /// @param many        of them in the grid
    /// @param planes      pairs of planes that a slab has
    __device__ Tile(int item, int side, int wide, int high, int many, int planes) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int beside = (many + wide - 1) / wide, above = (many + high - 1) / high;
        t = item % beside * wide - 1 + lane;
        u = item / beside % above * high - 1 + warp;
        bottom = item / beside / above * planes;
        top = min(bottom + planes, many);
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < 2; ++i)
                inside[k][i] = u >= 0 && 2 * u + k < side && t >= 0 && 2 * t + i < side;
        }
        mine = lane >= 1 && lane <= wide && warp >= 1 && warp <= high && t < many && u < many;
    }
    static __host__ __device__ int count(int many, int wide, int high) {
        return (many + wide - 1) / wide * ((many + high - 1) / high);
    }
};

inline constexpr int down_wide = 29, down_high = pass_warps - 3;  ///< coarse points of a tile
inline constexpr int up_wide = 30, up_high = pass_warps - 2;      ///< pairs of a tile

/// What the next lane has, or the one before.
__device__ inline float from_lane(float value, bool next) {
    return next ? __shfl_down_sync(0xffffffffu, value, 1) : __shfl_up_sync(0xffffffffu, value, 1);
}

/// A thread's pairs of a vector: asks for those of a plane, and takes them when they have arrived. A plane
/// has a slot, which another has `slots` planes later.
struct Pairs {
    const float2* vector;
    float2 (*queue)[2][pass_block];
    bool wanted[2];  ///< in each row

    __device__ Pairs(const float* from, float2 (*to)[2][pass_block], const Tile& tile, bool all)
        : vector(reinterpret_cast<const float2*>(from)),
          queue(to),
          wanted{all && tile.inside[0][0], all && tile.inside[1][0]} {}
    /// @param z       number of the plane
    /// @param at      where it begins, counted in pairs
    /// @param above   from row to row
    /// @param exists  whether there is such a plane
    __device__ void ask(int z, unsigned at, int above, bool exists) const {
#pragma unroll
        for (int k = 0; k < 2; ++k)
            if (exists && wanted[k])
                __pipeline_memcpy_async(&queue[z & (slots - 1)][k][threadIdx.x], vector + (at + k * above),
                                        sizeof *vector);
    }
    /// 0 where there is none. (Padding is 0.)
    __device__ float2 take(int k, int z, bool exists) const {
        return exists && wanted[k] ? queue[z & (slots - 1)][k][threadIdx.x] : float2{0, 0};
    }
};

/// The way down from a large cube: a sweep from 0, red and then black, and the restriction of what is left.
/// Returns this thread's part of x.x, x what the sweep has made.
template <class Smoother>
__device__ __noinline__ double pass_down(Smoother smoother, const float* r, float* coarse_r, Level fine,
                                         Level coarse) {
    Way& way = shared_memory<Way>();
    Exchange& shared = way.exchange;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, side = fine.side, many = coarse.side;
    const int before = max(2 * warp - 1, 0), behind = min(2 * warp + 2, 2 * pass_warps - 1);
    const int next_warp = min(warp + 1, pass_warps - 1);
    const int above = fine.pitch / 2;
    const unsigned plane = static_cast<unsigned>(above) * side;
    const Weights weight(side);
    double squares = 0;
    const int items =
        Tile::count(many, down_wide, down_high) * ((many + fine.down_planes - 1) / fine.down_planes);
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        const Tile tile(item, side, down_wide, down_high, many, fine.down_planes);
        const float wx[2] = {weight.of_short(2 * tile.t), weight.of_short(2 * tile.t + 1)};
        const float wy[2] = {weight.of_short(2 * tile.u), weight.of_short(2 * tile.u + 1)};
        // Of fine pairs there is one more than of coarse points. The last tile has it.
        const bool counts = lane >= 1 && lane <= down_wide + (tile.t == many) && tile.t <= many &&
                            warp >= 1 && warp <= down_high + (tile.u == many) && tile.u <= many;
        const Pairs rows(r, way.r, tile, true);
        unsigned at = (2 * tile.bottom - 2) * plane + 2 * tile.u * above + tile.t;  // a plane asked for
        for (int z = 2 * tile.bottom - 2; z < 2 * tile.bottom - 2 + ahead; ++z, at += plane) {
            rows.ask(z, at, above, z >= 0 && z < side);
            __pipeline_commit();
        }
        float red[2][3] = {}, black[2][3] = {}, r_black[2] = {};  // of this plane and those below
        float own[2] = {}, other[2] = {};  // what coarse planes get: this one and the one before
        for (int k = 0; k < 2; ++k)
            shared.red[1][2 * warp + k][lane] = shared.black[0][2 * warp + k][lane] = 0;
        __syncthreads();
        float* to = coarse_r + (static_cast<long long>(tile.bottom) * many + tile.u) * coarse.pitch + tile.t;
        for (int pair = tile.bottom - 1; pair <= tile.top + 2; ++pair) {
            if (pair - 3 >= tile.bottom) {  // complete, the next warp's part of it too
                if (tile.mine) *to = fine.scale * (own[1] + shared.coarse[next_warp][lane]);
                to += static_cast<long long>(many) * coarse.pitch;
            }
            if (pair == tile.top + 2) break;
            own[1] = own[0], other[1] = other[0];
            own[0] = other[0] = 0;
            const bool adds = counts && pair > tile.bottom && (pair <= tile.top || tile.top == many);
            float sum = 0;
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int z = 2 * pair + q;
                __pipeline_wait_prior(ahead - 1);
                const bool here = z >= 0 && z < side;
                const float2 of[2] = {rows.take(0, z, here), rows.take(1, z, here)};
                rows.ask(z + ahead, at, above, z + ahead >= 0 && z + ahead < side);
                __pipeline_commit();
                at += plane;
                // Red are the points of row k at 2t + (q ^ k) in this plane; black in the one below.
                float next_black[2];
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    const float r_red = (q ^ k) ? of[k].y : of[k].x;
                    next_black[k] = (q ^ k) ? of[k].x : of[k].y;
                    red[k][2] = red[k][1], red[k][1] = red[k][0];
                    red[k][0] = smoother.relaxed(r_red, 0);
                    shared.red[q][2 * warp + k][lane] = red[k][0];
                }
                const bool below = z - 1 >= 0 && z - 1 < side;
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    black[k][2] = black[k][1], black[k][1] = black[k][0];
                    const float around = red[k][1] + from_lane(red[k][1], q ^ k) + red[1 - k][1] +
                                         shared.red[1 - q][k ? behind : before][lane] + red[k][2] + red[k][0];
                    black[k][0] =
                        below && tile.inside[k][q ^ k] ? smoother.relaxed(r_black[k], around) : 0.0f;
                    shared.black[1 - q][2 * warp + k][lane] = black[k][0];
                    r_black[k] = next_black[k];
                }
                float across[2];
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    sum += red[k][2] * red[k][2] + black[k][1] * black[k][1];
                    const float around = black[k][1] + from_lane(black[k][1], q ^ k) + black[1 - k][1] +
                                         shared.black[q][k ? behind : before][lane] + black[k][2] +
                                         black[k][0];
                    const float rest = tile.inside[k][q ^ k] ? smoother.rest_of_red(around) : 0.0f;
                    across[k] = wx[q ^ k] * rest + from_lane((1 - wx[q ^ k]) * rest, true);
                }
                const bool exists = z - 2 >= 0 && z - 2 < side;
                const float w = exists ? weight.of_short(z - 2) : 0, rest = exists ? 1 - w : 0;
                const float mine = wy[0] * across[0] + wy[1] * across[1];
                const float its = across[0] + across[1] - mine;
                own[0] += w * mine, own[1] += rest * mine;
                other[0] += w * its, other[1] += rest * its;
                if (q == 1) shared.coarse[warp][lane] = other[1];
                __syncthreads();
            }
            if (adds) squares += sum;
        }
        __pipeline_wait_prior(0);
    }
    return squares;
}

/// The way up to a large cube: the coarse grid's correction, interpolated, and a sweep, black and then red:
/// z. Leaves z + beta old, and returns this thread's part of a sum: of r.z, or, on the `finest` grid, of what
/// z.A z is less than r.z. That is z times what the last half of a sweep leaves at black points; and as A is
/// symmetric, as much as each red point's change times the sum of its neighbours.
template <bool finest, class Smoother>
__device__ __noinline__ double pass_up(Smoother smoother, const float* r, const float* coarse_x, float* x,
                                       const float* old, float beta, Level fine, Level coarse) {
    Way& way = shared_memory<Way>();
    Exchange& shared = way.exchange;
    double all = 0;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, side = fine.side, many = pairs(side);
    const int before = max(2 * warp - 1, 0), behind = min(2 * warp + 2, 2 * pass_warps - 1);
    const Weights weight(side);
    const int above = fine.pitch / 2;
    const unsigned plane = static_cast<unsigned>(above) * side;
    const long long coarse_plane = static_cast<long long>(coarse.pitch) * coarse.side;
    const int items = Tile::count(many, up_wide, up_high) * ((many + fine.up_planes - 1) / fine.up_planes);
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        const Tile tile(item, side, up_wide, up_high, many, fine.up_planes);
        const float wx[2] = {weight.of_short(2 * tile.t), weight.of_short(2 * tile.t + 1)};
        const float wy[2] = {weight.of_short(2 * tile.u), weight.of_short(2 * tile.u + 1)};
        const Pairs rows(r, way.r, tile, true), olds(old, way.p, tile, finest && tile.mine);
        const bool columns[2] = {tile.t - 1 >= 0 && tile.t - 1 < coarse.side,
                                 tile.t >= 0 && tile.t < coarse.side};
        const bool lines[2] = {tile.u - 1 >= 0 && tile.u - 1 < coarse.side,
                               tile.u >= 0 && tile.u < coarse.side};
        const int place = tile.u * coarse.pitch + tile.t;
        float correction[2][2][2];  // [this pair of planes, the one before][row][point]
        const auto ask_for_coarse = [&](int pair) {
            const bool some = pair >= 0 && pair < coarse.side;
            const float* const at = coarse_x + pair * coarse_plane + place;
            const auto to = way.coarse[pair & 1];
#pragma unroll
            for (int k = 0; k < 2; ++k) {
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    ask(to[2 * k + i][threadIdx.x], at - k * coarse.pitch - i,
                        some && columns[1 - i] && lines[1 - k]);
            }
        };
        const auto interpolate = [&](int pair) {  // along rows and columns
            const auto from = way.coarse[pair & 1];
            const float here = from[0][threadIdx.x], left = from[1][threadIdx.x];
            const float front = from[2][threadIdx.x], corner = from[3][threadIdx.x];
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const float right = front + wy[k] * (here - front), last = corner + wy[k] * (left - corner);
#pragma unroll
                for (int i = 0; i < 2; ++i) correction[0][k][i] = last + wx[i] * (right - last);
            }
        };
        float red[2][3] = {}, black[2][3] = {}, r_red[2][3] = {}, r_black[2][3] = {};
        ask_for_coarse(tile.bottom - 2);
        ask_for_coarse(tile.bottom - 1);
        // The pair in plane z - 2, the one that becomes complete.
        unsigned at = (2 * tile.bottom - 4) * plane + 2 * tile.u * above + tile.t;
        const auto ask_for = [&](int z, unsigned from) {  // what will be needed at z
            rows.ask(z, from + 2 * plane, above, z >= 0 && z < side);
            olds.ask(z - 2, from, above, z - 2 >= 2 * tile.bottom && z - 2 < side);
        };
        for (int i = 0; i < ahead; ++i) {
            ask_for(2 * tile.bottom - 2 + i, at + i * plane);
            __pipeline_commit();
        }
        __pipeline_wait_prior(ahead - 1);
        interpolate(tile.bottom - 2);
        for (int k = 0; k < 2; ++k)
            shared.red[1][2 * warp + k][lane] = shared.black[0][2 * warp + k][lane] = 0;
        __syncthreads();
        for (int pair = tile.bottom - 1; pair <= tile.top; ++pair) {
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int z = 2 * pair + q;
                __pipeline_wait_prior(ahead - 1);
                const bool here = z >= 0 && z < side, below = z - 1 >= 0 && z - 1 < side;
                const float2 of[2] = {rows.take(0, z, here), rows.take(1, z, here)};
                ask_for(z + ahead, at + ahead * plane);
                if (q == 0) {
#pragma unroll
                    for (int k = 0; k < 2; ++k)
                        correction[1][k][0] = correction[0][k][0], correction[1][k][1] = correction[0][k][1];
                    interpolate(pair);
                    ask_for_coarse(pair + 1);
                }
                __pipeline_commit();
                const float w = weight.of_short(z);
                const bool complete = pair > tile.bottom && tile.mine && z - 2 < side;  // plane z - 2
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    r_red[k][2] = r_red[k][1], r_red[k][1] = r_red[k][0];
                    r_black[k][2] = r_black[k][1], r_black[k][1] = r_black[k][0];
                    r_red[k][0] = (q ^ k) ? of[k].y : of[k].x;
                    r_black[k][0] = (q ^ k) ? of[k].x : of[k].y;
                    red[k][2] = red[k][1], red[k][1] = red[k][0];
                    const float last = correction[1][k][q ^ k];
                    const float found =
                        smoother.relaxed(r_red[k][0], 0) + last + w * (correction[0][k][q ^ k] - last);
                    red[k][0] = here && tile.inside[k][q ^ k] ? found : 0.0f;
                    shared.red[q][2 * warp + k][lane] = red[k][0];
                }
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    black[k][2] = black[k][1], black[k][1] = black[k][0];
                    const float around = red[k][1] + from_lane(red[k][1], q ^ k) + red[1 - k][1] +
                                         shared.red[1 - q][k ? behind : before][lane] + red[k][2] + red[k][0];
                    black[k][0] =
                        below && tile.inside[k][q ^ k] ? smoother.relaxed(r_black[k][1], around) : 0.0f;
                    shared.black[1 - q][2 * warp + k][lane] = black[k][0];
                }
                float sum = 0;
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    const float around = black[k][1] + from_lane(black[k][1], q ^ k) + black[1 - k][1] +
                                         shared.black[q][k ? behind : before][lane] + black[k][2] +
                                         black[k][0];
                    const float last = tile.inside[k][q ^ k] ? smoother.relaxed(r_red[k][2], around) : 0.0f;
                    float2 both = (q ^ k) ? make_float2(black[k][1], last) : make_float2(last, black[k][1]);
                    if (finest) {
                        sum += (last - red[k][2]) * around -
                               smoother.excess * (last * last + black[k][1] * black[k][1]);
                        const float2 before_this = olds.take(k, z - 2, complete);
                        both.x += beta * before_this.x, both.y += beta * before_this.y;
                    } else {
                        sum += r_red[k][2] * last + r_black[k][2] * black[k][1];
                    }
                    if (complete && tile.inside[k][0]) reinterpret_cast<float2*>(x)[at + k * above] = both;
                }
                if (complete) all += sum;
                at += plane;
                __syncthreads();
            }
        }
        __pipeline_wait_prior(0);
    }
    return all;
}

inline constexpr int pass_rows = 2, pass_high = pass_rows * pass_warps - 2;  ///< rows of a thread, of a tile

/// The shared memory of residual_pass: of two planes in turn.
struct Residual {
    Rims<Pack<float>> rims;
    Pack<float> p[2][pass_rows][pass_block], r[2][pass_rows][pass_block];
    float edge[2][pass_rows][pass_block];
};

/// How many packs of a row a tile of residual_pass has: all tiles about as many.
__host__ __device__ inline int residual_wide(int side) {
    const int packs = (side + 3) / 4, beside = (packs + 31) / 32;
    return (packs + beside - 1) / beside;
}
__host__ __device__ inline int residual_tiles(int side) {
    const int wide = 4 * residual_wide(side);
    return (side + wide - 1) / wide * ((side + pass_high - 1) / pass_high);
}

/// r -= alpha A p for a large cube, in float. Returns this thread's part of r.r. A thread goes through the
/// planes of a slab, with a pack of each of a few rows; a tile's first and last row are its neighbours', too.
/// Where p is smooth, its differences are rounded far less than p is: so A p is a sum of differences.
static __device__ __noinline__ double residual_pass(const float* p, float* r, float alpha, Level level,
                                                    int planes) {
    constexpr int rows = pass_rows;
    Residual& shared = shared_memory<Residual>();
    const int me = threadIdx.x, lane = me % 32, warp = me / 32, side = level.side, pitch = level.pitch / 4;
    const int before = max(warp - 1, 0), behind = min(warp + 1, pass_warps - 1);
    const int wide = residual_wide(side), beside = (side + 4 * wide - 1) / (4 * wide);
    const int tiles = residual_tiles(side), items = tiles * ((side + planes - 1) / planes);
    const unsigned plane = static_cast<unsigned>(side) * pitch;
    const auto* const packs_of_p = reinterpret_cast<const Pack<float>*>(p);
    auto* const packs_of_r = reinterpret_cast<Pack<float>*>(r);
    double sum = 0;
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        const int x = item % beside * wide + lane, live = side - 4 * x;
        const int row = rows * warp, y = item % tiles / beside * pass_high - 1 + row;
        const int bottom = item / tiles * planes, top = min(bottom + planes, side);
        const std::size_t blank = live < 4 ? (4 - live) * sizeof(float) : 0;  // where p has no points
        // The first lane and the last have a neighbour that no lane has.
        const int edge = lane == 0 ? -1 : 4;
        const bool ends = (lane == 0 || lane == wide - 1) && 4 * x + edge >= 0 && edge < live;
        bool inside[rows], mine[rows];
#pragma unroll
        for (int k = 0; k < rows; ++k) {
            inside[k] = lane < wide && live > 0 && y + k >= 0 && y + k < side;
            mine[k] = inside[k] && row + k >= 1 && row + k <= pass_high;
        }
        unsigned at = (bottom - 2) * plane + y * pitch + x;  // of the first row in plane z, in packs
        const auto ask_for_p = [&](int z, unsigned from) {
            if (z < 0 || z >= side) return;
#pragma unroll
            for (int k = 0; k < rows; ++k) {
                const Pack<float>* const one = packs_of_p + (from + k * pitch);
                if (inside[k]) __pipeline_memcpy_async(&shared.p[z & 1][k][me], one, sizeof *one, blank);
                if (mine[k] && ends)
                    __pipeline_memcpy_async(&shared.edge[z & 1][k][me], one->of + edge, sizeof(float));
            }
        };
        Pack<float> below[rows] = {}, here[rows] = {};
        float beyond[rows] = {};  // the edge's
        ask_for_p(bottom - 1, at + plane);
        __pipeline_commit();
        for (int z = bottom - 2; z < top; ++z, at += plane) {
            const int now = z & 1, next = 1 - now;
            const bool some = z + 1 >= 0 && z + 1 < side;
            Pack<float> above[rows];
            __pipeline_wait_prior(0);
#pragma unroll
            for (int k = 0; k < rows; ++k)
                above[k] = some && inside[k] ? shared.p[next][k][me] : Pack<float>{};
            shared.rims.first[now][warp][lane] = above[0];
            shared.rims.last[now][warp][lane] = above[rows - 1];
            if (z + 1 < top) {
                ask_for_p(z + 2, at + 2 * plane);
#pragma unroll
                for (int k = 0; k < rows; ++k)
                    if (mine[k] && z + 1 >= bottom)
                        __pipeline_memcpy_async(&shared.r[next][k][me], packs_of_r + (at + plane + k * pitch),
                                                sizeof(Pack<float>));
            }
            __pipeline_commit();
            if (z >= bottom) {
                const Pack<float> front = shared.rims.last[next][before][lane];
                const Pack<float> back = shared.rims.first[next][behind][lane];
                float squares = 0;
#pragma unroll
                for (int k = 0; k < rows; ++k) {
                    const float last = __shfl_up_sync(0xffffffffu, here[k].of[3], 1);
                    const float first = __shfl_down_sync(0xffffffffu, here[k].of[0], 1);
                    const float left = lane == 0 ? beyond[k] : last,
                                right = lane == wide - 1 ? beyond[k] : first;
                    const Pack<float>& south = k > 0 ? here[k > 0 ? k - 1 : 0] : front;
                    const Pack<float>& north = k + 1 < rows ? here[k + 1 < rows ? k + 1 : 0] : back;
                    if (!mine[k]) continue;
                    Pack<float> new_r = shared.r[now][k][me];
#pragma unroll
                    for (int c = 0; c < 4; ++c) {
                        const float mid = here[k].of[c];
                        const float Ap = ((mid - below[k].of[c]) + (mid - above[k].of[c])) +
                                         ((mid - south.of[c]) + (mid - north.of[c])) +
                                         ((mid - (c > 0 ? here[k].of[c > 0 ? c - 1 : 0] : left)) +
                                          (mid - (c < 3 ? here[k].of[c < 3 ? c + 1 : 3] : right)));
                        if (c < live) new_r.of[c] -= alpha * Ap;  // padding stays 0
                        squares += new_r.of[c] * new_r.of[c];
                    }
                    packs_of_r[at + k * pitch] = new_r;
                }
                sum += squares;
            }
#pragma unroll
            for (int k = 0; k < rows; ++k) {
                below[k] = here[k], here[k] = above[k];
                beyond[k] = some && ends ? shared.edge[next][k][me] : 0;
            }
            __syncthreads();
        }
    }
    return sum;
}

/// The last directions, the newest first, and how far x has to go along each of them.
struct Directions {
    static constexpr int most = 5;
    int count = 0;
    const float* p[most];
    double alpha[most];

    __device__ void add(const float* new_p, double new_alpha) {
#pragma unroll
        for (int j = most - 1; j > 0; --j) p[j] = p[j - 1], alpha[j] = alpha[j - 1];
        p[0] = new_p, alpha[0] = new_alpha;
        ++count;
    }
};

/// The shared memory of step_pass: of two planes in turn.
struct Step {
    Rims<double> rims;
    double x[2][pass_rows][pass_block], b[2][pass_rows][pass_block];
    float p[Directions::most][2][pass_rows][pass_block];
};

inline constexpr int step_wide = 30;  ///< points of a row of a tile
__host__ __device__ inline int step_tiles(int side) {
    return (side + step_wide - 1) / step_wide * ((side + pass_high - 1) / pass_high);
}

/// new_x = x + all alpha p for a large cube, and r = b - A new_x. x may be null, for 0. Returns this thread's
/// part of r.r, and leaves `scale` times r in float. A lane has a point of each of a few rows, as rows of x
/// need not begin with a pack; the first and the last lane's are a neighbour's, too.
static __device__ __noinline__ double step_pass(const double* b, const double* x, double* new_x,
                                                Directions along, float* scaled_r, double scale, Level level,
                                                int planes) {
    constexpr int rows = pass_rows;
    Step& shared = shared_memory<Step>();
    const int me = threadIdx.x, lane = me % 32, warp = me / 32, side = level.side, pitch = level.pitch;
    const int before = max(warp - 1, 0), behind = min(warp + 1, pass_warps - 1);
    const int beside = (side + step_wide - 1) / step_wide;
    const int tiles = step_tiles(side), items = tiles * ((side + planes - 1) / planes);
    const unsigned plane = static_cast<unsigned>(side) * side,
                   padded_plane = static_cast<unsigned>(side) * pitch;
    double sum = 0;
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        const int column = item % beside * step_wide - 1 + lane;
        const int row = rows * warp, y = item % tiles / beside * pass_high - 1 + row;
        const int bottom = item / tiles * planes, top = min(bottom + planes, side);
        bool inside[rows], mine[rows];
#pragma unroll
        for (int k = 0; k < rows; ++k) {
            inside[k] = column >= 0 && column < side && y + k >= 0 && y + k < side;
            mine[k] = inside[k] && lane >= 1 && lane <= step_wide && row + k >= 1 && row + k <= pass_high;
        }
        // Of the first row in plane z: in x and b, and where rows are padded.
        unsigned at = (bottom - 2) * plane + y * side + column;
        unsigned padded = (bottom - 2) * padded_plane + y * pitch + column;
        const auto ask_for_x = [&](int z, int up) {
            if (z < 0 || z >= side) return;
#pragma unroll
            for (int k = 0; k < rows; ++k) {
                if (!inside[k]) continue;
                if (x)
                    __pipeline_memcpy_async(&shared.x[z & 1][k][me], x + (at + up * plane + k * side),
                                            sizeof *x);
#pragma unroll
                for (int j = 0; j < Directions::most; ++j)
                    if (j < along.count)
                        __pipeline_memcpy_async(&shared.p[j][z & 1][k][me],
                                                along.p[j] + (padded + up * padded_plane + k * pitch),
                                                sizeof(float));
            }
        };
        double below[rows] = {}, here[rows] = {};
        ask_for_x(bottom - 1, 1);
        __pipeline_commit();
        for (int z = bottom - 2; z < top; ++z, at += plane, padded += padded_plane) {
            const int now = z & 1, next = 1 - now;
            const bool some = z + 1 >= 0 && z + 1 < side;
            double above[rows];
            __pipeline_wait_prior(0);
#pragma unroll
            for (int k = 0; k < rows; ++k) {
                above[k] = 0;
                if (!some || !inside[k]) continue;
                if (x) above[k] = shared.x[next][k][me];
#pragma unroll
                for (int j = 0; j < Directions::most; ++j)
                    if (j < along.count) above[k] += along.alpha[j] * shared.p[j][next][k][me];
            }
            shared.rims.first[now][warp][lane] = above[0];
            shared.rims.last[now][warp][lane] = above[rows - 1];
            if (z + 1 < top) {
                ask_for_x(z + 2, 2);
#pragma unroll
                for (int k = 0; k < rows; ++k)
                    if (mine[k] && z + 1 >= bottom)
                        __pipeline_memcpy_async(&shared.b[next][k][me], b + (at + plane + k * side),
                                                sizeof *b);
            }
            __pipeline_commit();
            if (z >= bottom) {
                const double front = shared.rims.last[next][before][lane];
                const double back = shared.rims.first[next][behind][lane];
#pragma unroll
                for (int k = 0; k < rows; ++k) {
                    const double mid = here[k];
                    const double around =
                        (below[k] + above[k]) +
                        ((k > 0 ? here[k > 0 ? k - 1 : 0] : front) +
                         (k + 1 < rows ? here[k + 1 < rows ? k + 1 : 0] : back)) +
                        (__shfl_up_sync(0xffffffffu, mid, 1) + __shfl_down_sync(0xffffffffu, mid, 1));
                    if (!mine[k]) continue;
                    const double rest = shared.b[now][k][me] - (6 * mid - around);
                    new_x[at + k * side] = mid;
                    scaled_r[padded + k * pitch] = static_cast<float>(rest * scale);
                    sum += rest * rest;
                }
            }
#pragma unroll
            for (int k = 0; k < rows; ++k) below[k] = here[k], here[k] = above[k];
            __syncthreads();
        }
    }
    return sum;
}

/// Dynamic shared memory of a block of a kernel with these passes. 0 where they cannot be used: in other
/// dimensions, or on a device that has not as much.
inline std::size_t pass_shared(int d) {
    constexpr std::size_t most = std::max({sizeof(Way), sizeof(Residual), sizeof(Step)}), beside = 4096;
    const auto there = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    return d == 3 && there >= most + beside ? most : 0;
}

/// As cooperative_blocks, for a kernel with these passes.
template <class Kernel>
int pass_blocks(Kernel kernel, int d, long long n) {
    rungs::allow_shared_memory(kernel, pass_shared(d));
    int each = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, pass_block, pass_shared(d)));
    const long long fit = 1LL * each * device_attribute(cudaDevAttrMultiProcessorCount);
    return static_cast<int>(std::clamp<long long>((n + pass_block - 1) / pass_block, 1, fit));
}

inline constexpr int most_smallest = 7;  ///< points a side of a grid that sweeps alone can solve

/// The grids of a V-cycle, the finest first. The last has no more points than a block has threads.
struct Grids {
    static constexpr int most = 32;
    int count = 0;
    Level level[most];
    int residual_planes = 1, step_planes = 1;
    long long floats = 0;  ///< of the points of all grids

    Grids(int d, int finest, int blocks) {
        if (finest == 0) return;
        const bool passes = pass_shared(d) > 0;
        for (int side = finest;; side = coarse_side(side)) {
            Level& now = level[count++];
            now.side = side;
            now.large = passes && side >= least_side;
            now.pitch = now.large ? (side + 7) / 8 * 8 : side;
            now.at = floats;
            now.scale = restriction_scale(d, side);
            if (now.large) {
                const int coarse = coarse_side(side), many = pairs(side);
                now.down_planes =
                    planes_of_slab(Tile::count(coarse, down_wide, down_high), coarse, 3, blocks);
                now.up_planes = planes_of_slab(Tile::count(many, up_wide, up_high), many, 2, blocks);
            }
            long long points = now.pitch;
            for (int k = 1; k < d; ++k) points *= side;
            floats += (points + 7) / 8 * 8;
            if (side <= 2 || (side <= most_smallest && pcg::points(d, side) <= pass_block)) break;
        }
        if (d != 3) return;
        residual_planes = planes_of_slab(residual_tiles(finest), finest, 2, blocks);
        step_planes = planes_of_slab(step_tiles(finest), finest, 2, blocks);
    }
};

}  // namespace pcg
