// Several iterations in one pass over memory. A block streams through the planes of a column of the cube.
// While plane i arrives, plane i - 1 gets its red update, plane i - 2 its black one, plane i - 3 the red one
// of the next iteration, and so on: a wavefront of half-sweeps, each one plane behind the one before, so that
// every update finds the values it needs. Planes on their way stay in registers; memory is read once and
// written once for all iterations of the pass.

#include <algorithm>

#include "norm.cuh"
#include "red_black.cuh"
#include "rungs/shared_memory.cuh"

static constexpr int planes = 8;   ///< that a thread keeps of its columns, an even number
static constexpr int lanes = 16;   ///< threads along k
static constexpr int groups = 16;  ///< threads along j
static constexpr int rows = 4;     ///< of a thread, along j

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
/// begins one iteration more, whose red half-sweep finds the norm of what it stores, and stores nothing.
template <class T, int iterations, bool last>
struct Shape {
    static constexpr int stored = 2 * iterations;   ///< half-sweeps of which the result is stored
    static constexpr int halves = stored + last;    ///< half-sweeps, each a plane behind the one before
    static constexpr int halo = stored + 2 * last;  ///< points at a tile's rim that end up wrong, or one more
    static constexpr int columns = 16 / sizeof(T);  ///< of a thread, along k
    static constexpr int tile_k = lanes * columns, tile_j = groups * rows;
    static constexpr int step_k = tile_k - 2 * halo, step_j = tile_j - 2 * halo;  ///< from tile to tile

    /// What the threads of a block show each other, and where each keeps its right-hand sides.
    struct Shared {
        Half<T> rim[halves][2][2][groups + 2][lanes];  ///< [half-sweep][turn][first or last row][1 + group]
        Half<T> b[planes][2][rows][groups][lanes];     ///< [plane][colour]
    };
};

/// The first column of a thread that has this colour in `row` of `plane`; the others are two and four further
/// on.
static __device__ constexpr int first_column(int plane, int row, int colour) {
    return (plane + row + colour) & 1;
}

/// A block owns a tile of columns and `chunk` planes of it, a thread `rows` x `columns` columns. Tiles
/// overlap: the `halo` points next to another tile are that one's. The squares of the residual that each
/// red half-sweep finds go to *before, unless that is null, for the first one, and to after[0], after[1], ...
/// for the others.
template <class T, int iterations, bool last, bool whole>
__global__ void __launch_bounds__(lanes* groups, 1)
    wavefront_kernel(const T* b, const T* old, T* next, double* before, double* after, int n, int chunk) {
    using S = Shape<T, iterations, last>;
    constexpr int columns = S::columns;
    extern __shared__ __align__(16) unsigned char memory[];
    auto& shared = *reinterpret_cast<typename S::Shared*>(memory);
    const int lane = threadIdx.x, group = threadIdx.y;
    const int k = blockIdx.x * S::step_k + columns * lane, j = blockIdx.y * S::step_j + rows * group;
    const int begin = blockIdx.z * chunk, end = min(n, begin + chunk), start = begin - S::halo;
    const long long plane_size = static_cast<long long>(n) * n;

    // Points of this thread that are in the cube, and that are this block's and not a neighbour's.
    const auto inside = [&](int r, int c) { return j + r < n && k + c < n; };
    const auto owns = [](int x, int tile, int index, int count) {
        return (x >= S::halo || index == 0) && (x < tile - S::halo || index == count - 1);
    };
    bool owned[rows / 2][2];  // by pairs of rows and halves of the columns: tiles do not divide them further
    T sixth[rows];            // 0 keeps what is outside at 0
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        sixth[r] = inside(r, 0) ? T(1.0 / 6.0) : T(0);
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            owned[r / 2][c] = owns(rows * group + r, S::tile_j, blockIdx.y, gridDim.y) &&
                              owns(columns * lane + c * columns / 2, S::tile_k, blockIdx.x, gridDim.x);
        }
    }

    const T* from_old = old + start * plane_size + j * static_cast<long long>(n) + k;
    const T* from_b = b + start * plane_size + j * static_cast<long long>(n) + k;
    T* to = next + begin * plane_size + j * static_cast<long long>(n) + k;
    const auto fetch = [&](const T* from, int plane, T(&into)[rows][columns]) {
        const bool exists = plane >= 0 && plane < n;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            Quad<T> quad{};
            if (whole && exists && inside(r, 0)) quad = *reinterpret_cast<const Quad<T>*>(from + r * n);
#pragma unroll
            for (int c = 0; c < columns; ++c) {
                if (!whole && exists && inside(r, c)) quad.v[c] = from[r * n + c];
                into[r][c] = quad.v[c];
            }
        }
    };

    T u[planes][rows][columns] = {};  // plane i is u[(i - start) % planes]
    T arriving[rows][columns], arriving_b[rows][columns];
    T squares[iterations + last] = {};
    fetch(from_old, start, arriving);
    fetch(from_b, start, arriving_b);
    for (int half = 0; half < S::halves; ++half) {  // beyond the tile's first and last row there are zeros
        for (int turn = 0; turn < 2; ++turn) {
            if (group == 0) shared.rim[half][turn][1][0][lane] = Half<T>{};
            if (group == 0) shared.rim[half][turn][0][groups + 1][lane] = Half<T>{};
        }
    }

    const int newest = end - 1 + S::halves;  // the last plane that arrives
    for (int base = start; base <= newest; base += planes) {
#pragma unroll
        for (int phase = 0; phase < planes; ++phase) {  // unrolled: u[] must be indexed by constants
            const int i = base + phase;
            const int turn = phase & 1;

#pragma unroll
            for (int r = 0; r < rows; ++r) {
#pragma unroll
                for (int c = 0; c < columns; ++c) u[phase][r][c] = arriving[r][c];
#pragma unroll
                for (int colour = 0; colour < 2; ++colour) {
                    Half<T> rhs;
#pragma unroll
                    for (int c = 0; c < columns / 2; ++c)
                        rhs.v[c] = arriving_b[r][2 * c + first_column(phase, r, colour)];
                    shared.b[phase][colour][r][group][lane] = rhs;
                }
            }
            from_old += plane_size;
            from_b += plane_size;
            fetch(from_old, i + 1, arriving);  // long before it is needed
            fetch(from_b, i + 1, arriving_b);

#pragma unroll
            for (int half = -1; half < S::halves; ++half) {
                const int slot = (phase - 1 - half + 2 * planes) % planes, plane = i - 1 - half;
                const int colour = half & 1;
                if (half >= 0 && plane >= max(start, 0) && plane < n) {
                    const T(&above)[rows][columns] = u[(slot + planes - 1) % planes];
                    const T(&below)[rows][columns] = u[(slot + 1) % planes];
                    T(&mine)[rows][columns] = u[slot];
                    const Half<T> north = shared.rim[half < 0 ? 0 : half][turn][1][group][lane];
                    const Half<T> south = shared.rim[half < 0 ? 0 : half][turn][0][group + 2][lane];
                    const bool counts = colour == 0 && plane >= begin && plane < end;
                    // TODO 8.1 (about 21 lines): update the thread's points of this colour in `mine`. In row r they
                    // are columns first_column(slot, r, colour), and every second after it. Two neighbours
                    // are in `above` and `below`; two in `mine`, or in `north` and `south` for the first and
                    // the last row; two in `mine`, or with the lane beside, which hands its value over by a
                    // shuffle (0 at the tile's two ends). Right-hand sides:
                    // shared.b[slot][colour][r][group][lane].v[c / 2]. Multiply by sixth[r], and keep points
                    // that are not inside() at 0. If the plane counts and the point is owned[r / 2][c * 2 /
                    // columns], the square of the change goes to squares[half / 2].
                    (void)above, (void)below, (void)mine, (void)north, (void)south, (void)counts, (void)sixth;
                }
                // The next half-sweep will need this colour of the plane from the threads around.
                if (half + 1 < S::halves) {
#pragma unroll
                    for (int r = 0; r < rows; r += rows - 1) {
                        Half<T> shown;
#pragma unroll
                        for (int c = 0; c < columns / 2; ++c) {
                            shown.v[c] = u[slot][r][2 * c + first_column(slot, r, colour)];
                        }
                        shared.rim[half + 1][1 - turn][r > 0][group + 1][lane] = shown;
                    }
                }
            }

            if (i - S::stored >= begin && i - S::stored < end) {
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    const T(&done)[columns] = u[(phase - S::stored + planes) % planes][r];
                    const bool left = owned[r / 2][0], right = owned[r / 2][1];
                    Quad<T> quad;
#pragma unroll
                    for (int c = 0; c < columns; ++c) {
                        quad.v[c] = done[c];
                        const bool mine = c < columns / 2 ? left : right;
                        if (!(whole && left && right) && mine && inside(r, c)) to[r * n + c] = done[c];
                    }
                    if (whole && left && right && inside(r, 0))
                        *reinterpret_cast<Quad<T>*>(to + r * n) = quad;
                }
                to += plane_size;
            }
            __syncthreads();  // what was shown may be read, and what was read may be overwritten
        }
    }

#pragma unroll
    for (int t = 0; t < iterations + last; ++t) {
        double* const total = t > 0 ? after + t - 1 : before;
        if (total)
            red_black::add_over_block(36.0 * squares[t], total);  // the residual is six times the change
    }
}

/// Queues one pass of `iterations` iterations from `old` to `next`.
template <class T, int iterations, bool last>
static void pass(const T* b, const T* old, T* next, double* before, double* after, int n,
                 cudaStream_t stream) {
    using S = Shape<T, iterations, last>;
    const auto tiles = [n](int tile, int step) { return n <= tile ? 1 : (n - tile + step - 1) / step + 1; };
    const int along_k = tiles(S::tile_k, S::step_k), along_j = tiles(S::tile_j, S::step_j);

    // Short chunks of planes keep all multiprocessors busy to the end; long ones repeat less at their ends.
    int device = 0, sms = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    int chunk = 0;
    long least = 0;
    for (int chunks = 1; chunks <= (n + 15) / 16; ++chunks) {
        // As many steps as a multiple of `planes`, by which the kernel's loop is unrolled.
        const int steps = ((n + chunks - 1) / chunks + 2 * S::halo + planes - 1) / planes * planes;
        const int size = steps - 2 * S::halo;
        const long waves = (static_cast<long>(along_k) * along_j * ((n + size - 1) / size) + sms - 1) / sms;
        const long cost = waves * steps;
        if (least == 0 || cost < least) least = cost, chunk = size;
    }

    const bool whole = n % S::columns == 0;  // rows begin at 16-byte boundaries
    const auto kernel =
        whole ? wavefront_kernel<T, iterations, last, true> : wavefront_kernel<T, iterations, last, false>;
    constexpr std::size_t bytes = sizeof(typename S::Shared);
    rungs::allow_shared_memory(kernel, bytes);
    const dim3 block(lanes, groups), grid(along_k, along_j, (n + chunk - 1) / chunk);
    kernel<<<grid, block, bytes, stream>>>(b, old, next, before, after, n, chunk);
    CUDA_CHECK(cudaGetLastError());
}

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream) {
    constexpr int most = 2;  // iterations a pass: more would not fit into registers
    const std::size_t bytes = static_cast<std::size_t>(n) * n * n * sizeof(T);

    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    if (iterations == 0) CUDA_CHECK(cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, stream));
    const T* old = start;
    for (int done = 0; done < iterations;) {
        const int now = std::min(most, iterations - done), left = (iterations - done + most - 1) / most;
        T* const next = left % 2 ? u : work;  // the last one is u
        double* const before = done > 0 ? norms + done - 1 : nullptr;
        const auto run = left > 1      ? pass<T, most, false>
                         : now == most ? pass<T, most, true>
                                       : pass<T, 1, true>;
        run(b, old, next, before, norms + done, n, stream);
        done += now;
        old = next;
    }
    red_black::take_roots(norms, iterations, stream);
}

void red_black::wavefront(const float* start, const float* b, float* u, double* norms, float* work, int n,
                          int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}

void red_black::wavefront(const double* start, const double* b, double* u, double* norms, double* work, int n,
                          int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}
