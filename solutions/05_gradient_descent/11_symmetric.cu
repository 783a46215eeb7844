// A is symmetric, so half of it says everything: each number is read once and used twice, in one launch.

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

#include "rungs/shared_memory.cuh"
#include "solver.cuh"

// TODO 11.1: the kernel, symmetric_kernel. The design is yours. What blocks leave for each other can
// go to a Workspace.
// BEGIN SOLUTION
// A warp takes pieces of 8 x 128 numbers on and below the diagonal; each number a_ij serves row i (a_ij r_j)
// and, mirrored, row j (a_ij r_i). Every block carries its own copy of r along, so one barrier of the grid an
// iteration is enough; A does not change, so the next piece is on its way while the barrier waits; and what
// fits stays on the chip.
static constexpr int block_size = 512;
static constexpr int warps = block_size / 32;
static constexpr int height = 8;   // rows of a piece
static constexpr int width = 128;  // columns of a piece, four a lane

/// Pieces are counted down a panel of 128 columns, from its diagonal to the last row, then
/// down the next panel.
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

/// Halves what is on the diagonal: each number will be used twice. (Half of a float is a float, except for
/// the last bit of a subnormal one.)
template <bool quads>
static __device__ void halve_diagonal(Numbers& f, Piece piece) {
    if (!piece.on_diagonal()) return;
#pragma unroll
    for (int h = 0; h < height; ++h) {
        const auto factor = [&](int c) {
            return piece.row + h == piece.column + column_of<quads>(c) ? 0.5f : 1.0f;
        };
        f.row[h].x *= factor(0), f.row[h].y *= factor(1), f.row[h].z *= factor(2), f.row[h].w *= factor(3);
    }
}

/// Uses each number of a piece twice.
/// @param row   row(h): a lane's four numbers of row h, a_ij
/// @param v     the vector, from the piece's first row on
/// @param vj    the vector at the lane's columns
/// @param down  down[c]: the sum of a_ij v_i over the eight rows is added
/// @returns the sum of a_ij v_j over the columns of the piece, for its row lane / 4
template <class Row>
static __device__ float multiply(const Row& row, const float* v, const float (&vj)[4], float (&down)[4]) {
    const float4 upper = *reinterpret_cast<const float4*>(v);
    const float4 lower = *reinterpret_cast<const float4*>(v + 4);
    const float vi[height] = {upper.x, upper.y, upper.z, upper.w, lower.x, lower.y, lower.z, lower.w};
    float across[height];
#pragma unroll
    for (int h = 0; h < height; ++h) {
        const float4 four = row(h);
        const float own[4] = {four.x, four.y, four.z, four.w};  // row i, columns j
        across[h] = 0;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            across[h] += own[c] * vj[c];  // row i
            down[c] += own[c] * vi[h];    // mirrored, column j
        }
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

/// What the threads of a block have for each other.
struct Gathered {
    float sum[warps][width];      ///< for the columns of the panels that the warps ended in
    double curvature[warps * 8];  ///< parts of v.Av / 2
    double2 total[warps];         ///< parts of r.r and r.Ar
    int panel[warps];
};

/// A warp's pieces: `count` in a row. The first `streamed` of them go through two places in registers, the
/// others are kept in shared memory; a lane reads what it has stored itself, so that needs no barrier.
template <bool quads>
struct Share {
    const float* a;
    int n;
    int count, streamed;
    Piece first;
    float4* store;
    Numbers ahead[2];  ///< the pieces to use next, asked for long before they are needed

    /// Two alone just stay in their places. What stays is halved when it comes, else when it is used.
    __device__ bool stays() const { return streamed <= 2; }
    __device__ float4* kept(int index) const {
        return store + (index - streamed) * height * 32 + threadIdx.x % 32;
    }

    __device__ void fill() {
        Piece piece = first;
        for (int index = 0; index < count; ++index, piece = piece.next(n)) {
            if (index >= 2 && index < streamed) continue;
            Numbers f = fetch<quads>(a, piece, n);
            if (index >= streamed || stays()) halve_diagonal<quads>(f, piece);
            if (index >= streamed) {
                for (int h = 0; h < height; ++h) kept(index)[32 * h] = f.row[h];
            } else if (index == 0) {
                ahead[0] = f;
            } else {
                ahead[1] = f;
            }
        }
    }

    /// Adds to q what this block's pieces contribute to A v, and leaves parts of v.Av / 2 in
    /// gathered.curvature. All threads of the block must call it.
    __device__ void product(const float* v, float* q, Gathered& gathered) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        double curvature = 0;
        float vj[4] = {}, down[4] = {};
        Piece piece = first;
        const auto enter_panel = [&] {
            for (int c = 0; c < 4; ++c) vj[c] = v[piece.column + column_of<quads>(c)];
        };
        const auto use = [&](int index, Numbers& place) {
            float sum;
            if (index < streamed) {
                if (!stays()) halve_diagonal<quads>(place, piece);
                sum = multiply([&](int h) { return place.row[h]; }, v + piece.row, vj, down);
                // After the last come the first again, for the next product.
                if (!stays()) {
                    const Piece wanted = index + 2 < streamed ? piece.next(n).next(n)
                                         : index % 2 == 1     ? first.next(n)
                                                              : first;
                    place = fetch<quads>(a, wanted, n);
                }
            } else {
                const float4* const own = kept(index);
                sum = multiply([&](int h) { return own[32 * h]; }, v + piece.row, vj, down);
            }
            const int i = piece.row + lane / 4;
            curvature += double(sum) * v[i];  // what the columns add to v.Av is the same once more
            if (lane % 4 == 0 && i < n) atomicAdd(&q[i], sum);
            if (index + 1 == count) return;
            const Piece next = piece.next(n);
            const bool leave = next.column != piece.column;  // the warp goes on in another panel
            for (int c = 0; c < 4 && leave; ++c) {
                atomicAdd(&q[piece.column + column_of<quads>(c)], down[c]);
                down[c] = 0;
            }
            piece = next;
            if (leave) enter_panel();
        };
        if (count > 0) enter_panel();
        for (int index = 0; index < count; index += 2) {
            use(index, ahead[0]);
            if (index + 1 < count) use(index + 1, ahead[1]);
        }
        // Most warps of a block end in the same panel: add up first, and ask for one addition a column.
        for (int c = 0; c < 4; ++c) gathered.sum[warp][column_of<quads>(c)] = down[c];
        if (lane == 0) gathered.panel[warp] = piece.column;
        if (lane % 4 == 0) gathered.curvature[threadIdx.x / 4] = curvature;
        __syncthreads();
        if (threadIdx.x >= width) return;
        float own[warps];  // all on their way before the first is used
        int panel[warps];
#pragma unroll
        for (int w = 0; w < warps; ++w) own[w] = gathered.sum[w][threadIdx.x], panel[w] = gathered.panel[w];
        float sum = 0;
#pragma unroll
        for (int w = 0; w < warps; ++w) {
            sum += own[w];
            if (w + 1 < warps && panel[w + 1] == panel[w]) continue;
            const int j = panel[w] + threadIdx.x;
            if (j < n) atomicAdd(&q[j], sum);
            sum = 0;
        }
    }
};

/// What the blocks have in global memory: three vectors q, used in turn (one is added to, one is read, one is
/// cleared); the blocks' parts of r.r and r.Ar, also three; and the blocks' copies of r, where they do not
/// fit on the chip.
struct Exchange {
    float* q;      ///< 3 x pitch
    double* part;  ///< 3 x 2 x blocks
    float* r;      ///< blocks x pitch
};

/// A block owns a copy of r, and a slice of x; a warp owns a share of the pieces; a thread owns some elements
/// of r in its block.
template <bool quads, bool own_r>
__global__ void __launch_bounds__(block_size, 1)
    symmetric_kernel(const float* a, const float* b, float* x, double* history, int* outcome,
                     Exchange exchange, int n, int limit, double tolerance, int room) {
    using namespace gradient_descent;
    extern __shared__ float4 memory[];
    const auto grid = cooperative_groups::this_grid();
    const int pitch = (n + width - 1) / width * width;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = gridDim.x;
    const int sharers = blocks * warps, me = blockIdx.x * warps + warp;
    Gathered& gathered = *reinterpret_cast<Gathered*>(memory);
    float4* const behind = memory + sizeof(Gathered) / sizeof(float4);
    float* const r = own_r ? reinterpret_cast<float*>(behind) : exchange.r + std::size_t(blockIdx.x) * pitch;

    const long long all = Piece::count(n), from = all * me / sharers;
    Share<quads> share{};
    share.a = a, share.n = n;
    share.count = static_cast<int>(all * (me + 1) / sharers - from);
    share.streamed = max(share.count - room, 0);
    share.store = behind + (own_r ? pitch / 4 : 0) + warp * room * height * 32;
    if (share.count > 0) share.first = Piece::at(from, n);
    share.fill();

    const int slice = n / blocks + 1, begin = min(blockIdx.x * slice, n), end = min(begin + slice, n);
    const auto mine = [&](int i) { return i >= begin && i < end; };

    // q = A r if `multiply`, and r.r and r.Ar. Between two barriers the vector of the product after
    // this one is cleared.
    int exchanges = 0;
    const float* q = exchange.q;
    const double* part = exchange.part;
    const auto exchange_sums = [&](bool multiply) {
        const int now = exchanges % 3, next = (exchanges + 1) % 3;
        ++exchanges;
        float* const sum = exchange.q + std::size_t(now) * pitch;
        double* const own_part = exchange.part + now * 2 * blocks;
        q = sum, part = own_part;
        for (int i = begin + threadIdx.x; i < end; i += block_size)
            exchange.q[std::size_t(next) * pitch + i] = 0;
        if (multiply) share.product(r, sum, gathered);
        // The first warps are still busy with columns. r.r is all blocks' business, so each
        // adds up its slice.
        if (warp == warps - 2) {
            double rr = 0;
            for (int i = begin + lane; i < end; i += 32) rr += double(r[i]) * r[i];
            rr = warp_sum(rr);
            if (lane == 0) own_part[blockIdx.x] = rr;
        } else if (warp == warps - 1 && multiply) {
            double half = 0;
            for (int e = lane; e < 8 * warps; e += 32) half += gathered.curvature[e];
            half = warp_sum(half);
            if (lane == 0) own_part[blocks + blockIdx.x] = 2 * half;
        }
        grid.sync();
    };
    // r.r and r.Ar of all blocks, in all threads: everywhere the same bits.
    const auto received_sums = [&] {
        double2 sums = {0, 0};
        for (int block = threadIdx.x; block < blocks; block += block_size)
            sums = {sums.x + __ldcg(&part[block]), sums.y + __ldcg(&part[blocks + block])};
        const int senders = min((blocks + 31) / 32, warps);
        if (warp < senders) {
            sums = {warp_sum(sums.x), warp_sum(sums.y)};
            if (lane == 0) gathered.total[warp] = sums;
        }
        __syncthreads();
        sums = {0, 0};
        for (int w = 0; w < senders; ++w) sums = {sums.x + gathered.total[w].x, sums.y + gathered.total[w].y};
        return sums;
    };
    // A thread's elements of q, eight at a time: all eight are on their way before the first is used.
    constexpr int batch = 2;
    struct Batch {
        float4 value[batch];
    };
    const auto load = [&](int base) {
        Batch fresh{};
#pragma unroll
        for (int e = 0; e < batch; ++e) {
            const int i = base + 4 * e * block_size;
            if (i < pitch) fresh.value[e] = __ldcg(reinterpret_cast<const float4*>(q + i));
        }
        return fresh;
    };
    // r[i] = action(i, r[i], q[i]) for all i. What is beyond n, up to the pitch, is 0 in r and in q.
    const auto renew = [&](Batch fresh, auto action) {
        for (int base = 4 * threadIdx.x; base < pitch; base += 4 * batch * block_size) {
            const Batch now = fresh;
            fresh = load(base + 4 * batch * block_size);
#pragma unroll
            for (int e = 0; e < batch; ++e) {
                const int i = base + 4 * e * block_size;
                if (i >= pitch) break;
                float4& four = *reinterpret_cast<float4*>(r + i);
                const float4 old = four, add = now.value[e];
                four = {action(i, old.x, add.x), action(i + 1, old.y, add.y), action(i + 2, old.z, add.z),
                        action(i + 3, old.w, add.w)};
            }
        }
        __syncthreads();
    };
    const auto set_r = [&](const float* source) {
        for (int i = threadIdx.x; i < pitch; i += block_size) r[i] = i < n ? __ldcg(&source[i]) : 0.0f;
        __syncthreads();
    };
    // The next round of the loop makes b - A x of it: the product is long, and is in one place only.
    bool renewing = false, carried = false;  // r is x; r is not b - A x, but what the recurrence says
    const auto begin_true_residual = [&] {
        grid.sync();  // x is complete
        set_r(x);
        renewing = true, carried = false;
    };

    for (int i = begin + threadIdx.x; i < end; i += block_size) x[i] = 0;
    set_r(b);
    double bb = 0;
    int k = 0, what;
    for (;;) {
        exchange_sums(k < limit || renewing);
        const Batch fresh = load(4 * threadIdx.x);  // on its way while r.r and r.Ar are added up
        if (renewing) {
            renew(fresh, [&](int i, float, float qi) { return i < n ? b[i] - qi : 0.0f; });
            renewing = false;
            continue;
        }
        const double2 sums = received_sums();
        const double rr = sums.x, rAr = sums.y;
        if (k == 0) bb = rr;
        if (carried && rr <= tolerance * tolerance * bb) {  // it seems to be the end: look again
            begin_true_residual();
            continue;
        }
        if (grid.thread_rank() == 0) history[k] = rr;
        what = verdict(rr, bb, k, limit, tolerance);  // the same in all blocks
        if (what >= 0) break;
        if (!(rAr > 0)) {
            what = breakdown;
            break;
        }
        const float alpha = static_cast<float>(rr / rAr);
        renew(fresh, [&](int i, float ri, float qi) {
            if (mine(i)) atomicAdd(&x[i], alpha * ri);
            return ri - alpha * qi;
        });
        ++k;
        carried = true;
        if (k % renew_every == 0) begin_true_residual();
    }
    if (blockIdx.x > 0) return;
    __syncthreads();
    // A root takes long. In the loop all other blocks would wait for it.
    for (int i = threadIdx.x; i <= k; i += block_size) history[i] = sqrt(history[i]);
    if (threadIdx.x == 0) outcome[0] = what, outcome[1] = k;
}
// END SOLUTION

void gradient_descent::symmetric(const float* a, const float* b, float* x, double* history, int* outcome,
                                 int n, int limit, double tolerance, cudaStream_t stream) {
    // TODO 11.2: the launch.
    // BEGIN SOLUTION
    int device = 0, sms = 0, shared = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const bool quads = n % 4 == 0 && reinterpret_cast<std::uintptr_t>(a) % 16 == 0;

    const long long all = Piece::count(n);
    const int blocks = static_cast<int>(std::clamp<long long>((all + warps - 1) / warps, 1, sms));
    const std::size_t pitch = (n + width - 1) / width * width, vector = sizeof(float) * pitch;
    const std::size_t layer = sizeof(Numbers) * block_size;  // a piece for each warp
    const bool own_r = sizeof(Gathered) + vector <= static_cast<std::size_t>(shared);
    std::size_t bytes = sizeof(Gathered) + (own_r ? vector : 0);
    // Two pieces of a warp stay in its registers.
    const long long pieces = (all + blocks * warps - 1) / (blocks * warps);
    int room = static_cast<int>(
        std::min<long long>(std::max(pieces - 2, 0LL), static_cast<long long>((shared - bytes) / layer)));
    bytes += room * layer;

    const std::size_t parts = sizeof(double) / sizeof(float) * 3 * 2 * blocks;  // in floats
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
    // END SOLUTION
}
