// A is symmetric, so half of it says everything. A warp takes pieces of 8 x 128 numbers on and below the
// diagonal; each number a_ij serves row i (a_ij r_j) and, mirrored, row j (a_ij r_i). The whole solve is one
// launch. Every block carries its own copy of r along, so one barrier of the grid an iteration is enough; A
// does not change, so the next piece is on its way while the barrier waits; and what fits stays on the chip.

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

#include "rungs/shared_memory.cuh"
#include "solver.cuh"

static constexpr int block_size = 512;
static constexpr int warps = block_size / 32;
static constexpr int height = 8;   // rows of a piece
static constexpr int width = 128;  // columns of a piece, four a lane

/// Pieces are counted down a panel of 128 columns, from its diagonal to the last row, then down the next
/// panel.
struct Piece {
    int row, column;  ///< its first ones

    static __host__ __device__ int in_panel(int column, int n) { return (n - column + height - 1) / height; }

    static __host__ __device__ long long count(int n) {
        long long all = 0;
        for (int column = 0; column < n; column += width) all += in_panel(column, n);
        return all;
    }
    /// @param index below count(n)
    static __device__ Piece at(long long index, int n) {
        int column = 0;
        for (; index >= in_panel(column, n); column += width) index -= in_panel(column, n);
        return {column + static_cast<int>(index) * height, column};
    }
    __device__ Piece next(int n) const {
        return row + height < n ? Piece{row + height, column} : Piece{column + width, column + width};
    }
    __device__ bool on_diagonal() const { return row < column + width; }
};

/// Four floats a lane of each row of a piece.
struct Numbers {
    float4 row[height];
};

/// Which columns of a panel are this lane's: neighbours where rows allow 16-byte loads, else 32 apart.
template <bool quads>
static __device__ int column_of(int c) {
    return quads ? 4 * (threadIdx.x % 32) + c : threadIdx.x % 32 + 32 * c;
}

/// The numbers of a piece on and below the diagonal, and 0 for the others.
template <bool quads>
static __device__ Numbers fetch(const float* a, Piece piece, int n) {
    Numbers f;
    if (piece.on_diagonal() || piece.row + height > n) {  // elements have to be asked for one by one
#pragma unroll
        for (int h = 0; h < height; ++h) {
            const int i = piece.row + h;
            const auto element = [&](int c) {
                const int j = piece.column + column_of<quads>(c);
                return i < n && j <= i ? a[std::size_t(i) * n + j] : 0.0f;
            };
            f.row[h] = {element(0), element(1), element(2), element(3)};
        }
        return f;
    }
    const float* const corner = a + std::size_t(piece.row) * n + piece.column + column_of<quads>(0);
#pragma unroll
    for (int h = 0; h < height; ++h) {
        const float* const p = corner + std::size_t(h) * n;
        if constexpr (quads) {
            f.row[h] = __ldcs(reinterpret_cast<const float4*>(p));  // read once: no need to stay in a cache
        } else {
            f.row[h] = {p[0], p[32], p[64], p[96]};
        }
    }
    return f;
}

/// Uses each number of a piece twice: adds to `down`, for the lane's four columns j, the sums of a_ij v_i,
/// and leaves in across[0] the sum of a_ij v_j of row i = piece.row + lane / 4.
template <bool quads, bool on_diagonal>
static __device__ float multiply(const Numbers& f, Piece piece, const float* v, const float (&vj)[4],
                                 float (&down)[4]) {
    const float4 upper = *reinterpret_cast<const float4*>(v + piece.row);
    const float4 lower = *reinterpret_cast<const float4*>(v + piece.row + 4);
    const float vi[height] = {upper.x, upper.y, upper.z, upper.w, lower.x, lower.y, lower.z, lower.w};
    float across[height];
#pragma unroll
    for (int h = 0; h < height; ++h) {
        const float own[4] = {f.row[h].x, f.row[h].y, f.row[h].z, f.row[h].w};  // row i, columns j
        across[h] = 0;
        // TODO 6.1 (about 5 lines): a_ij v_j belongs to row i: add it to across[h]. Mirrored, a_ij v_i belongs to
        // column j: add it to down[c]. But the diagonal must count once only: there,
        // piece.row + h == piece.column + column_of<quads>(c). The starter forgets the mirror.
        for (int c = 0; c < 4; ++c) across[h] += own[c] * vj[c] + 0 * down[c] * vi[h];
    }
    // Eight sums over the warp at the price of two: half of the lanes go on with half of the rows.
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = height / 2, step = 16; half > 0; half /= 2, step /= 2) {
#pragma unroll
        for (int h = 0; h < half; ++h) {
            const float keep = lane & step ? across[h + half] : across[h];
            const float give = lane & step ? across[h] : across[h + half];
            across[h] = keep + __shfl_xor_sync(0xffffffffu, give, step);
        }
    }
    across[0] += __shfl_xor_sync(0xffffffffu, across[0], 2);
    return across[0] + __shfl_xor_sync(0xffffffffu, across[0], 1);
}

/// What the warps of a block have gathered for the columns of the panels they ended in.
struct Gathered {
    float sum[warps][width];
    int panel[warps];
    int pad[32 - warps];  ///< what follows stays on a 16-byte boundary
};

/// A warp's pieces: `count` in a row. The first `streamed` of them are read in every product, the others are
/// kept in shared memory; a lane reads what it has stored itself, so that needs no barrier.
template <bool quads>
struct Share {
    const float* a;
    int n;
    int count, streamed;
    Piece first;
    float4* store;
    Numbers ahead;  ///< the piece to stream next, asked for long before it is needed

    __device__ void fill() {
        const int lane = threadIdx.x % 32;
        Piece piece = first;
        for (int index = 0; index < count; ++index, piece = piece.next(n)) {
            if (index < streamed) continue;
            const Numbers f = fetch<quads>(a, piece, n);
            for (int h = 0; h < height; ++h) store[((index - streamed) * height + h) * 32 + lane] = f.row[h];
        }
        if (streamed > 0) ahead = fetch<quads>(a, first, n);
    }

    __device__ Numbers get(int index, Piece piece) {
        Numbers f = ahead;
        if (index < streamed) {
            // After the last comes the first again, for the next product. One alone just stays in its
            // registers.
            if (streamed > 1) ahead = fetch<quads>(a, index + 1 < streamed ? piece.next(n) : first, n);
            return f;
        }
        const float4* const from = store + (index - streamed) * height * 32 + threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < height; ++h) f.row[h] = from[32 * h];
        return f;
    }

    /// Adds to q what this block's pieces contribute to A v. All threads of the block must call it.
    /// @returns this lane's part of v.Av
    __device__ double product(const float* v, float* q, Gathered& gathered) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        double vAv = 0;
        float vj[4] = {}, down[4] = {};
        Piece piece = first;
        for (int index = 0; index < count; ++index) {
            if (index == 0 || piece.row == piece.column) {
                for (int c = 0; c < 4; ++c) vj[c] = v[piece.column + column_of<quads>(c)];
            }
            const Numbers f = get(index, piece);
            const float across = piece.on_diagonal() ? multiply<quads, true>(f, piece, v, vj, down)
                                                     : multiply<quads, false>(f, piece, v, vj, down);
            const int i = piece.row + lane / 4;
            if (lane % 4 == 0 && i < n) {
                atomicAdd(&q[i], across);
                vAv += double(across) * v[i];
            }
            const Piece next = piece.next(n);
            if (next.row == next.column && index + 1 < count) {  // the warp goes on in another panel
                for (int c = 0; c < 4; ++c) {
                    const int j = piece.column + column_of<quads>(c);
                    atomicAdd(&q[j], down[c]);
                    vAv += double(down[c]) * vj[c];
                    down[c] = 0;
                }
            }
            if (index + 1 < count) piece = next;
        }
        // Most warps of a block end in the same panel: add up first, and ask for one addition a column.
        for (int c = 0; c < 4; ++c) gathered.sum[warp][column_of<quads>(c)] = down[c];
        if (lane == 0) gathered.panel[warp] = piece.column;
        __syncthreads();
        float sum = 0;
        for (int w = 0; w < warps && threadIdx.x < width; ++w) {
            sum += gathered.sum[w][threadIdx.x];
            if (w + 1 < warps && gathered.panel[w + 1] == gathered.panel[w]) continue;
            const int j = gathered.panel[w] + threadIdx.x;
            if (j < n) {
                atomicAdd(&q[j], sum);
                vAv += double(sum) * v[j];
            }
            sum = 0;
        }
        return vAv;
    }
};

/// The sums of x and y over the block, in all threads: the same bits in all blocks that have the same
/// numbers.
static __device__ double2 block_sums(double x, double y) {
    __shared__ double2 partial[warps];
    const double2 own = {gradient_descent::warp_sum(x), gradient_descent::warp_sum(y)};
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
    __syncthreads();
    double2 sums = partial[threadIdx.x % warps];
    for (int step = warps / 2; step > 0; step /= 2) {
        sums.x += __shfl_xor_sync(0xffffffffu, sums.x, step);
        sums.y += __shfl_xor_sync(0xffffffffu, sums.y, step);
    }
    return sums;
}

/// What the blocks have in global memory: three vectors q, used in turn (one is added to, one is read, one is
/// cleared); the warps' parts of r.Ar, likewise; and the blocks' copies of r, where they do not fit on the
/// chip.
struct Exchange {
    float* q;      ///< 3 x pitch
    double* part;  ///< 3 x warps of the grid
    float* r;      ///< blocks x pitch
};

/// A block owns a copy of r; a warp owns a share of the pieces; a thread owns some elements of r in its
/// block, and of x if mine(i).
template <bool quads, bool own_r>
__global__ void __launch_bounds__(block_size, 1)
    symmetric_kernel(const float* a, const float* b, float* x, double* history, int* outcome,
                     Exchange exchange, int n, int limit, double tolerance, int room) {
    using namespace gradient_descent;
    extern __shared__ float4 memory[];
    const auto grid = cooperative_groups::this_grid();
    const int pitch = (n + width - 1) / width * width;
    const int sharers = gridDim.x * warps, me = blockIdx.x * warps + threadIdx.x / 32;
    Gathered& gathered = *reinterpret_cast<Gathered*>(memory);
    float4* const behind = memory + sizeof(Gathered) / sizeof(float4);
    float* const r = own_r ? reinterpret_cast<float*>(behind) : exchange.r + std::size_t(blockIdx.x) * pitch;

    const long long all = Piece::count(n), from = all * me / sharers;
    Share<quads> share{};
    share.a = a, share.n = n;
    share.count = static_cast<int>(all * (me + 1) / sharers - from);
    share.streamed = max(share.count - room, 0);
    share.store = behind + (own_r ? pitch / 4 : 0) + threadIdx.x / 32 * room * height * 32;
    if (share.count > 0) share.first = Piece::at(from, n);
    share.fill();

    // q = A r, and r.Ar in parts. Between two barriers the vector of the product after this one is cleared.
    int products = 0;
    const float* q = exchange.q;
    const double* part = exchange.part;
    const auto multiply_r = [&] {
        const int now = products % 3, next = (products + 1) % 3;
        ++products;
        q = exchange.q + std::size_t(now) * pitch;
        part = exchange.part + now * sharers;
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            exchange.q[std::size_t(next) * pitch + i] = 0;
        const double own = warp_sum(share.product(r, exchange.q + std::size_t(now) * pitch, gathered));
        if (threadIdx.x % 32 == 0) exchange.part[now * sharers + me] = own;
        grid.sync();
    };
    // A thread's elements, eight at a time: all eight are on their way before the first is used.
    constexpr int batch = 8;
    struct Batch {
        float value[batch];
    };
    const auto load = [&](const float* source, int base) {
        Batch fresh;
#pragma unroll
        for (int e = 0; e < batch; ++e) {
            const int i = base + e * block_size;
            fresh.value[e] = i < n ? __ldcg(&source[i]) : 0.0f;
        }
        return fresh;
    };
    // r[i] = action(i, source[i]) for all i. @returns this thread's part of r.r
    const auto renew = [&](const float* source, Batch fresh, auto action) {
        double square = 0;
        for (int base = threadIdx.x; base < n; base += batch * block_size) {
            const Batch now = fresh;
            if (base + batch * block_size < n) fresh = load(source, base + batch * block_size);
#pragma unroll
            for (int e = 0; e < batch; ++e) {
                const int i = base + e * block_size;
                if (i >= n) break;
                const float value = action(i, now.value[e]);
                r[i] = value;
                square += double(value) * value;
            }
        }
        __syncthreads();
        return square;
    };
    const auto true_residual = [&] {
        grid.sync();  // x is complete
        renew(x, load(x, threadIdx.x), [](int, float xi) { return xi; });
        multiply_r();
        return renew(q, load(q, threadIdx.x), [&](int i, float qi) { return b[i] - qi; });
    };
    const auto mine = [&](int i) { return i / block_size % gridDim.x == blockIdx.x; };

    for (int i = n + threadIdx.x; i < pitch; i += block_size) r[i] = 0;
    double square = renew(b, load(b, threadIdx.x), [&](int i, float bi) {
        if (mine(i)) x[i] = 0;
        return bi;
    });
    double bb = 0;
    bool carried = false;  // r is not b - A x, but what the recurrence says
    int k = 0, what;
    for (;;) {
        if (k < limit) multiply_r();
        const Batch fresh = load(q, threadIdx.x);  // on its way while r.r and r.Ar are added up
        double rAr = 0;
        for (int w = threadIdx.x; w < sharers; w += block_size) rAr += __ldcg(&part[w]);
        const double2 sums = block_sums(square, rAr);
        const double rr = sums.x;
        rAr = sums.y;
        if (k == 0) bb = rr;
        if (carried && rr <= tolerance * tolerance * bb) {  // it seems to be the end: look again
            square = true_residual();
            carried = false;
            continue;
        }
        if (grid.thread_rank() == 0) history[k] = sqrt(rr);
        what = verdict(rr, bb, k, limit, tolerance);  // the same in all blocks
        if (what >= 0) break;
        if (!(rAr > 0)) {
            what = breakdown;
            break;
        }
        // TODO 6.2 (about 5 lines): step. renew() wants to know the new r[i], given q[i], and returns `square`. x[i] is
        // for the block where mine(i): add to it with atomicAdd, of which nobody waits for the answer.
        square = renew(q, fresh, [&](int i, float) { return mine(i) ? r[i] : r[i]; });
        ++k;
        carried = k % renew_every != 0;
        if (!carried) square = true_residual();
    }
    if (grid.thread_rank() == 0) outcome[0] = what, outcome[1] = k;
}

void gradient_descent::symmetric(const float* a, const float* b, float* x, double* history, int* outcome,
                                 int n, int limit, double tolerance, cudaStream_t stream) {
    int device = 0, sms = 0, shared = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const bool quads = n % 4 == 0 && reinterpret_cast<std::uintptr_t>(a) % 16 == 0;

    const long long all = Piece::count(n);
    const int blocks = static_cast<int>(std::clamp<long long>((all + warps - 1) / warps, 1, sms));
    const std::size_t pitch = (n + width - 1) / width * width, vector = sizeof(float) * pitch;
    const std::size_t layer = sizeof(Numbers) * block_size;           // a piece for each warp
    const std::size_t most = static_cast<std::size_t>(shared) - 512;  // block_sums() needs a little
    const bool own_r = sizeof(Gathered) + vector <= most;
    std::size_t bytes = sizeof(Gathered) + (own_r ? vector : 0);
    int room = static_cast<int>(std::min<long long>((all + blocks * warps - 1) / (blocks * warps) + 1,
                                                    static_cast<long long>((most - bytes) / layer)));
    bytes += room * layer;

    const std::size_t parts = std::size_t{2} * 3 * blocks * warps;  // in floats
    const Workspace work(1, 3 * pitch + parts + (own_r ? 0 : blocks * pitch), stream);
    clear_history(history, limit, stream);
    Exchange exchange{work.vectors, reinterpret_cast<double*>(work.vectors + 3 * pitch),
                      work.vectors + 3 * pitch + parts};
    auto* const kernel = quads   ? own_r ? symmetric_kernel<true, true> : symmetric_kernel<true, false>
                           : own_r ? symmetric_kernel<false, true>
                                 : symmetric_kernel<false, false>;
    rungs::allow_shared_memory(kernel, bytes);
    void* arguments[] = {&a, &b, &x, &history, &outcome, &exchange, &n, &limit, &tolerance, &room};
    CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(block_size), arguments, bytes, stream));
    work.clear(stream);
}
