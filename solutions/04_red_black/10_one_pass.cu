// Both colours in one pass, and only red ones through memory: what an iteration leaves is known when its red
// points are, since black ones follow from them. The norm falls out of the pass as in rung 07.

#include <algorithm>
#include <utility>

#include "red_black.cuh"
#include "rungs/shared_memory.cuh"
#include "split.cuh"

// TODO 10.1: kernels and launches of all iterations, with their norms. The design is yours. split.cuh has the
// layout by colour and moves start and b into it; rungs::allow_shared_memory raises a kernel's limit of
// dynamic shared memory above 48 KiB.
// BEGIN SOLUTION
using red_black::Four;

static constexpr int lanes = 16, rows = 24;  ///< threads of a block along k and j
static constexpr int most_planes = 64;       ///< of a block

/// Blocks of a multiprocessor: all that fit, given the registers that a thread needs.
template <class T>
static constexpr int resident = 8 / sizeof(T);

/// What the threads of a block show each other of a colour in a plane, with a halo of zeros.
template <class T>
struct Shown {
    T of[rows + 2][4 * (lanes + 2)];
};

/// The sums of the six neighbours of a thread's four elements, from the other colour: above, here and below
/// are the thread's own elements of it in three planes. parity = (i + j + colour) & 1: the row's points of
/// this colour have even or odd k.
template <class T>
static __device__ Four<T> sums(const Four<T>& above, const Four<T>& here, const Four<T>& below,
                               const Shown<T>& shown, int parity) {
    const int row = threadIdx.y + 1, m = 4 * (threadIdx.x + 1);
    const Four<T> north = *reinterpret_cast<const Four<T>*>(&shown.of[row - 1][m]);
    const Four<T> south = *reinterpret_cast<const Four<T>*>(&shown.of[row + 1][m]);
    const T end = shown.of[row][parity ? m + 4 : m - 1];
    return red_black::six_sums(above, below, north, south, here, end, parity);
}

/// A thread owns elements m, ... m + 3 of both colours in a row, and `chunk` planes of them. Tiles overlap,
/// by two lanes and four rows. `red` has the red points of an iterate, `next` gets those of the next one. The
/// squares of the residual of the first are added to *total, unless that is null.
template <class T>
__global__ void __launch_bounds__(lanes* rows, resident<T>)
    one_pass_kernel(const T* b_red, const T* b_black, const T* red, T* next, double* total, int n,
                    int chunk) {
    extern __shared__ __align__(16) unsigned char memory[];
    auto& shown = *reinterpret_cast<Shown<T>(*)[2][2]>(memory);  // [turn][colour]
    const int lane = threadIdx.x, row = threadIdx.y;
    const int m = 4 * (blockIdx.x * (lanes - 2) + lane), j = blockIdx.y * (rows - 4) + row;
    const bool inside = j < n && 2 * m < n;
    // What is computed at a tile's edge lacks neighbours, unless the cube ends there. The next
    // tile has it right.
    const bool owned = inside && (lane > 0 || blockIdx.x == 0) &&
                       (lane < lanes - 1 || blockIdx.x == gridDim.x - 1) && (row >= 2 || blockIdx.y == 0) &&
                       (row < rows - 2 || blockIdx.y == gridDim.y - 1);
    const int begin = blockIdx.z * chunk, end = min(n, begin + chunk);
    const long long plane_size = static_cast<long long>(n) * red_black::half_row(n);
    const long long here = static_cast<long long>(j) * red_black::half_row(n) + m;
    const auto load = [&](const T* array, int plane) {
        const bool exists = inside && plane >= 0 && plane < n;
        return exists ? red_black::four(array, plane * plane_size + here) : Four<T>{};
    };
    const auto show = [&](int turn, int colour, const Four<T>& values) {
        *reinterpret_cast<Four<T>*>(&shown[turn][colour].of[row + 1][4 * (lane + 1)]) = values;
    };

    for (unsigned x = row * lanes + lane; x < sizeof(shown) / sizeof(T); x += lanes * rows)
        reinterpret_cast<T*>(memory)[x] = T(0);
    __syncthreads();
    int i = begin - 1;
    Four<T> red_above = load(red, i - 1), red_here = load(red, i);
    Four<T> black_above{}, black_here{};
    Four<T> arriving = load(red, i + 1), arriving_black = load(b_black, i), arriving_red{};
    double squares = 0;
    show(0, 0, red_here);
    __syncthreads();

    for (int turn = 0; i <= end; ++i, turn = 1 - turn) {
        const Four<T> red_below = arriving, rhs_black = arriving_black, rhs_red = arriving_red;
        arriving = load(red, i + 2);  // long before they are needed
        arriving_black = load(b_black, i + 1);
        arriving_red = load(b_red, i);

        // Black of plane i, and red of plane i - 1, whose points have the same parity.
        const int parity = (i + j + 1) & 1;
        Four<T> black_below{};
        const Four<T> of_red = sums(red_above, red_here, red_below, shown[turn][0], parity);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            if (i >= 0 && i < n && j < n && 2 * (m + v) + parity < n)
                black_below.v[v] = (rhs_black.v[v] + of_red.v[v]) * T(1.0 / 6.0);
        }
        const Four<T> of_black = sums(black_above, black_here, black_below, shown[turn][1], parity);
        const Four<T>& mine = red_above;
        Four<T> updated{};
        T squares_here = 0;
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            if (2 * (m + v) + parity < n) updated.v[v] = (rhs_red.v[v] + of_black.v[v]) * T(1.0 / 6.0);
            const T residual = T(6) * (updated.v[v] - mine.v[v]);
            squares_here += residual * residual;
        }
        if (owned && i > begin) {
            squares += squares_here;
            *reinterpret_cast<Four<T>*>(next + (i - 1) * plane_size + here) = updated;
        }

        show(1 - turn, 0, red_below);
        show(1 - turn, 1, black_below);
        __syncthreads();  // what was shown may be read, and what was read may be overwritten
        red_above = red_here, red_here = red_below;
        black_above = black_here, black_here = black_below;
    }
    if (total) red_black::add_over_block(squares, total);
}

/// Updates the points of one colour. A thread owns four elements of it.
template <class T>
__global__ void half_sweep_kernel(const T* b, const T* other, T* own, int n, int colour) {
    const int m = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.z;
    if (j >= n || 2 * m >= n) return;
    const int parity = (i + j + colour) & 1;
    const std::size_t c = (static_cast<std::size_t>(i) * n + j) * red_black::half_row(n) + m;
    const Four<T> rhs = red_black::four(b, c);
    const Four<T> sum = red_black::four_neighbours(other, c, i, j, m, parity, n);
    Four<T> updated{};
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        if (2 * (m + v) + parity < n) updated.v[v] = (rhs.v[v] + sum.v[v]) * T(1.0 / 6.0);
    }
    *reinterpret_cast<Four<T>*>(own + c) = updated;
}

template <class T>
static void half_sweep(const red_black::Split<T>& halves, int colour, int n, cudaStream_t stream) {
    const dim3 block(16, 16), grid((red_black::half_row(n) + 63) / 64, (n + 15) / 16, n);
    half_sweep_kernel<<<grid, block, 0, stream>>>(halves.b[colour], halves.u[1 - colour], halves.u[colour], n,
                                                  colour);
    CUDA_CHECK(cudaGetLastError());
}

/// Planes of a block, so that the GPU is busy to the end and little is repeated at the ends of chunks.
static int chunk_for(int tiles, int n, int resident) {
    int device = 0, sms = 0, chunk = 1;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    long least = 0;
    for (int size = std::min(n, most_planes); size > 0; --size) {
        const long blocks = static_cast<long>(tiles) * ((n + size - 1) / size), slots = sms * resident;
        const long cost = (blocks + slots - 1) / slots * (size + 5);  // it takes some steps to begin
        if (least == 0 || cost < least) least = cost, chunk = size;
    }
    return chunk;
}

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream) {
    red_black::Split<T> halves(work, n);
    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    red_black::split(start, halves.u, n, stream);
    red_black::split(b, halves.b, n, stream);
    if (iterations > 0) {
        // The first red half-sweep is the only one that sees the black points of the start. Then their array
        // has the red points of every second iterate, until the last black half-sweep.
        half_sweep(halves, 0, n, stream);
        const auto tiles = [](int all, int tile, int step) {
            return all <= tile ? 1 : (all - tile + step - 1) / step + 1;
        };
        // unchecked: several tiles along k need more points than check mode has time for
        const int along_k = tiles(static_cast<int>(red_black::half_row(n)) / 4, lanes, lanes - 2);
        const int along_j = tiles(n, rows, rows - 4), chunk = chunk_for(along_k * along_j, n, resident<T>);
        const dim3 block(lanes, rows), grid(along_k, along_j, (n + chunk - 1) / chunk);
        constexpr std::size_t bytes = 4 * sizeof(Shown<T>);
        const auto kernel = one_pass_kernel<T>;
        rungs::allow_shared_memory(kernel, bytes);
        for (int t = 1; t < iterations; ++t) {  // ends the t-th iteration, and begins the next one
            double* const total = norms + t - 1;
            kernel<<<grid, block, bytes, stream>>>(halves.b[0], halves.b[1], halves.u[0], halves.u[1], total,
                                                   n, chunk);
            CUDA_CHECK(cudaGetLastError());
            std::swap(halves.u[0], halves.u[1]);
        }
        half_sweep(halves, 1, n, stream);
        red_black::add_red_residual(halves, norms + iterations - 1, n, stream);
    }
    red_black::merge(halves.u, u, n, stream);
    red_black::take_roots(norms, iterations, stream);
}
// END SOLUTION

void red_black::one_pass(const float* start, const float* b, float* u, double* norms, float* work, int n,
                         int iterations, cudaStream_t stream) {
    // TODO 10.2: float.
    // BEGIN SOLUTION
    launch(start, b, u, norms, work, n, iterations, stream);
    // END SOLUTION
}

void red_black::one_pass(const double* start, const double* b, double* u, double* norms, double* work, int n,
                         int iterations, cudaStream_t stream) {
    // TODO 10.3: double.
    // BEGIN SOLUTION
    launch(start, b, u, norms, work, n, iterations, stream);
    // END SOLUTION
}
