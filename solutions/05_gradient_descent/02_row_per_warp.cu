// Gauss-Jacobi with one warp a row: its 32 lanes read 512 bytes side by side. The whole solve is one launch:
// a barrier of the grid stands between two sweeps, so that a block can keep rows in shared memory, and the
// beginnings of rows in registers, from sweep to sweep. What is kept is not read again.

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

#include "rungs/shared_memory.cuh"
#include "solver.cuh"

static constexpr int block_size = 512;
static constexpr int warps = block_size / 32;

/// Lane l's part of row.x: every 32nd element, or every 32nd group of four where rows allow 16-byte loads.
template <bool quads, int loads_in_flight>
static __device__ float lane_product(const float* row, const float* x, int n) {
    const int lane = threadIdx.x % 32;
    float sum = 0;
    // TODO 2.1 (2 lines, or 14 with float4): the lanes of a warp share the row. In each step of the loop they
    // should read side by side; the starter gives each lane a stretch of its own, and forgets the end. First
    // do it with single floats for all cases, then with float4 if `quads`.
    // BEGIN SOLUTION
    //~ const int own = n / 32;
    //~ for (int j = lane * own; j < (lane + 1) * own; ++j) sum += row[j] * x[j];
    if constexpr (quads) {
        const float4* const row4 = reinterpret_cast<const float4*>(row);
        const float4* const x4 = reinterpret_cast<const float4*>(x);
        float4 part{};
#pragma unroll loads_in_flight
        for (int j = lane; j < n / 4; j += 32) {
            const float4 f = row4[j], v = x4[j];
            part.x += f.x * v.x, part.y += f.y * v.y, part.z += f.z * v.z, part.w += f.w * v.w;
        }
        sum = (part.x + part.y) + (part.z + part.w);
    } else {
#pragma unroll loads_in_flight
        for (int j = lane; j < n; j += 32) sum += row[j] * x[j];
    }
    // END SOLUTION
    return sum;
}

/// The sum of x over the block, in all threads.
static __device__ double block_sum(double x) {
    __shared__ double partial[warps];
    x = gradient_descent::warp_sum(x);
    // unchecked: between two calls there is a barrier of the grid
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    x = partial[threadIdx.x % warps];
    for (int step = warps / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

/// Where a block's rows are: behind `a`, or on the chip. Of the first row of each warp, `skip` numbers are in
/// registers and the rest is in shared memory; of the following rows all of it, as long as they are below
/// `kept`.
struct Rows {
    const float* a;
    float* store;
    int n, first, kept, skip;

    __device__ std::size_t place(int own) const {
        return own < warps ? std::size_t(own) * (n - skip) : std::size_t(own) * n - std::size_t(warps) * skip;
    }
    /// The own-th row of the block, from its skip-th number on if own < warps.
    __device__ const float* row(int own) const {
        if (own < kept) return store + place(own);
        return a + std::size_t(first + own) * n + (own < warps ? skip : 0);
    }
};

/// A block owns a stretch of rows, a warp every 16th row of it. Shared memory holds the block's own copy of
/// x_k, if `own_x`, and rows. `part` is for what the warps add to r.r, in two turns, `broken` for zeros on
/// the diagonal.
template <bool quads, int held>
__global__ void __launch_bounds__(block_size, 1)
    row_per_warp_kernel(const float* a, const float* b, float* x, float* y, double* history, int* outcome,
                        double* part, int* broken, int n, int limit, double tolerance, int kept, bool own_x) {
    extern __shared__ float4 memory[];
    const auto grid = cooperative_groups::this_grid();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = static_cast<int>(static_cast<long long>(n) * blockIdx.x / gridDim.x);
    const int count = static_cast<int>(static_cast<long long>(n) * (blockIdx.x + 1) / gridDim.x) - first;
    float* const copy = reinterpret_cast<float*>(memory);
    const Rows rows{a, copy + (own_x ? (n + 3) / 4 * 4 : 0), n, first, min(kept, count), min(held * 128, n)};

    // Keep what there is room for.
    float4 start[held + 1] = {};
    for (int own = warp; own < count; own += warps) {
        const float* const row = a + std::size_t(first + own) * n;
        const int skip = own < warps ? rows.skip : 0;
        if (own < warps) {
#pragma unroll
            for (int h = 0; h < held; ++h) {
                const int j = lane + 32 * h;
                if (j < n / 4) start[h] = reinterpret_cast<const float4*>(row)[j];
            }
        }
        if (own >= rows.kept) break;
        for (int j = skip + lane; j < n; j += 32) rows.store[rows.place(own) + j - skip] = row[j];
    }
    const auto copy_of = [&](const float* from) {
        if (!own_x) return from;
        if constexpr (quads) {
#pragma unroll 4
            for (int j = threadIdx.x; j < n / 4; j += block_size) {
                memory[j] = __ldcg(reinterpret_cast<const float4*>(from) + j);
            }
        } else {
#pragma unroll 4
            for (int j = threadIdx.x; j < n; j += block_size) copy[j] = __ldcg(from + j);
        }
        return static_cast<const float*>(copy);
    };
    for (int i = first + threadIdx.x; i < first + count; i += block_size) x[i] = 0;
    grid.sync();

    double bb = 0;
    const float* xk = copy_of(x);
    __syncthreads();
    for (int k = 0;; ++k) {
        float* const next = k % 2 ? x : y;
        double square = 0;
        for (int own = warp; own < count; own += warps) {
            const int i = first + own, skip = own < warps ? rows.skip : 0;
            const float bi = b[i], diagonal = a[std::size_t(i) * n + i];  // on their way meanwhile
            float sum = lane_product < quads, held ? 4 : 8 > (rows.row(own), xk + skip, n - skip);
            if (own < warps) {
#pragma unroll
                for (int h = 0; h < held; ++h) {
                    const int j = lane + 32 * h;
                    if (j >= n / 4) break;
                    const float4 f = start[h], v = reinterpret_cast<const float4*>(xk)[j];
                    sum += f.x * v.x + f.y * v.y + f.z * v.z + f.w * v.w;
                }
            }
            const float r = bi - gradient_descent::warp_sum(sum);
            if (lane > 0) continue;
            if (diagonal == 0) atomicExch(broken, 1);
            next[i] = xk[i] + r / diagonal;
            square += double(r) * r;
        }
        double* const parts = part + k % 2 * gridDim.x * warps;
        if (lane == 0) parts[blockIdx.x * warps + warp] = square;
        grid.sync();

        // All blocks add up the same numbers in the same order, so all come to the same decision. The next x
        // is fetched meanwhile; x_k itself is still where it was.
        const bool no_inverse = __ldcg(broken) != 0;
        double rr = 0;
        for (unsigned w = threadIdx.x; w < gridDim.x * warps; w += block_size) rr += __ldcg(&parts[w]);
        xk = copy_of(next);
        rr = block_sum(rr);
        if (k == 0) bb = rr;
        if (grid.thread_rank() == 0) history[k] = sqrt(rr);
        const int what = no_inverse ? int(gradient_descent::breakdown)
                                    : gradient_descent::verdict(rr, bb, k, limit, tolerance);
        if (what < 0) continue;
        grid.sync();  // other blocks may still fetch the next x, where x_k is to go
        for (int i = first + threadIdx.x; i < first + count && k % 2; i += block_size) x[i] = y[i];
        if (grid.thread_rank() == 0) outcome[0] = what, outcome[1] = k;
        return;
    }
}

void gradient_descent::row_per_warp(const float* a, const float* b, float* x, double* history, int* outcome,
                                    int n, int limit, double tolerance, cudaStream_t stream) {
    int device = 0, sms = 0, shared = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const bool quads = n % 4 == 0 && reinterpret_cast<std::uintptr_t>(a) % 16 == 0 &&
                       reinterpret_cast<std::uintptr_t>(x) % 16 == 0;

    // Registers can hold a tenth of a small matrix; for a large one they are better spent on loads in flight.
    const int blocks = std::clamp((n + warps - 1) / warps, 1, sms), most = (n + blocks - 1) / blocks;
    const bool holds = quads && most <= 2 * warps;
    auto* const kernel = !quads  ? row_per_warp_kernel<false, 0>
                         : holds ? row_per_warp_kernel<true, 12>
                                 : row_per_warp_kernel<true, 0>;
    const std::size_t skip = holds ? std::min(12 * 128, n) : 0;
    const std::size_t room =
        (static_cast<std::size_t>(shared) - 512) / sizeof(float);  // block_sum() needs a little
    const std::size_t vector = (static_cast<std::size_t>(n) + 3) / 4 * 4;
    bool own_x = vector <= room;
    std::size_t used = own_x ? vector : 0;
    int kept = 0;
    for (; kept < most; ++kept) {
        const std::size_t row = static_cast<std::size_t>(n) - (kept < warps ? skip : 0);
        if (used + row > room) break;
        used += row;
    }

    const std::size_t parts = std::size_t{4} * blocks * warps;  // two turns of doubles, in floats
    const Workspace work(1, parts + vector, stream);
    clear_history(history, limit, stream);
    auto* part = reinterpret_cast<double*>(work.vectors);
    int* broken = &work.scalars->broken;
    float* y = work.vectors + parts;
    rungs::allow_shared_memory(kernel, used * sizeof(float));
    void* arguments[] = {&a,      &b, &x,     &y,         &history, &outcome, &part,
                         &broken, &n, &limit, &tolerance, &kept,    &own_x};
    CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(block_size), arguments,
                                           used * sizeof(float), stream));
    work.clear(stream);
}
