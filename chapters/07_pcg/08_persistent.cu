// One launch that keeps everything it can: a block owns a brick of the cube, with x, r, p and w = A p in
// registers and shared memory from the first iteration to the last. What it needs of its neighbours is p one
// cell beyond its faces. That it works out itself: it keeps r and p there, too, and is told w. So an
// iteration sends one number for each cell of a face, and waits once.

#include <algorithm>

#include "solver.cuh"

using namespace pcg;

static constexpr int most_threads = 1024;
static constexpr int most_rim = 6;  ///< cells around its brick that a thread looks after

/// A cube of 2 or 3 dimensions, cut into bricks of whole rows, `high` x `deep` of them. A thread owns the
/// cells of a brick that share the first and the last coordinate. Of a square, the coordinate between has the
/// one value 0.
struct Bricks {
    int dimensions, side, sides_high;  ///< of the cube; sides_high is side, or 1 of a square
    int high, deep;
    int stacks, layers;  ///< bricks along the coordinate between, and along the last one

    __host__ __device__ int rim_rows() const { return 2 * (high + deep); }
    __host__ __device__ int padded() const { return (high + 2) * (deep + 2) * side; }
};

template <class T, int most_high>
__global__ void __launch_bounds__(most_threads, 1)
    persistent_kernel(const T* b, T* x, double* history, int* outcome, T* exchange, double* partial,
                      Bricks bricks, int limit, double tolerance) {
    extern __shared__ double memory[];
    const int side = bricks.side, high = bricks.high, deep = bricks.deep;
    const int column = threadIdx.x % side, layer = threadIdx.x / side;
    const int y0 = blockIdx.x % bricks.stacks * high, z0 = blockIdx.x / bricks.stacks * deep;
    const long long n = static_cast<long long>(side) * side * bricks.sides_high;
    const T diagonal = 2 * bricks.dimensions;
    GridSums over_grid(partial);

    // p of the brick and around it; r of the brick; r around it.
    T* const p = reinterpret_cast<T*>(memory);
    T* const r = p + bricks.padded();
    T* const rim_r = r + high * blockDim.x;
    const auto place = [&](int y, int z) { return ((z + 1) * (high + 2) + y + 1) * side + column; };
    const auto index = [&](int y, int z) {
        return (static_cast<long long>(z0 + z) * bricks.sides_high + y0 + y) * side + column;
    };
    const auto exists = [&](int y, int z) {
        return y0 + y >= 0 && y0 + y < bricks.sides_high && z0 + z >= 0 && z0 + z < side;
    };
    // action(number, y, z) for the cells of this thread, and for those of the rim that it looks after.
    const auto for_own = [&](const auto& action) {
#pragma unroll
        for (int y = 0; y < most_high; ++y) {
            if (y < high && layer < deep && exists(y, layer)) action(y, y, layer);
        }
    };
    const auto for_rim = [&](const auto& action) {
#pragma unroll
        for (int i = 0; i < most_rim; ++i) {
            const int row = layer + i * deep;
            if (layer >= deep || row >= bricks.rim_rows()) break;
            const int side_row = row - 2 * deep;
            const int y = side_row >= 0 ? side_row % high : row < deep ? -1 : high;
            const int z = side_row < 0 ? row % deep : side_row < high ? -1 : deep;
            if (exists(y, z)) action(i, y, z);
        }
    };
    const auto rim_place = [&](int i) { return (layer + i * deep) * side + column; };

    for (int i = threadIdx.x; i < bricks.padded(); i += blockDim.x)
        p[i] = 0;  // and so it stays outside of the cube
    T own_x[most_high] = {}, w[most_high] = {}, rim_w[most_rim] = {};
    for_own([&](int i, int y, int z) { r[i * blockDim.x + threadIdx.x] = b[index(y, z)]; });
    for_rim([&](int i, int y, int z) { rim_r[rim_place(i)] = b[index(y, z)]; });
    __syncthreads();

    T alpha = 0, beta = 0;
    double bb = 0;
    bool carried = false;  // r is not b - A x, but what the recurrence says
    int k = 0, turn = 0, what;
    for (;;) {
        Sums<4> sums;  // r.r, p.w, r.w, w.w
        // TODO 8.1 (about 8 lines): step. In the brick: x += alpha p, r -= alpha w, then p = r + beta p. Around it the
        // same, without x: there r is rim_r[rim_place(i)], and w is rim_w[i].
        __syncthreads();
        T* const shown = exchange + turn * n;  // two places in turn: a neighbour may still read the other
        turn ^= 1;
        for_own([&](int i, int y, int z) {
            const int c = place(y, z);
            T around = p[c - side * (high + 2)] + p[c + side * (high + 2)] + p[c - side] + p[c + side];
            if (column > 0) around += p[c - 1];
            if (column + 1 < side) around += p[c + 1];
            w[i] = diagonal * p[c] - around;
            const double own_r = r[i * blockDim.x + threadIdx.x];
            sums.of[0] += own_r * own_r;
            sums.of[1] += double(p[c]) * w[i];
            sums.of[2] += own_r * w[i];
            sums.of[3] += double(w[i]) * w[i];
            if (y == 0 || y == high - 1 || z == 0 || z == deep - 1) shown[index(y, z)] = w[i];
        });
        over_grid.meet(sums);
        for_rim([&](int i, int y, int z) { rim_w[i] = __ldcg(&shown[index(y, z)]); });
        sums = over_grid.collect<4>();
        const double rr = sums.of[0], pw = sums.of[1], rw = sums.of[2], ww = sums.of[3];
        if (k == 0) bb = rr;
        what = verdict(rr, bb, k, limit, tolerance);
        if (what == converged && carried) {  // it seems to be the end: look again
            T* const fresh = exchange + 2 * n;
            for_own([&](int i, int y, int z) { x[index(y, z)] = own_x[i]; });
            cooperative_groups::this_grid().sync();
            Sums<1> square;
            for_own([&](int i, int y, int z) {
                const long long c = index(y, z), row = side, plane = row * bricks.sides_high;
                T around = 0;
                if (column > 0) around += x[c - 1];
                if (column + 1 < side) around += x[c + 1];
                if (y0 + y > 0) around += x[c - row];
                if (y0 + y + 1 < bricks.sides_high) around += x[c + row];
                if (z0 + z > 0) around += x[c - plane];
                if (z0 + z + 1 < side) around += x[c + plane];
                const T now = b[c] - (diagonal * own_x[i] - around);
                square.of[0] += double(now) * now;
                p[place(y, z)] -= r[i * blockDim.x + threadIdx.x];
                r[i * blockDim.x + threadIdx.x] = fresh[c] = now;
            });
            square = over_grid(square);
            if (!(square.of[0] <=
                  tolerance * tolerance * bb)) {  // go on from here: the same p - r, another r
                for_rim([&](int i, int y, int z) {
                    p[place(y, z)] -= rim_r[rim_place(i)];
                    rim_r[rim_place(i)] = __ldcg(&fresh[index(y, z)]);
                });
                alpha = 0, beta = 1;
                carried = false;
                continue;
            }
            if (blockIdx.x == 0 && threadIdx.x == 0) history[k] = sqrt(square.of[0]);
            break;
        }
        if (blockIdx.x == 0 && threadIdx.x == 0) history[k] = sqrt(rr);
        if (what >= 0) break;
        if (!(pw > 0) || isinf(pw)) {
            what = breakdown;
            break;
        }
        // TODO 8.2 (about 3 lines): alpha and beta, as in rung 05.
        ++k;
        carried = true;
    }
    for_own([&](int i, int y, int z) { x[index(y, z)] = own_x[i]; });
    if (blockIdx.x == 0 && threadIdx.x == 0) outcome[0] = what, outcome[1] = k;
}

/// What does not fit on the chip, or has another dimension: one launch, but vectors in global memory.
template <class T, int d>
__global__ void __launch_bounds__(most_threads, 1)
    streamed_kernel(const T* b, T* x, double* history, int* outcome, T* vectors, double* partial, int side,
                    int limit, double tolerance) {
    GridSums over_grid(partial);
    const long long n = cells(d, side), threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long me = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    T *const r = vectors, *const p = r + n, *const w = p + n;
    const auto sum =
        [&](const auto& term) {  // term(i) for all cells: one after the other, then over the grid
            Sums<1> own;
            for (long long i = me; i < n; i += threads) own.of[0] += term(i);
            return over_grid(own).of[0];
        };
    double rr = sum([&](long long i) {
        x[i] = 0, r[i] = p[i] = b[i];
        return double(b[i]) * b[i];
    });
    const double bb = rr;
    int k = 0, what;
    for (;; ++k) {
        if (me == 0) history[k] = sqrt(rr);
        what = verdict(rr, bb, k, limit, tolerance);
        if (what >= 0) break;
        const double pw = sum([&](long long i) {
            w[i] = laplace_at(p, Cell<d>(i, side), side);
            return double(p[i]) * w[i];
        });
        if (!(pw > 0) || isinf(pw)) {
            what = breakdown;
            break;
        }
        const T alpha = static_cast<T>(rr / pw);
        double next = sum([&](long long i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * w[i];
            return double(r[i]) * r[i];
        });
        if (next <= tolerance * tolerance * bb) {  // it seems to be the end: look again
            next = sum([&](long long i) {
                r[i] = b[i] - laplace_at(x, Cell<d>(i, side), side);
                return double(r[i]) * r[i];
            });
        }
        const T beta = static_cast<T>(next / rr);
        rr = next;
        for (long long i = me; i < n; i += threads) p[i] = r[i] + beta * p[i];
        cooperative_groups::this_grid().sync();
    }
    if (me == 0) outcome[0] = what, outcome[1] = k;
}

/// The way to cut that leaves a thread the fewest cells. @returns whether there is one
static bool cut(Bricks& best, int d, int side, std::size_t element, int blocks, std::size_t room,
                int most_high) {
    int least = 0;
    if ((d != 2 && d != 3) || side < 1) return false;
    for (int deep = 1; deep <= std::min(side, most_threads / side); ++deep) {
        for (int high = 1; high <= std::min(most_high, d == 3 ? side : 1); ++high) {
            Bricks now{d, side, d == 3 ? side : 1, high, deep, 0, (side + deep - 1) / deep};
            now.stacks = (now.sides_high + high - 1) / high;
            const int rim = (now.rim_rows() + deep - 1) / deep;
            const std::size_t numbers =
                now.padded() + high * ((side * deep + 31) / 32 * 32) + now.rim_rows() * side;
            if (now.stacks * now.layers > blocks || rim > most_rim || numbers * element > room) continue;
            if (least == 0 || 2 * high + rim < least) best = now, least = 2 * high + rim;
        }
    }
    return least > 0;
}

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int d, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    with_dimensions(d, side, [&](auto dimensions) {
        constexpr int most = decltype(dimensions)::value;
        const long long n = cells(most, side);
        clear_history(history, limit, stream);
        const int sms = device_attribute(cudaDevAttrMultiProcessorCount);
        auto* const memory = static_cast<unsigned char*>(
            rungs::stream_workspace(stream, GridSums::bytes(sms) + 3 * n * sizeof(T)));
        auto* partial = reinterpret_cast<double*>(memory);
        T* vectors = reinterpret_cast<T*>(memory + GridSums::bytes(sms));

        Bricks bricks;
        const std::size_t room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 2048;
        constexpr int few = 4, many = sizeof(T) == 4 ? 16 : 8;
        if (cut(bricks, most, side, sizeof(T), sms, room, many)) {
            const int threads = (side * bricks.deep + 31) / 32 * 32;
            const std::size_t bytes =
                (bricks.padded() + bricks.high * threads + bricks.rim_rows() * side) * sizeof(T);
            const auto kernel = bricks.high <= few ? persistent_kernel<T, few> : persistent_kernel<T, many>;
            CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(bytes)));
            void* arguments[] = {&b, &x, &history, &outcome, &vectors, &partial, &bricks, &limit, &tolerance};
            CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(bricks.stacks * bricks.layers), dim3(threads),
                                                   arguments, bytes, stream));
        } else {
            const int blocks = static_cast<int>(std::clamp<long long>(n / most_threads, 1, sms));
            const int threads = static_cast<int>(std::clamp<long long>((n + 31) / 32 * 32, 32, most_threads));
            void* arguments[] = {&b, &x, &history, &outcome, &vectors, &partial, &side, &limit, &tolerance};
            CUDA_CHECK(cudaLaunchCooperativeKernel(streamed_kernel<T, most>, dim3(blocks), dim3(threads),
                                                   arguments, 0, stream));
        }
    });
}

void pcg::persistent(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                     double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}

void pcg::persistent(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                     double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}
