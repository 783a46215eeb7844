// Sixteen sweeps for one pass over the memory. A tile stays in registers while it is swept sixteen times;
// what its neighbours would have had to say is computed twice instead. Where all tiles of the lattice fit on
// the GPU at once they stay there, and only their halos go through the memory.

#include <cooperative_groups.h>

#include <algorithm>

#include "fields.cuh"
#include "jacobi.cuh"
#include "quad.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

// TODO 9.1: the kernel, temporal_kernel, and what it needs. The design is yours. iterate_in_passes of steps.cuh
// finds the exact sweep for passes of any depth.
// BEGIN SOLUTION
static constexpr int width = 128;  // of a tile
static constexpr int height = 128;
static constexpr int depth = 16;  // sweeps in a pass: as far from its open sides a tile's values go wrong

// A warp holds `rows` rows of the tile, a lane four columns of each; a block has height / rows warps, one
// below the other. Sixteen rows for throughput, with two blocks on a multiprocessor that take turns in
// waiting. Eight, and twice the warps, where the tiles stay and a block has its multiprocessor for itself.
template <bool resident>
static constexpr int rows_of = resident ? 8 : 16;

/// What warps hand each other: the first and the last of their rows. Two of each, used in turn, so that one
/// barrier per sweep is enough.
template <int rows>
struct Exchange {
    static constexpr int warps = height / rows;
    float4 first[2][warps][32];
    float4 last[2][warps][32];
};

/// A thread's part of a tile: four columns, from x on, of the rows from y on. "Row r" is y + r below.
struct Part {
    int x, y;
    bool stored;        ///< the block stores these columns ...
    int begin, end;     ///< ... of rows `begin` to `end` - 1; the rest is for its neighbours to store
    unsigned fixed[4];  ///< all bits set: this column is boundary
    bool inner[4];      ///< this column is neither boundary nor off the lattice
    int top, bottom;    ///< the boundary's rows, for most parts out of reach
    int charged;        ///< the charge's row, also mostly out of reach
    float4 charge;      ///< what is subtracted there
};

/// `a` where the mask has all bits set, `b` where it has none.
static __device__ __forceinline__ float select(unsigned mask, float a, float b) {
    return __uint_as_float((__float_as_uint(a) & mask) | (__float_as_uint(b) & ~mask));
}

/// The same row, seen one column further right, or left.
static __device__ __forceinline__ float4 right_of(float4 v) {
    return {v.y, v.z, v.w, __shfl_down_sync(0xffffffffu, v.x, 1)};
}
static __device__ __forceinline__ float4 left_of(float4 v) {
    return {__shfl_up_sync(0xffffffffu, v.w, 1), v.x, v.y, v.z};
}

/// What else happens to a point. `sum` is the sum of its neighbours: four times the new value.
/// @param edge   the tile has boundary or charge in it; else none of the tests is compiled
/// @param last   the last sweep of a pass: take the factors out, and measure the update
/// @param scale  4^k before sweep k + 1; `old` carries it
template <bool edge, bool last>
static __device__ __forceinline__ float4 complete(float4 sum, float4 old, int r, const Part& part,
                                                  float scale, float& square) {
    if (edge) {
        if (last && r == part.charged) sum = sum - scale * part.charge;
        const float4 kept = 4 * old;
        sum = {select(part.fixed[0], kept.x, sum.x), select(part.fixed[1], kept.y, sum.y),
               select(part.fixed[2], kept.z, sum.z), select(part.fixed[3], kept.w, sum.w)};
        if ((r == 0 && part.top == 0) || r == part.bottom) sum = kept;
    }
    if (!last) return sum;

    const float down = 0.25f / scale;
    const float4 now = down * sum;
    const float4 update = now - (4 * down) * old;
    if (part.stored && r >= part.begin && r < part.end) {
        if (!edge || part.inner[0]) square += update.x * update.x;
        if (!edge || part.inner[1]) square += update.y * update.y;
        if (!edge || part.inner[2]) square += update.z * update.z;
        if (!edge || part.inner[3]) square += update.w * update.w;
    }
    return now;
}

/// One sweep of the tile. All threads of the block call it; outside of its open sides a tile sees anything.
template <bool edge, bool last, int rows>
static __device__ __forceinline__ void sweep(float4 (&u)[rows], Exchange<rows>& exchange, int turn,
                                             const Part& part, float scale, float& square) {
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    exchange.first[turn][warp][lane] = u[0];
    exchange.last[turn][warp][lane] = u[rows - 1];

    // Pairs of points on a diagonal serve twice: with pair(x, y) = u(x, y) + u(x + 1, y + 1) the four
    // neighbours of (x, y) are pair(x - 1, y), left and below, and pair(x, y - 1), above and right. Two
    // additions a point.
    const float4 old_first = u[0], old_last = u[rows - 1];
    float4 pair = u[0] + right_of(u[1]);
    const float4 pair_first = left_of(pair);
#pragma unroll
    for (int r = 1; r < rows - 1; ++r) {
        const float4 next = u[r] + right_of(u[r + 1]);
        u[r] = complete<edge, last>(left_of(next) + pair, u[r], r, part, scale, square);
        pair = next;
    }
    // After the barrier the rows above u[0] and below u[rows - 1] are in `exchange`. The tile's first and
    // last warp have none: their own row will do.
    __syncthreads();
    float4 above = old_first, below = old_last;
    if (warp > 0) above = exchange.last[turn][warp - 1][lane];
    if (warp < exchange.warps - 1) below = exchange.first[turn][warp + 1][lane];
    const float4 pair_above = above + right_of(old_first), pair_last = left_of(old_last + right_of(below));
    u[0] = complete<edge, last>(pair_first + pair_above, old_first, 0, part, scale, square);
    u[rows - 1] = complete<edge, last>(pair_last + pair, old_last, rows - 1, part, scale, square);

    // The charge, where it is this warp's. (The last sweep has it already: its update counts.)
    if (edge && !last && part.charged >= 0 && part.charged < rows) {
#pragma unroll
        for (int r = 0; r < rows; ++r) u[r] = u[r] - (r == part.charged ? scale : 0.0f) * part.charge;
    }
}

/// `levels` sweeps of the tile; returns the thread's part of the last one's sum of squares. The division by 4
/// waits until the end: a power of two changes no digit of a float.
template <bool edge, int rows>
static __device__ __forceinline__ float sweeps(float4 (&u)[rows], Exchange<rows>& exchange, int levels,
                                               const Part& part) {
    float square = 0, scale = 1;
    int level = 1;
    for (; level + 1 < levels; level += 2, scale *= 16) {
        sweep<edge, false>(u, exchange, 0, part, scale, square);
        sweep<edge, false>(u, exchange, 1, part, 4 * scale, square);
    }
    if (level < levels) {
        sweep<edge, false>(u, exchange, 0, part, scale, square);
        scale *= 4;
    }
    sweep<edge, true>(u, exchange, (levels - 1) % 2, part, scale, square);
    return square;
}

/// Passes of `levels` sweeps, each a step in the sense of jacobi::run_steps. A block owns a tile of 128 times
/// 128 points, a warp `rows` rows of it, a lane four columns. Tiles overlap by 2 * depth: a block stores what
/// lies `depth` or more inside, and up to the side of the lattice. More than one pass
/// needs a cooperative launch.
template <bool resident>
static __global__ void __launch_bounds__(32 * height / rows_of<resident>, resident ? 1 : 2)
    temporal_kernel(jacobi::Fields fields, jacobi::Lattice lattice, int levels, int passes, double* squares,
                    double limit) {
    constexpr int rows = rows_of<resident>, warps = height / rows;
    __shared__ Exchange<rows> exchange;
    __shared__ float partial[warps];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int column = static_cast<int>(blockIdx.x), columns = static_cast<int>(gridDim.x);
    const int row = static_cast<int>(blockIdx.y), all_rows = static_cast<int>(gridDim.y);

    Part part;
    part.x = column * (width - 2 * depth) + 4 * lane;
    part.y = row * (height - 2 * depth) + warp * rows;
    part.stored = part.x < lattice.nx && (column == 0 || 4 * lane >= depth) &&
                  (column == columns - 1 || 4 * lane < width - depth);
    part.begin = row == 0 ? 0 : depth - warp * rows;
    part.end = min(row == all_rows - 1 ? rows : height - depth - warp * rows, lattice.ny - part.y);
    for (int c = 0; c < 4; ++c) {
        part.fixed[c] = part.x + c == 0 || part.x + c == lattice.nx - 1 ? ~0u : 0u;
        part.inner[c] = part.x + c > 0 && part.x + c < lattice.nx - 1;
    }
    part.top = -part.y;
    part.bottom = lattice.ny - 1 - part.y;
    const bool charge_inside =
        lattice.x0 > 0 && lattice.x0 < lattice.nx - 1 && lattice.y0 > 0 && lattice.y0 < lattice.ny - 1;
    part.charged = charge_inside ? lattice.y0 - part.y : -1;
    part.charge = jacobi::charges(lattice, part.x, lattice.y0);
    // unchecked: a tile away from the boundary needs more points than check mode has time for
    const bool edge = column == 0 || column == columns - 1 || row == 0 || row == all_rows - 1 ||
                      (lattice.x0 >= part.x - 4 * lane && lattice.x0 < part.x - 4 * lane + width &&
                       lattice.y0 >= part.y - warp * rows && lattice.y0 < part.y - warp * rows + height);

    float4 u[rows];
    for (int pass = 0; pass < (resident ? passes : 1); ++pass, fields.advance()) {
        if (squares[pass - 1] <= limit) return;  // the same for all blocks: nobody waits in vain below

        const std::size_t first = lattice.at(part.x, part.y), pitch = lattice.pitch();
        const float* from = fields.now + first;
#pragma unroll
        for (int r = 0; r < rows; ++r, from += pitch) {
            // After a pass the block's own points are still in its registers: only the halo is fetched.
            const bool own = part.stored && r >= part.begin && r < part.end;
            const bool there = part.x < lattice.nx && part.y + r < lattice.ny;
            if (pass == 0) u[r] = {0, 0, 0, 0};
            if (there && (pass == 0 || !own)) {
                u[r] = *reinterpret_cast<const float4*>(from);
            }
        }
        float square =
            edge ? sweeps<true>(u, exchange, levels, part) : sweeps<false>(u, exchange, levels, part);
        float* to = fields.next() + first;
#pragma unroll
        for (int r = 0; r < rows; ++r, to += pitch) {
            if (part.stored && r >= part.begin && r < part.end) *reinterpret_cast<float4*>(to) = u[r];
        }
        for (unsigned step = 16; step > 0; step /= 2) square += __shfl_down_sync(0xffffffffu, square, step);
        if (lane == 0) partial[warp] = square;
        __syncthreads();
        if (threadIdx.x == 0) {
            double sum = 0;
            for (const float one : partial) sum += one;
            atomicAdd(&squares[pass], sum);
        }
        if (resident) cooperative_groups::this_grid().sync();  // halos and squares are there for all
    }
}

/// Tiles side by side that cover n points.
static int tiles(int n, int size) {
    const int step = size - 2 * depth;
    return n <= size ? 1 : (n - 2 * depth + step - 1) / step;
}
// END SOLUTION

void jacobi::temporal(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                      float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    // TODO 9.2: the call.
    // BEGIN SOLUTION
    Lattice lattice{nx, ny, q, x0, y0};
    double limit = limit_of(eps);
    const dim3 grid(static_cast<unsigned>(tiles(nx, width)), static_cast<unsigned>(tiles(ny, height)));

    // With a multiprocessor for every tile, blocks may wait for each other: one launch then does many passes.
    int device = 0, sms = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    const bool resident = static_cast<long long>(grid.x) * grid.y <= sms;
    const int threads = 32 * height / (resident ? rows_of<true> : rows_of<false>);

    iterate_in_passes(start, phi, work, norm, sweeps, lattice, most, eps, depth, stream,
                      [&](Fields at, int levels, int passes, double* squares) {
                          if (resident) {
                              void* arguments[] = {&at, &lattice, &levels, &passes, &squares, &limit};
                              CUDA_CHECK(cudaLaunchCooperativeKernel(temporal_kernel<true>, grid,
                                                                     dim3(threads), arguments, 0, stream));
                              return;
                          }
                          // unchecked: fields that are not resident have more points than check mode has time for
                          for (int pass = 0; pass < passes; ++pass, at.advance()) {
                              temporal_kernel<false><<<grid, threads, 0, stream>>>(at, lattice, levels, 1,
                                                                                   squares + pass, limit);
                              CUDA_CHECK(cudaGetLastError());
                          }
                      });
    // END SOLUTION
}
