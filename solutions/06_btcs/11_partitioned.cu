// One system of any size. A block owns a tile of it, a thread sixteen rows, and everyone does the same:
// eliminate all unknowns but the last, and hand on what that leaves, from threads to warps to tiles. Far away
// rows hardly matter to a dominated one: a tile that also reads a few rows of its neighbours is a system of
// its own, and the solution takes one pass. By how much the rest of the world could have changed it is a
// number that falls out of the elimination, and a few tiles show how many rows that takes. If it is too
// large, tiles are reduced to one row each, and these are solved first.

#include <algorithm>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 11.1: the kernels, among them partitioned_kernel. The design is yours.
// BEGIN SOLUTION
using btcs::Row;

static constexpr int rows = 16;      // of a thread
static constexpr int threads = 256;  // of a block
static constexpr int warps = threads / 32;
static constexpr int tile = rows * threads;
static constexpr float negligible = 0x1p-26f;

// Rows that a tile reads on either side of those that it solves for. A large system is asked for the number.
static constexpr int usual_overlap = 128, most_overlap = 768;
static constexpr int samples = 64, least_sampled = 1024 * tile;

/// A system in memory.
struct System {
    const float *lower, *diagonal, *upper, *rhs;
    long long n;
    bool reduced;  ///< `diagonal` holds excesses instead
};

/// What is left of consecutive rows: the last one, which reaches from the unknown in front of them to the one
/// behind, and the first unknown: x_first = rhs - lower x_before - upper x_last.
struct Summary {
    Row last, first;
};

/// What the launches of one solve tell each other.
struct Shared {
    unsigned long long* bad;  ///< the first row that is not dominated
    int* slow;                ///< some tile is not a system of its own
    int* overlap;             ///< rows of overlap that the samples need; 0 without samples
};

static __device__ Row from_lane(const Row& row, int lane, int width) {
    return {__shfl_sync(0xffffffffu, row.lower, lane, width),
            __shfl_sync(0xffffffffu, row.excess, lane, width),
            __shfl_sync(0xffffffffu, row.upper, lane, width), __shfl_sync(0xffffffffu, row.rhs, lane, width)};
}

/// Joins the summaries of `width` neighbouring lanes to one. `row` then says of the last unknown of each lane
/// but the last one: x = rhs - lower x_before - upper x_last, with the unknowns before and at the end
/// of all of them.
template <int width>
static __device__ Summary join(const Summary& own, Row& row) {
    constexpr int end = width - 1;  // the lane whose last unknown is kept
    const int lane = static_cast<int>(threadIdx.x) % width;
    const Row next = from_lane(own.first, min(lane + 1, end), width);
    row = lane < end ? btcs::normalised(btcs::without_behind(own.last, next)) : Row{};
#pragma unroll
    for (int distance = 1; distance < end; distance *= 2) {
        const Row before = from_lane(row, lane - distance, width),
                  behind = from_lane(row, lane + distance, width);
        // Without a neighbour in between, the row already has an unknown that is kept.
        const bool has_before = lane >= distance, has_behind = lane + distance < end;
        const float lower = has_before ? row.lower : 0, upper = has_behind ? row.upper : 0;
        row = btcs::normalised({has_before ? -lower * before.lower : row.lower,
                                row.excess + btcs::gain(lower, before.excess, before.upper) +
                                    btcs::gain(upper, behind.excess, behind.lower),
                                has_behind ? -upper * behind.upper : row.upper,
                                row.rhs - lower * before.rhs - upper * behind.rhs});
    }
    const Row head = from_lane(row, 0, width), tail = from_lane(row, end - 1, width);
    const Row first = from_lane(own.first, 0, width), last = from_lane(own.last, end, width);
    return {btcs::without_before(last, tail), btcs::composed(first, head)};
}

/// How many rows it is from `from` on to `to`, as far as that matters to a tile.
static __device__ int distance(long long from, long long to) {
    return static_cast<int>(max(min(to - from, static_cast<long long>(tile)), -1LL * tile));
}

/// The memory through which the lanes of a warp hand each other 32 times `rows` floats.
static __device__ float* stage() {
    __shared__ float all[warps][btcs::padded(32 * rows)];
    return all[threadIdx.x / 32];
}

/// From element 32 j + lane of the warp's in v[j] to element rows lane + j.
static __device__ void gather(float (&v)[rows]) {
    float* const all = stage();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) all[33 * j + lane] = v[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) v[j] = all[rows * lane + lane / (32 / rows) + j];
}

/// And back.
static __device__ void scatter(float (&v)[rows]) {
    float* const all = stage();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // unchecked: the barriers of read() stand between two uses of the stage
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) all[rows * lane + lane / (32 / rows) + j] = v[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) v[j] = all[33 * j + lane];
}

/// What a block knows of its tile once it is eliminated.
struct Tile {
    btcs::Chunk<rows> chunk;  ///< the thread's rows
    Row in_warp;              ///< the thread's last unknown, in terms of its warp's two
    Row in_tile;              ///< lane w: the last unknown of warp w, in terms of the tile's two
    Summary summary;

    /// Fetches rows begin to begin + tile - 1 and eliminates. Rows outside of the system say x = 0. All
    /// threads of the block must call it.
    __device__ void read(const System& a, long long begin, unsigned long long* bad) {
        __shared__ Summary of_warp[warps];
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
        // All loads first: nothing that could wait for one of them stands in the way of the next.
        const long long first = begin + warp * 32 * rows + lane;
        const int low = distance(first, 0), high = distance(first, a.n);
#pragma unroll
        for (int j = 0; j < rows; ++j) {
            const bool there = 32 * j >= low && 32 * j < high;
            chunk.lower[j] = there ? a.lower[first + 32 * j] : 0;
            chunk.excess[j] = there ? a.diagonal[first + 32 * j] : 1;
            chunk.upper[j] = there ? a.upper[first + 32 * j] : 0;
            chunk.rhs[j] = there ? a.rhs[first + 32 * j] : 0;
        }
#pragma unroll
        for (int j = 0; j < rows; ++j) {
            if (first + 32 * j == 0) chunk.lower[j] = 0;
            if (32 * j == high - 1) chunk.upper[j] = 0;
            if (a.reduced) continue;
            const Row row = chunk.get(j);
            const bool good = btcs::dominated(row.lower, row.excess, row.upper);
            if (bad && !good) atomicMin(bad, static_cast<unsigned long long>(first + 32 * j));
            chunk.set(j, btcs::row_of(row.lower, row.excess, row.upper, row.rhs));
        }
        // Neighbouring lanes have fetched neighbouring rows, and each wants its own in a row.
        gather(chunk.lower), gather(chunk.excess), gather(chunk.upper), gather(chunk.rhs);
        const Row last = chunk.eliminate();
        const Summary joined = join<32>({last, chunk.first()}, in_warp);
        // unchecked: a block has a second tile only in systems too large for check mode
        __syncthreads();  // of_warp may still be read from the tile before
        if (lane == 0) of_warp[warp] = joined;
        __syncthreads();
        summary = join<warps>(of_warp[lane % warps], in_tile);
    }

    /// The last unknown of the thread before and of this thread, if the tile's are `before` and `last`.
    /// @param source  1, or 0 for the system with all right-hand sides 0
    __device__ float2 unknowns(float before, float last, float source) const {
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
        const auto value = [source](const Row& row, float left, float right) {
            return source * row.rhs - row.lower * left - row.upper * right;
        };
        const float of_warp = lane % warps < warps - 1 ? value(in_tile, before, last) : last;
        const float warp_last = __shfl_sync(0xffffffffu, of_warp, warp);
        float warp_before = __shfl_sync(0xffffffffu, of_warp, max(warp - 1, 0));
        if (warp == 0) warp_before = before;
        const float own = lane < 31 ? value(in_warp, warp_before, warp_last) : warp_last;
        const float previous = __shfl_up_sync(0xffffffffu, own, 1);
        return {lane > 0 ? previous : warp_before, own};
    }

    /// Solves for all rows and writes those from `from` to `to` - 1, as the system counts them.
    __device__ void write(float before, float last, long long begin, long long from, long long to, float* x) {
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
        const float2 ends = unknowns(before, last, 1);
        chunk.substitute(ends.x, ends.y);
        scatter(chunk.rhs);
#pragma unroll
        for (int j = 0; j < rows; ++j) {
            const long long i = begin + (warp * rows + j) * 32 + lane;
            if (i >= from && i < to) x[i] = chunk.rhs[j];
        }
    }
};

/// What would x have been in the thread's last row, without a right-hand side, but with a 1 in front of the
/// tile (x), or behind it (y)?
static __device__ float2 influence(const Tile& t) {
    const Row last = t.summary.last;
    return {fabsf(t.unknowns(1, -last.lower / last.diagonal(), 0).y),
            fabsf(t.unknowns(0, -last.upper / last.diagonal(), 0).y)};
}

/// A block owns a tile somewhere in the system, and counts the threads to which the rows outside of it
/// make a difference.
// unchecked: only systems of more rows than check mode has time for are sampled
static __global__ void __launch_bounds__(threads, 3) sample_kernel(System a, Shared shared) {
    Tile t;
    t.read(a, (a.n - tile) / (gridDim.x - 1) * blockIdx.x, nullptr);
    const float2 matters = influence(t);
    const int front = __syncthreads_count(!(matters.x <= negligible / 2)) + 1;
    const int back = __syncthreads_count(!(matters.y <= negligible / 2));
    // One thread to be on the safe side; and whole lines of memory.
    if (threadIdx.x == 0) atomicMax(shared.overlap, (rows * (max(front, back) + 1) + 31) / 32 * 32);
}

/// A block owns tiles that overlap, and solves each as if nothing were outside of it.
static __global__ void __launch_bounds__(threads, 3) partitioned_kernel(System a, float* x, Shared shared) {
    const int overlap = *shared.overlap > 0 ? *shared.overlap : usual_overlap;
    // unchecked: only where the system was sampled
    if (overlap > most_overlap) {  // no use in trying
        if (blockIdx.x == 0 && threadIdx.x == 0) *shared.slow = 1;
        return;
    }
    const int stored = tile - 2 * overlap;
    for (long long from = blockIdx.x * static_cast<long long>(stored); from < a.n;
         from += gridDim.x * static_cast<long long>(stored)) {
        const long long begin = from - overlap;
        Tile t;
        t.read(a, begin, shared.bad);
        const Row last = t.summary.last;
        t.write(0, last.rhs / last.diagonal(), begin, from, min(from + stored, a.n), x);

        // Between the two threads at the border of what was stored the influence is nowhere larger than at
        // one of them.
        const float2 matters = influence(t);
        const int thread = static_cast<int>(threadIdx.x);
        const bool border = thread == overlap / rows - 1 || thread == threads - overlap / rows - 1;
        if (border && !(matters.x + matters.y <= negligible)) atomicExch(shared.slow, 1);
    }
}

/// A block owns tiles side by side, and leaves a summary of each.
static __global__ void __launch_bounds__(threads, 3)
    reduce_kernel(System a, Summary* summaries, Shared shared) {
    if (*shared.slow == 0) return;
    for (long long k = blockIdx.x; k * tile < a.n; k += gridDim.x) {
        Tile t;
        t.read(a, k * tile, shared.bad);
        if (threadIdx.x == 0) summaries[k] = t.summary;
    }
}

/// A thread owns a tile: its last row, with the first unknown of the next tile replaced.
static __global__ void link_kernel(const Summary* summaries, float* lower, float* excess, float* upper,
                                   float* rhs, long long n, Shared shared) {
    const long long k = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (*shared.slow == 0 || k >= n) return;
    const Row row =
        k < n - 1 ? btcs::without_behind(summaries[k].last, summaries[k + 1].first) : summaries[k].last;
    lower[k] = row.lower, excess[k] = row.excess, upper[k] = row.upper, rhs[k] = row.rhs;
}

/// A block owns tiles side by side, whose last unknowns are known. (Without `known` there is one tile.)
static __global__ void __launch_bounds__(threads, 3)
    finish_kernel(System a, float* x, const float* known, Shared shared) {
    if (*shared.slow == 0) return;
    for (long long k = blockIdx.x; k * tile < a.n; k += gridDim.x) {
        Tile t;
        t.read(a, k * tile, nullptr);
        const Row last = t.summary.last;
        const float before = k > 0 ? known[k - 1] : 0;
        t.write(before, known ? known[k] : last.rhs / last.diagonal(), k * tile, k * tile,
                min((k + 1) * tile, a.n), x);
    }
}

/// No answer instead of a wrong one.
static __global__ void refuse_kernel(float* x, long long n, Shared shared) {
    if (*shared.bad == ~0ull) return;
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * static_cast<long long>(blockDim.x)) {
        x[i] = NAN;
    }
}

/// Blocks for so many tiles: no more than can do something at once, since most launches find nothing to do.
static unsigned grid(long long tiles) { return static_cast<unsigned>(std::min(tiles, 2048LL)); }

/// Solves if some tile is not a system of its own, else does nothing. `memory` is used from `memory` on.
static void solve_exactly(const System& a, float* x, Shared shared, float* memory, cudaStream_t stream) {
    const long long tiles = (a.n + tile - 1) / tile;
    const float* known = nullptr;
    if (tiles > 1) {
        auto* const summaries = reinterpret_cast<Summary*>(memory);
        float* const next = memory + tiles * (sizeof(Summary) / sizeof(float));
        const long long pitch = (tiles + 7) / 8 * 8;  // summaries need 16-byte boundaries
        float* const of_tiles = next + 4 * pitch;
        reduce_kernel<<<grid(tiles), threads, 0, stream>>>(a, summaries, shared);
        link_kernel<<<static_cast<unsigned>((tiles + 255) / 256), 256, 0, stream>>>(
            summaries, next, next + pitch, next + 2 * pitch, next + 3 * pitch, tiles, shared);
        solve_exactly({next, next + pitch, next + 2 * pitch, next + 3 * pitch, tiles, true}, of_tiles, shared,
                      of_tiles + pitch, stream);
        known = of_tiles;
    }
    finish_kernel<<<grid(tiles), threads, 0, stream>>>(a, x, known, shared);
}
// END SOLUTION

void btcs::partitioned(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                       const float* /* start */, float* x, long long* status, long long n,
                       cudaStream_t stream) {
    // TODO 11.2: the launches, for any n. No answer is better than a wrong one.
    // BEGIN SOLUTION
    CUDA_CHECK(
        cudaMemsetAsync(status, 0xff, sizeof *status, stream));  // -1: solved, and the largest unsigned
    if (n == 0) return;
    // Each level of tiles needs 13 floats a tile: 1/315 of the level below.
    const long long tiles = (n + tile - 1) / tile;
    auto* const memory = static_cast<unsigned char*>(
        rungs::stream_workspace(stream, 256 + sizeof(float) * static_cast<std::size_t>(22 * tiles + 4096)));
    const Shared shared{reinterpret_cast<unsigned long long*>(status), reinterpret_cast<int*>(memory),
                        reinterpret_cast<int*>(memory) + 1};
    const System a{lower, diagonal, upper, rhs, n, false};
    CUDA_CHECK(cudaMemsetAsync(memory, 0, 2 * sizeof(int), stream));

    const bool sampled = n >= least_sampled;
    if (sampled) sample_kernel<<<samples, threads, 0, stream>>>(a, shared);
    const int stored = tile - 2 * (sampled ? most_overlap : usual_overlap);  // at least
    const long long own = (n + stored - 1) / stored;
    partitioned_kernel<<<static_cast<unsigned>(std::min(own, 1LL << 30)), threads, 0, stream>>>(a, x, shared);
    solve_exactly(a, x, shared, reinterpret_cast<float*>(memory + 256), stream);
    refuse_kernel<<<grid((n + 255) / 256), 256, 0, stream>>>(x, n, shared);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
