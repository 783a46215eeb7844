#pragma once
/// @file
/// The grids of a V-cycle, the ways between them, and passes over large cubes of three dimensions. What is
/// computed at a point, the rung says; this file brings the points together.

#include <algorithm>

#include "grids.cuh"

namespace pcg {

/// A grid of a V-cycle.
struct Level {
    int side = 0;
    int pitch = 0;     ///< floats from row to row: more than `side` where the passes below work
    long long at = 0;  ///< where its points begin, among those of all grids
    float scale = 0;   ///< of the restriction to the next grid
    int down_planes = 0, up_planes = 0;  ///< of the slabs in which the passes below cut it
};

/// Threads of a block. Two such blocks on a multiprocessor leave 80 registers a thread: enough
/// for all passes.
inline constexpr int pass_block = 384;
inline constexpr int pass_warps = pass_block / 32;
inline constexpr int least_side = 12;  ///< of a cube that is worth the passes below

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

__device__ __forceinline__ unsigned char* shared_bytes() {
    __shared__ alignas(16) unsigned char memory[sizeof(Exchange)];
    static_assert(sizeof(Rims<double>) <= sizeof(Exchange), "");
    return memory;
}

/// A block's shared memory, the same for all passes: between two of them there is a barrier of the grid.
template <class T>
__device__ __forceinline__ T& shared_memory() {
    return *reinterpret_cast<T*>(shared_bytes());
}

/// How many planes a slab should have, so that `blocks` blocks finish `tiles` x `planes` planes soonest, if
/// each slab takes `more` planes besides.
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
    __device__ Tile(long long item, int side, int wide, int high, int many, int planes) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int beside = (many + wide - 1) / wide, above = (many + high - 1) / high;
        t = static_cast<int>(item % beside) * wide - 1 + lane;
        u = static_cast<int>(item / beside % above) * high - 1 + warp;
        bottom = static_cast<int>(item / beside / above) * planes;
        top = min(bottom + planes, many);
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < 2; ++i)
                inside[k][i] = u >= 0 && 2 * u + k < side && t >= 0 && 2 * t + i < side;
        }
        mine = lane >= 1 && lane <= wide && warp >= 1 && warp <= high && t < many && u < many;
    }
    static __host__ __device__ long long count(int many, int wide, int high) {
        return static_cast<long long>((many + wide - 1) / wide) * ((many + high - 1) / high);
    }
};

inline constexpr int down_wide = 29, down_high = pass_warps - 3;  ///< coarse points of a tile
inline constexpr int up_wide = 30, up_high = pass_warps - 2;      ///< pairs of a tile

/// What the next lane has, or the one before.
__device__ inline float from_lane(float value, bool next) {
    return next ? __shfl_down_sync(0xffffffffu, value, 1) : __shfl_up_sync(0xffffffffu, value, 1);
}

/// A thread's pairs of r, plane by plane upwards.
class Rows {
  public:
    float2 of[2];  ///< what was fetched last

    __device__ Rows(const float* r, const Level& level, const Tile& tile, int z)
        : r_(r),
          side_(level.side),
          pitch_(level.pitch),
          z_(z),
          plane_(static_cast<long long>(level.pitch) * level.side),
          from_(z * plane_ + 2LL * tile.u * level.pitch + 2 * tile.t) {
        for (int k = 0; k < 2; ++k) exists_[k] = tile.inside[k][0];
    }
    /// The next plane; 0 where there is none. (Padding is 0.)
    __device__ void fetch() {
        const bool some = z_ >= 0 && z_ < side_;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            of[k] = {0, 0};
            if (some && exists_[k]) of[k] = *reinterpret_cast<const float2*>(r_ + from_ + k * pitch_);
        }
        ++z_;
        from_ += plane_;
    }

  private:
    const float* r_;
    int side_, pitch_, z_;
    long long plane_, from_;
    bool exists_[2];
};

/// The way down from a large cube: a sweep from 0, red and then black, and the restriction of what is left.
template <class Smoother>
__device__ __noinline__ void pass_down(Smoother smoother, const float* r, float* coarse_r, Level fine,
                                       Level coarse) {
    Exchange& shared = shared_memory<Exchange>();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, side = fine.side, many = coarse.side;
    const int before = max(2 * warp - 1, 0), behind = min(2 * warp + 2, 2 * pass_warps - 1);
    const int next_warp = min(warp + 1, pass_warps - 1);
    const Weights weight(side);
    const long long items =
        Tile::count(many, down_wide, down_high) * ((many + fine.down_planes - 1) / fine.down_planes);
    for (long long item = blockIdx.x; item < items; item += gridDim.x) {
        const Tile tile(item, side, down_wide, down_high, many, fine.down_planes);
        const float wx[2] = {weight.of_short(2 * tile.t), weight.of_short(2 * tile.t + 1)};
        const float wy[2] = {weight.of_short(2 * tile.u), weight.of_short(2 * tile.u + 1)};
        Rows rows(r, fine, tile, 2 * tile.bottom - 2);
        float red[2][3] = {}, black[2][3] = {}, r_black[2] = {};  // of this plane and those below
        float own[2] = {}, other[2] = {};  // what coarse planes get: this one and the one before
        rows.fetch();
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
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int z = 2 * pair + q;
                // Red are the points of row k at 2t + (q ^ k) in this plane; black in the one below.
                float next_black[2];
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    const float r_red = (q ^ k) ? rows.of[k].y : rows.of[k].x;
                    next_black[k] = (q ^ k) ? rows.of[k].x : rows.of[k].y;
                    red[k][2] = red[k][1], red[k][1] = red[k][0];
                    red[k][0] = smoother.relaxed(r_red, 0);
                    shared.red[q][2 * warp + k][lane] = red[k][0];
                }
                rows.fetch();
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
        }
    }
}

/// The way up to a large cube: the coarse grid's correction, interpolated, and a sweep, black and then red.
/// Returns this thread's part of r.z.
template <class Smoother>
__device__ __noinline__ double pass_up(Smoother smoother, const float* r, const float* coarse_x, float* x,
                                       Level fine, Level coarse) {
    Exchange& shared = shared_memory<Exchange>();
    double rz = 0;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, side = fine.side, many = pairs(side);
    const int before = max(2 * warp - 1, 0), behind = min(2 * warp + 2, 2 * pass_warps - 1);
    const Weights weight(side);
    const long long plane = static_cast<long long>(fine.pitch) * side;
    const long long coarse_plane = static_cast<long long>(coarse.pitch) * coarse.side;
    const long long items =
        Tile::count(many, up_wide, up_high) * ((many + fine.up_planes - 1) / fine.up_planes);
    for (long long item = blockIdx.x; item < items; item += gridDim.x) {
        const Tile tile(item, side, up_wide, up_high, many, fine.up_planes);
        const float wx[2] = {weight.of_short(2 * tile.t), weight.of_short(2 * tile.t + 1)};
        const float wy[2] = {weight.of_short(2 * tile.u), weight.of_short(2 * tile.u + 1)};
        Rows rows(r, fine, tile, 2 * tile.bottom - 2);
        const bool columns[2] = {tile.t - 1 >= 0 && tile.t - 1 < coarse.side,
                                 tile.t >= 0 && tile.t < coarse.side};
        const bool lines[2] = {tile.u - 1 >= 0 && tile.u - 1 < coarse.side,
                               tile.u >= 0 && tile.u < coarse.side};
        const int place = tile.u * coarse.pitch + tile.t;
        float correction[2][2][2];                // [this pair of planes, the one before][row][point]
        const auto interpolate = [&](int pair) {  // along rows and columns
            const bool some = pair >= 0 && pair < coarse.side;
            const float* const at = coarse_x + pair * coarse_plane + place;
            const float here = some && columns[1] && lines[1] ? at[0] : 0.0f;
            const float left = some && columns[0] && lines[1] ? at[-1] : 0.0f;
            const float front = some && columns[1] && lines[0] ? at[-coarse.pitch] : 0.0f;
            const float corner = some && columns[0] && lines[0] ? at[-coarse.pitch - 1] : 0.0f;
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const float right = front + wy[k] * (here - front), last = corner + wy[k] * (left - corner);
#pragma unroll
                for (int i = 0; i < 2; ++i) correction[0][k][i] = last + wx[i] * (right - last);
            }
        };
        float red[2][3] = {}, black[2][3] = {}, r_red[2][3] = {}, r_black[2][3] = {};
        interpolate(tile.bottom - 2);
        rows.fetch();
        for (int k = 0; k < 2; ++k)
            shared.red[1][2 * warp + k][lane] = shared.black[0][2 * warp + k][lane] = 0;
        __syncthreads();
        float* to = x + 2LL * tile.bottom * plane + 2LL * tile.u * fine.pitch + 2 * tile.t;
        for (int pair = tile.bottom - 1; pair <= tile.top; ++pair) {
#pragma unroll
            for (int k = 0; k < 2; ++k)
                correction[1][k][0] = correction[0][k][0], correction[1][k][1] = correction[0][k][1];
            interpolate(pair);
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int z = 2 * pair + q;
                const bool here = z >= 0 && z < side, below = z - 1 >= 0 && z - 1 < side;
                const float w = weight.of_short(z);
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    r_red[k][2] = r_red[k][1], r_red[k][1] = r_red[k][0];
                    r_black[k][2] = r_black[k][1], r_black[k][1] = r_black[k][0];
                    r_red[k][0] = (q ^ k) ? rows.of[k].y : rows.of[k].x;
                    r_black[k][0] = (q ^ k) ? rows.of[k].x : rows.of[k].y;
                    red[k][2] = red[k][1], red[k][1] = red[k][0];
                    const float last = correction[1][k][q ^ k];
                    const float found =
                        smoother.relaxed(r_red[k][0], 0) + last + w * (correction[0][k][q ^ k] - last);
                    red[k][0] = here && tile.inside[k][q ^ k] ? found : 0.0f;
                    shared.red[q][2 * warp + k][lane] = red[k][0];
                }
                rows.fetch();
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    black[k][2] = black[k][1], black[k][1] = black[k][0];
                    const float around = red[k][1] + from_lane(red[k][1], q ^ k) + red[1 - k][1] +
                                         shared.red[1 - q][k ? behind : before][lane] + red[k][2] + red[k][0];
                    black[k][0] =
                        below && tile.inside[k][q ^ k] ? smoother.relaxed(r_black[k][1], around) : 0.0f;
                    shared.black[1 - q][2 * warp + k][lane] = black[k][0];
                }
                float last[2];
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    const float around = black[k][1] + from_lane(black[k][1], q ^ k) + black[1 - k][1] +
                                         shared.black[q][k ? behind : before][lane] + black[k][2] +
                                         black[k][0];
                    last[k] = tile.inside[k][q ^ k] ? smoother.relaxed(r_red[k][2], around) : 0.0f;
                }
                if (pair > tile.bottom) {  // plane z - 2 is complete
                    if (tile.mine && z - 2 < side) {
                        float sum = 0;
#pragma unroll
                        for (int k = 0; k < 2; ++k) {
                            if (!tile.inside[k][0]) continue;
                            *reinterpret_cast<float2*>(to + k * fine.pitch) =
                                (q ^ k) ? make_float2(black[k][1], last[k])
                                        : make_float2(last[k], black[k][1]);
                            sum += r_red[k][2] * last[k] + r_black[k][2] * black[k][1];
                        }
                        rz += sum;
                    }
                    to += plane;
                }
                __syncthreads();
            }
        }
    }
    return rz;
}

/// Tiles in a plane of a cube, for `march` with so many rows a thread.
__host__ __device__ inline long long march_tiles(int side, int rows) {
    const int high = rows * pass_warps - 2;
    return static_cast<long long>((side + 29) / 30) * ((side + high - 1) / high);
}

/// A pass over a large cube in which a point needs its neighbours: use(packed, padded, own value, the
/// neighbours' sum, more) for each point. A point has two indices: `packed` where rows follow each other,
/// `padded` where they have a pitch. A value is value(load(packed, padded)), and more is fetch(packed): two
/// steps, so that what is loaded may arrive while the plane before is worked on. A thread goes through the
/// planes of a slab, with the points of `rows` rows; a tile's rim is its neighbours', too.
template <int rows, class T, class Fetch, class Load, class Value, class Use>
__device__ __forceinline__ void march(const Level& level, int planes, const Fetch& fetch, const Load& load,
                                      const Value& value, const Use& use) {
    Rims<T>& rims = shared_memory<Rims<T>>();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, side = level.side;
    const int before = max(warp - 1, 0), behind = min(warp + 1, pass_warps - 1);
    constexpr int wide = 30, high = rows * pass_warps - 2;
    const int beside = (side + wide - 1) / wide;
    const long long tiles = march_tiles(side, rows), items = tiles * ((side + planes - 1) / planes);
    const long long plane = static_cast<long long>(side) * side,
                    padded_plane = static_cast<long long>(side) * level.pitch;
    for (long long item = blockIdx.x; item < items; item += gridDim.x) {
        const int x = static_cast<int>(item % beside) * wide - 1 + lane;
        const int row = rows * warp, y = static_cast<int>(item % tiles / beside) * high - 1 + row;
        const int bottom = static_cast<int>(item / tiles) * planes, top = min(bottom + planes, side);
        bool inside[rows], mine[rows];
#pragma unroll
        for (int k = 0; k < rows; ++k) {
            inside[k] = x >= 0 && x < side && y + k >= 0 && y + k < side;
            mine[k] = inside[k] && lane >= 1 && lane <= wide && row + k >= 1 && row + k <= high;
        }
        // Of the first row in plane z, the one that is worked on.
        long long packed = (bottom - 1) * plane + static_cast<long long>(y) * side + x;
        long long padded = (bottom - 1) * padded_plane + static_cast<long long>(y) * level.pitch + x;
        decltype(load(0LL, 0LL)) coming[rows];
        decltype(fetch(0LL)) next[rows] = {};
        const auto prefetch = [&](int z, int ahead) {
            const bool some = z >= 0 && z < side;
#pragma unroll
            for (int k = 0; k < rows; ++k) {
                coming[k] = {};
                if (some && inside[k])
                    coming[k] = load(packed + ahead * plane + k * side,
                                     padded + ahead * padded_plane + k * level.pitch);
            }
        };
        T below[rows] = {}, here[rows] = {}, above[rows];
        prefetch(bottom - 1, 0);
        for (int z = bottom - 2; z < top; ++z) {
            // `above` is the value in plane z + 1; use() begins with plane `bottom`.
#pragma unroll
            for (int k = 0; k < rows; ++k) above[k] = value(coming[k]);
            rims.first[z & 1][warp][lane] = above[0];
            rims.last[z & 1][warp][lane] = above[rows - 1];
            if (z + 1 < top) prefetch(z + 2, z < bottom - 1 ? 1 : 2);
            if (z >= bottom) {
                const T front = rims.last[~z & 1][before][lane], back = rims.first[~z & 1][behind][lane];
#pragma unroll
                for (int k = 0; k < rows; ++k) {
                    const T around =
                        (below[k] + above[k]) +
                        ((k > 0 ? here[k > 0 ? k - 1 : 0] : front) +
                         (k + 1 < rows ? here[k + 1 < rows ? k + 1 : 0] : back)) +
                        (__shfl_up_sync(0xffffffffu, here[k], 1) + __shfl_down_sync(0xffffffffu, here[k], 1));
                    if (mine[k]) use(packed + k * side, padded + k * level.pitch, here[k], around, next[k]);
                }
            }
#pragma unroll
            for (int k = 0; k < rows; ++k) below[k] = here[k], here[k] = above[k];
            if (z >= bottom - 1) {
                packed += plane, padded += padded_plane;
#pragma unroll
                for (int k = 0; k < rows; ++k)
                    if (mine[k] && z + 1 < top) next[k] = fetch(packed + k * side);
            }
            __syncthreads();
        }
    }
}

inline constexpr int direction_rows = 4, step_rows = 2;  ///< of a thread

/// p = z + beta old_p for a large cube. Returns this thread's part of p.A p.
static __device__ __noinline__ double direction_pass(const float* z, const float* old_p, float* p, float beta,
                                                     Level level, int planes) {
    double sum = 0;
    march<direction_rows, float>(
        level, planes, [](long long) { return 0; },
        [&](long long, long long i) { return make_float2(z[i], old_p[i]); },
        [&](float2 both) { return both.x + beta * both.y; },
        [&](long long, long long i, float here, float around, int) {
            p[i] = here;
            sum += double(6 * here - around) * here;
        });
    return sum;
}

/// new_x = x + alpha p for a large cube, and r = b - A new_x. x may be null, for 0. Returns this thread's
/// part of r.r, and leaves `scale` times r in float.
static __device__ __noinline__ double step_pass(const double* b, const double* x, double* new_x,
                                                const float* p, float* scaled_r, double alpha, double scale,
                                                Level level, int planes) {
    struct Loaded {
        double x;
        float p;
    };
    double sum = 0;
    march<step_rows, double>(
        level, planes, [&](long long i) { return b[i]; },
        [&](long long packed, long long i) {
            return Loaded{x ? x[packed] : 0, p[i]};
        },
        [&](const Loaded& both) { return both.x + alpha * both.p; },
        [&](long long packed, long long i, double here, double around, double right) {
            const double r = right - (6 * here - around);
            new_x[packed] = here;
            scaled_r[i] = static_cast<float>(r * scale);
            sum += r * r;
        });
    return sum;
}

inline constexpr int most_smallest = 7;  ///< points a side of a grid that sweeps alone can solve

/// The grids of a V-cycle, the finest first. The last has no more points than a block has threads.
struct Grids {
    static constexpr int most = 32;
    int count = 0;
    Level level[most];
    int direction_planes = 1, step_planes = 1;
    long long floats = 0;  ///< of the points of all grids

    Grids(int d, int finest, int blocks) {
        if (finest == 0) return;
        for (int side = finest;; side = coarse_side(side)) {
            Level& now = level[count++];
            now.side = side;
            now.pitch = d == 3 && side >= least_side ? (side + 7) / 8 * 8 : side;
            now.at = floats;
            now.scale = restriction_scale(d, side);
            if (d == 3 && side >= least_side) {
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
        direction_planes = planes_of_slab(march_tiles(finest, direction_rows), finest, 2, blocks);
        step_planes = planes_of_slab(march_tiles(finest, step_rows), finest, 2, blocks);
    }
};

}  // namespace pcg
