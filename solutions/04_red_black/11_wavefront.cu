// Several iterations and their norms in one pass over memory. The reference takes 4.7 ms for 21 iterations
// on 512^3 points on an H200; with one pass for each iteration, rung 10 takes 8.1 ms.

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <utility>

#include "norm.cuh"
#include "red_black.cuh"
#include "rungs/shared_memory.cuh"
#include "split.cuh"

// TODO 11.1: kernels and launches of all iterations, with their norms. The design is yours.
// BEGIN SOLUTION
// A block streams through the planes of a column of the cube. While plane i arrives, plane i - 1 gets its
// black update, plane i - 2 its red one, plane i - 3 the black one of the next iteration, and so on: a
// wavefront of half-sweeps, each one plane behind the previous, so that every update finds the values
// it needs. Planes on their way stay in registers; memory is read once and written once for all
// iterations of the pass.

static constexpr int planes = 6;        ///< that a thread keeps of its columns, an even number
static constexpr int lanes = 16;        ///< threads along k
static constexpr int most_groups = 20;  ///< threads along j, at most
static constexpr int rows = 4;          ///< of a thread, along j
static constexpr int halo = 4;          ///< points at a tile's edge that end up wrong, at most

/// What a thread has of a row, and what of one colour in it, each moved with one access.
template <class T>
struct alignas(16) Quad {
    T v[16 / sizeof(T)];
};
template <class T>
struct alignas(8) Half {
    T v[8 / sizeof(T)];
};

/// What depends on the type, on the iterations of a pass, and on whether it is the last one. The last pass
/// updates black once more, and finds with a red half-sweep the norm of what it stores.
template <class T, int iterations, bool last>
struct Shape {
    static constexpr int halves = 2 * iterations + 2 * last;  ///< half-sweeps, black first
    static constexpr int columns = 16 / sizeof(T);            ///< of a thread, along k
    static constexpr int tile_k = lanes * columns, step_k = tile_k - 2 * halo;
    static_assert(halves <= halo, "each half-sweep spoils one more point of the edge");

    /// What a group shows the ones beside it, and where its threads keep their right-hand sides.
    struct Group {
        Half<T> edge[halves][2][2][lanes];  ///< [half-sweep][turn][first or last row]
        Half<T> b[planes][2][rows][lanes];  ///< [plane][colour]
    };

    /// Shared memory for so many groups: one before the first, and the edge of one after the last.
    __host__ __device__ static constexpr std::size_t bytes(int groups) {
        return (groups + 1) * sizeof(Group) + sizeof(Group::edge);
    }
};

/// The first column of a thread that has this colour in `row` of `plane`; the others are two
/// and four further on.
static __device__ constexpr int first_column(int plane, int row, int colour) {
    return (plane + row + colour) & 1;
}

/// A block owns a tile of columns and `chunk` planes of it, a thread `rows` x `columns` columns. Tiles
/// overlap: the `halo` points next to another tile are that one's. `red` has the red points of an iterate by
/// colour, and `next` gets those of `iterations` later; or all points, as the contract has them, in the last
/// pass. The squares of the residual that each red half-sweep finds go to norms[0], norms[1], ...
template <class T, int iterations, bool last, bool whole>
__global__ void __launch_bounds__(lanes* most_groups, 1)
    wavefront_kernel(const T* red, const T* b_red, const T* b_black, T* next, double* norms, int n,
                     int chunk) {
    using S = Shape<T, iterations, last>;
    constexpr int columns = S::columns, pairs = columns / 2, halves = S::halves;
    extern __shared__ __align__(16) unsigned char memory[];
    const int lane = threadIdx.x, group = threadIdx.y, groups = blockDim.y;
    auto* const shared = reinterpret_cast<typename S::Group*>(memory) + 1 + group;
    const int k = blockIdx.x * S::step_k + columns * lane;
    const int j = blockIdx.y * (rows * groups - 2 * halo) + rows * group;
    const int begin = blockIdx.z * chunk, end = min(n, begin + chunk), start = begin - halo;
    const int row_size = static_cast<int>(red_black::half_row(n));
    const long long plane_size = static_cast<long long>(n) * row_size;

    // Points of this thread that are in the cube, and whether they are this block's and not a neighbour's.
    // `whole`: n is a multiple of four, so that all points of a thread are in the cube, or none.
    const bool in_cube = j < n && k < n;
    const auto inside = [&](int r, int c) { return whole ? in_cube : j + r < n && k + c < n; };
    const auto owns = [](int x, int tile, int index, int count) {
        return (x >= halo || index == 0) && (x < tile - halo || index == count - 1);
    };
    const bool owned = in_cube && owns(rows * group, rows * groups, blockIdx.y, gridDim.y) &&
                       owns(columns * lane, S::tile_k, blockIdx.x, gridDim.x);
    const T sixth = in_cube ? T(1.0 / 6.0) : T(0);  // 0 keeps what is outside at 0

    const long long corner = start * plane_size + static_cast<long long>(j) * row_size + k / 2;
    const T *from_red = red + corner, *from_b[2] = {b_red + corner, b_black + corner};
    const long long to_plane = last ? static_cast<long long>(n) * n : plane_size;
    const int to_row = last ? n : row_size;
    T* to = next + begin * to_plane + static_cast<long long>(j) * to_row + (last ? k : k / 2);
    T arriving[rows][pairs];
    const auto fetch_red = [&](int plane) {
        const bool exists = plane >= 0 && plane < n;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            Half<T> red_of_row{};
            if (exists && inside(r, 0))
                red_of_row = *reinterpret_cast<const Half<T>*>(from_red + r * row_size);
#pragma unroll
            for (int v = 0; v < pairs; ++v) arriving[r][v] = red_of_row.v[v];
        }
        from_red += plane_size;
    };
    // A thread copies what it will read itself: no barrier is needed for that.
    const auto fetch_b = [&](int plane, int slot) {
        const bool exists = static_cast<unsigned>(plane) < static_cast<unsigned>(n);
#pragma unroll
        for (int colour = 0; colour < 2; ++colour) {
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                if (exists && inside(r, 0))
                    __pipeline_memcpy_async(&shared->b[slot][colour][r][lane], from_b[colour] + r * row_size,
                                            sizeof(Half<T>));
                else  // what the slot had before may be NaN, and 0 times that is NaN, too
                    shared->b[slot][colour][r][lane] = Half<T>{};
            }
            from_b[colour] += plane_size;
        }
    };

    // Beyond the tile's first and last row there are zeros, and in all planes and points outside the cube.
    for (unsigned x = group * lanes + lane; x < S::bytes(groups) / sizeof(Half<T>); x += lanes * groups)
        reinterpret_cast<Half<T>*>(memory)[x] = Half<T>{};
    __syncthreads();

    T u[2][planes][rows][pairs] = {};  // by colour; plane i is u[][(i - start) % planes]
    T squares[iterations + last] = {};
    fetch_red(start);
    fetch_b(start, 0);
    __pipeline_commit();

    const int newest = end - 1 + halves;  // the last plane that arrives
    for (int base = start; base <= newest; base += planes) {
#pragma unroll
        for (int phase = 0; phase < planes; ++phase) {  // unrolled: u[] must be indexed by constants
            const int i = base + phase;
            const int turn = phase & 1;

#pragma unroll
            for (int r = 0; r < rows; ++r) {
#pragma unroll
                for (int v = 0; v < pairs; ++v) u[0][phase][r][v] = arriving[r][v];
            }
            fetch_red(i + 1);  // long before it is needed
            fetch_b(i + 1, (phase + 1) % planes);
            __pipeline_commit();
            __pipeline_wait_prior(2);  // plane i + 1 is on its way, and i may be

#pragma unroll
            for (int half = -1; half < halves; ++half) {
                const int slot = (phase - 1 - half + 2 * planes) % planes, plane = i - 1 - half;
                const int colour = 1 - (half & 1);
                if (half >= 0) {
                    const T(&around)[rows][pairs] = u[1 - colour][slot];
                    const T(&above)[rows][pairs] = u[1 - colour][(slot + planes - 1) % planes];
                    const T(&below)[rows][pairs] = u[1 - colour][(slot + 1) % planes];
                    T(&mine)[rows][pairs] = u[colour][slot];
                    const Half<T> north = shared[-1].edge[half < 0 ? 0 : half][turn][1][lane];
                    const Half<T> south = shared[1].edge[half < 0 ? 0 : half][turn][0][lane];
                    const T factor = plane >= 0 && plane < n ? sixth : T(0);
                    const bool counts = colour == 0 && plane >= begin && plane < end && owned;
                    const bool stays = !(last && half + 1 == halves);  // else only the norm is asked for
#pragma unroll
                    for (int r = 0; r < rows; ++r) {
                        const int from = first_column(slot, r, colour);
                        T beside = from == 0 ? __shfl_up_sync(0xffffffffu, around[r][pairs - 1], 1, lanes)
                                             : __shfl_down_sync(0xffffffffu, around[r][0], 1, lanes);
                        if (lane == (from == 0 ? 0 : lanes - 1)) beside = T(0);
                        const Half<T> rhs = shared->b[slot][colour][r][lane];
#pragma unroll
                        for (int v = 0; v < pairs; ++v) {
                            const int w = from == 0 ? v - 1 : v + 1;
                            const bool here = w >= 0 && w < pairs;
                            const T side = here ? around[r][here ? w : 0] : beside;
                            const T up = r > 0 ? around[r > 0 ? r - 1 : 0][v] : north.v[v];
                            const T down = r + 1 < rows ? around[r + 1 < rows ? r + 1 : 0][v] : south.v[v];
                            const T sum = ((above[r][v] + below[r][v]) + (up + down)) + (around[r][v] + side);
                            T updated = (rhs.v[v] + sum) * factor;
                            if (!whole && !inside(r, 2 * v + from)) updated = T(0);
                            const T change = updated - mine[r][v];
                            if (counts) squares[half / 2] += change * change;
                            if (stays) mine[r][v] = updated;
                        }
                    }
                }
                // The next half-sweep will need this colour of the plane from the threads around.
                if (half + 1 < halves) {
#pragma unroll
                    for (int r = 0; r < rows; r += rows - 1) {
                        Half<T> shown;
#pragma unroll
                        for (int v = 0; v < pairs; ++v) shown.v[v] = u[colour][slot][r][v];
                        shared->edge[half + 1][1 - turn][r > 0][lane] = shown;
                    }
                }
            }

            if (i - halves >= begin && i - halves < end) {
                const int slot = (phase - halves + planes) % planes;
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    Half<T> of_red{};
                    Quad<T> both{};
#pragma unroll
                    for (int c = 0; c < columns; ++c) {
                        const int colour = first_column(slot, r, c);
                        both.v[c] = u[colour][slot][r][c / 2];
                        if (colour == 0) of_red.v[c / 2] = both.v[c];
                        if (last && !whole && owned && inside(r, c)) to[r * to_row + c] = both.v[c];
                    }
                    const bool stored = owned && inside(r, 0);
                    if (!last && stored) *reinterpret_cast<Half<T>*>(to + r * to_row) = of_red;
                    if (last && whole && stored) *reinterpret_cast<Quad<T>*>(to + r * to_row) = both;
                }
                to += to_plane;
            }
            __syncthreads();  // what was shown may be read, and what was read may be overwritten
        }
    }

#pragma unroll
    for (int t = 0; t < iterations + last; ++t)
        red_black::add_over_block(36.0 * squares[t], norms + t);  // the residual is six times the change
}

/// The first red half-sweep. A thread owns as many columns of a row as above; `red` gets their red points,
/// b_red and b_black the right-hand sides by colour.
template <class T, bool whole>
__global__ void begin_kernel(const T* start, const T* b, T* red, T* b_red, T* b_black, int n) {
    constexpr int columns = 16 / sizeof(T), pairs = columns / 2;
    const int m = pairs * (blockIdx.x * blockDim.x + threadIdx.x), k = 2 * m;
    const int j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.z * blockDim.z + threadIdx.z;
    const int row_size = static_cast<int>(red_black::half_row(n));
    if (i >= n || j >= n || m >= row_size) return;
    const std::size_t row = n, plane = row * n, c = i * plane + j * row + k;
    const auto quad = [&](const T* from, bool exists) {
        Quad<T> values{};
        if (whole && exists && k < n) values = *reinterpret_cast<const Quad<T>*>(from);
#pragma unroll
        for (int x = 0; x < columns; ++x) {
            if (!whole && exists && k + x < n) values.v[x] = from[x];
        }
        return values;
    };
    const Quad<T> up = quad(start + c - plane, i > 0), down = quad(start + c + plane, i + 1 < n);
    const Quad<T> north = quad(start + c - row, j > 0), south = quad(start + c + row, j + 1 < n);
    const Quad<T> here = quad(start + c, true), rhs = quad(b + c, true);
    // Red is in columns parity, parity + 2, ... and its neighbours along k, except one, are in the others.
    const int parity = first_column(i, j, 0);
    const bool end_in_cube = parity ? k + columns < n : k > 0 && k <= n;
    const T end = end_in_cube ? start[parity ? c + columns : c - 1] : T(0);
    Half<T> updated, of_red, of_black;
#pragma unroll
    for (int v = 0; v < pairs; ++v) {
        const auto red_of = [&](const Quad<T>& values) {
            return parity ? values.v[2 * v + 1] : values.v[2 * v];
        };
        const auto black_of = [&](const Quad<T>& values) {
            return parity ? values.v[2 * v] : values.v[2 * v + 1];
        };
        const T before = v > 0 ? here.v[v > 0 ? 2 * v - 1 : 0] : end;
        const T after = v + 1 < pairs ? here.v[v + 1 < pairs ? 2 * v + 2 : 0] : end;
        const T sum = ((red_of(up) + red_of(down)) + (red_of(north) + red_of(south))) +
                      (black_of(here) + (parity ? after : before));
        of_red.v[v] = red_of(rhs);
        of_black.v[v] = black_of(rhs);
        updated.v[v] = k + 2 * v + parity < n ? (of_red.v[v] + sum) * T(1.0 / 6.0) : T(0);
    }
    const std::size_t to = (static_cast<std::size_t>(i) * n + j) * row_size + m;
    *reinterpret_cast<Half<T>*>(red + to) = updated;
    *reinterpret_cast<Half<T>*>(b_red + to) = of_red;
    *reinterpret_cast<Half<T>*>(b_black + to) = of_black;
}

template <class T>
static void begin(const T* start, const T* b, T* red, T* b_red, T* b_black, int n, cudaStream_t stream) {
    const auto blocks = [](std::size_t all, unsigned each) {
        return static_cast<unsigned>((all + each - 1) / each);
    };
    const dim3 block(16, 4, 4);
    const dim3 grid(blocks(red_black::half_row(n), block.x * 8 / sizeof(T)), blocks(n, block.y),
                    blocks(n, block.z));
    const auto kernel = n % 4 == 0 ? begin_kernel<T, true> : begin_kernel<T, false>;
    kernel<<<grid, block, 0, stream>>>(start, b, red, b_red, b_black, n);
    CUDA_CHECK(cudaGetLastError());
}

/// Queues one pass of `iterations` iterations.
template <class T, int iterations, bool last>
static void pass(const T* red, const T* b_red, const T* b_black, T* next, double* norms, int n,
                 cudaStream_t stream) {
    using S = Shape<T, iterations, last>;
    const auto tiles = [n](int tile) {
        const int step = tile - 2 * halo;
        return n <= tile ? 1 : (n - tile + step - 1) / step + 1;
    };
    const int along_k = tiles(S::tile_k);

    // A block fills a multiprocessor. Large tiles and long chunks repeat less at their edges; small ones keep
    // all multiprocessors busy to the end. A step takes some time for the plane and some for each group.
    int device = 0, sms = 0, room = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    int chunk = 0, groups = 0;
    long least = 0;
    for (int tried = 4; tried <= most_groups && S::bytes(tried) <= static_cast<std::size_t>(room);
         tried += 2) {
        for (int chunks = 1; chunks <= (n + 15) / 16; ++chunks) {
            // As many steps as a multiple of `planes`, by which the kernel's loop is unrolled.
            const int more = halo + S::halves;
            const int steps = ((n + chunks - 1) / chunks + more + planes - 1) / planes * planes;
            const int size = steps - more;
            const long blocks = static_cast<long>(along_k) * tiles(rows * tried) * ((n + size - 1) / size);
            const long cost = (blocks + sms - 1) / sms * (steps + 4) * (tried + 4);
            if (least == 0 || cost < least) least = cost, chunk = size, groups = tried;
        }
    }

    const bool whole = n % 4 == 0;
    const auto kernel =
        whole ? wavefront_kernel<T, iterations, last, true> : wavefront_kernel<T, iterations, last, false>;
    const std::size_t bytes = S::bytes(groups);
    rungs::allow_shared_memory(kernel, bytes);
    const dim3 block(lanes, groups), grid(along_k, tiles(rows * groups), (n + chunk - 1) / chunk);
    kernel<<<grid, block, bytes, stream>>>(red, b_red, b_black, next, norms, n, chunk);
    CUDA_CHECK(cudaGetLastError());
}

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream) {
    constexpr int most = 2;  // iterations a pass: more would spoil more of a tile than they save
    const std::size_t bytes = static_cast<std::size_t>(n) * n * n * sizeof(T);

    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    if (iterations == 0) {
        CUDA_CHECK(cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, stream));
        return;
    }
    const red_black::Split<T> halves(work, n);
    T *red = halves.u[0], *next = halves.u[1];  // no black: one of two iterates each
    const T *b_red = halves.b[0], *b_black = halves.b[1];
    begin(start, b, red, halves.b[0], halves.b[1], n, stream);
    int done = 1;  // of iterations, the red half-sweeps
    for (; iterations - done >= most; done += most) {
        pass<T, most, false>(red, b_red, b_black, next, norms + done - 1, n, stream);
        std::swap(red, next);
    }
    const auto end = iterations > done ? pass<T, 1, true> : pass<T, 0, true>;
    end(red, b_red, b_black, u, norms + done - 1, n, stream);
    red_black::take_roots(norms, iterations, stream);
}
// END SOLUTION

void red_black::wavefront(const float* start, const float* b, float* u, double* norms, float* work, int n,
                          int iterations, cudaStream_t stream) {
    // TODO 11.2: float.
    // BEGIN SOLUTION
    launch(start, b, u, norms, work, n, iterations, stream);
    // END SOLUTION
}

void red_black::wavefront(const double* start, const double* b, double* u, double* norms, double* work, int n,
                          int iterations, cudaStream_t stream) {
    // TODO 11.3: double.
    // BEGIN SOLUTION
    launch(start, b, u, norms, work, n, iterations, stream);
    // END SOLUTION
}
