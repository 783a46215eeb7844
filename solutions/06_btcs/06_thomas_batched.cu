// Thomas's algorithm for many systems at once. System i is column i of a matrix, so that neighbouring threads
// read neighbouring floats. Two threads share a system: one eliminates from the top, one from the bottom, and
// they meet in the middle. What they have to remember on the way stays on the chip where that pays.

#include <algorithm>
#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"
#include "rungs/shared_memory.cuh"

// TODO 6.1: the kernel, thomas_batched_kernel. The design is yours.
// BEGIN SOLUTION
static constexpr int ahead = 8;             // rows that are asked for at once
static constexpr int fewest_on_chip = 128;  // threads of a multiprocessor, below which memory is better

/// One equation: before x_{k - 1} + diagonal x_k + behind x_{k + 1} = rhs.
struct Equation {
    float before, diagonal, behind, rhs;
};

/// x_k = rhs - behind x_{k + 1}: what elimination leaves of a row.
struct alignas(8) Eliminated {
    float behind, rhs;
};

/// The systems of a batch, as one thread sees them.
struct Side {
    const float *before, *diagonal, *behind, *rhs;
    long long first, step;  ///< elements of row 0, and from a row to the next
    int count;              ///< rows of this side
    bool alone;             ///< the other side has none: the last row has nothing behind it

    /// Row k, counted from this side's end of the system.
    __device__ Equation row(int k) const {
        const long long e = first + k * step;
        return {k > 0 ? before[e] : 0, diagonal[e], k < count - 1 || !alone ? behind[e] : 0, rhs[e]};
    }
};

/// A block owns blockDim.x systems; threads with threadIdx.y = 0 their upper halves, those with 1 the lower
/// ones, upside down. `memory` has room for `rows` rows of each thread: on the chip, or behind `spill`.
template <bool on_chip>
__global__ void __launch_bounds__(64, 8)
    thomas_batched_kernel(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                          float* x, int* status, Eliminated* spill, int m, int systems) {
    extern __shared__ Eliminated chip[];
    __shared__ Eliminated middle[2][32];
    __shared__ int bad[2][32];
    const int column = static_cast<int>(threadIdx.x), side = static_cast<int>(threadIdx.y);
    const int width = static_cast<int>(blockDim.x);
    const long long i = blockIdx.x * static_cast<long long>(width) + column;
    const bool there = i < systems;
    const int half = (m + 1) / 2;

    Side own{side ? upper : lower, diagonal, side ? lower : upper, rhs, i, systems, half, m == 1};
    if (side == 1)
        own = {own.before, diagonal, own.behind, rhs, i + (m - 1LL) * systems, -systems, m / 2, false};
    if (!there) own.count = 0;
    Eliminated* const memory =
        on_chip ? chip + side * width + column : spill + side * static_cast<long long>(systems) + i;
    const long long pitch = on_chip ? 2 * width : 2LL * systems;

    Eliminated last{0, 0};
    int first_bad = -1;
    Equation next[ahead];
    const auto fetch = [&](int k) {
#pragma unroll
        for (int j = 0; j < ahead; ++j) next[j] = k + j < own.count ? own.row(k + j) : Equation{0, 1, 0, 0};
    };
    fetch(0);
    for (int k = 0; k < own.count; k += ahead) {
        Equation now[ahead];
#pragma unroll
        for (int j = 0; j < ahead; ++j) now[j] = next[j];
        fetch(k + ahead);  // on its way while these are eliminated
#pragma unroll
        for (int j = 0; j < ahead; ++j) {
            if (k + j >= own.count) break;
            if (!btcs::dominated(now[j].before, now[j].diagonal, now[j].behind) &&
                (first_bad < 0 || side == 1))
                first_bad = k + j;
            const float inverse = 1 / (now[j].diagonal - now[j].before * last.behind);
            last = {now[j].behind * inverse, (now[j].rhs - now[j].before * last.rhs) * inverse};
            memory[(k + j) * pitch] = last;
        }
    }
    middle[side][column] = last;
    // The first bad row of the system: the lower half counts upside down, and its last find is its first row.
    bad[side][column] = first_bad < 0 ? -1 : side == 0 ? first_bad : m - 1 - first_bad;
    __syncthreads();
    if (!there) return;
    const int found = bad[0][column] >= 0 ? bad[0][column] : bad[1][column];
    if (side == 0) status[i] = found;

    // Both threads find x_a in the same way, and x_b follows from it: two quotients would each be wrong by
    // much where 1 - q t is nearly 0, and together leave a residual.
    const Eliminated top = middle[0][column], bottom = middle[1][column];
    float value = (top.rhs - top.behind * bottom.rhs) / (1 - top.behind * bottom.behind);
    if (side == 1) value = bottom.rhs - bottom.behind * value;
    if constexpr (on_chip) {
        for (int k = own.count - 1; k >= 0; --k) {
            if (k < own.count - 1) {
                const Eliminated row = memory[k * pitch];
                value = row.rhs - row.behind * value;
            }
            x[own.first + k * own.step] = found < 0 ? value : NAN;
        }
    } else {
        if (own.count > 0) x[own.first + (own.count - 1) * own.step] = found < 0 ? value : NAN;
        Eliminated
            after[ahead];  // rows k, k - 1, ...: memory is far away, so they are asked for ahead as well
        const auto recall = [&](int k) {
#pragma unroll
            for (int j = 0; j < ahead; ++j)
                after[j] = k - j >= 0 ? memory[(k - j) * pitch] : Eliminated{0, 0};
        };
        recall(own.count - 2);
        for (int k = own.count - 2; k >= 0; k -= ahead) {
            Eliminated now[ahead];
#pragma unroll
            for (int j = 0; j < ahead; ++j) now[j] = after[j];
            recall(k - ahead);
#pragma unroll
            for (int j = 0; j < ahead; ++j) {
                if (k - j < 0) break;
                value = now[j].rhs - now[j].behind * value;
                x[own.first + (k - j) * own.step] = found < 0 ? value : NAN;
            }
        }
    }
}

/// How a launch on the chip would divide the systems.
struct OnChip {
    int width = 32;         ///< systems of a block
    std::size_t bytes = 0;  ///< dynamic shared memory of a block
    bool fits = false;
    long long threads = 0;  ///< of a multiprocessor, that then have room
    long long systems = 0;  ///< of the GPU, that then have room

    explicit OnChip(int m) {
        int device = 0, most = 0, all = 0, multiprocessors = 0;
        CUDA_CHECK(cudaGetDevice(&device));
        CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
        CUDA_CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
        CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        // Fewer systems a block where they are long: several blocks then share a multiprocessor.
        const auto needed = [&] { return sizeof(Eliminated) * 2 * width * ((m + 1) / 2); };
        while (width > 8 && needed() > static_cast<std::size_t>(most) / 3) width /= 2;
        bytes = needed();
        fits = bytes + 1024 <= static_cast<std::size_t>(most);
        const std::size_t of_block = bytes + 2048;  // with the kernel's own and the system's
        const long long blocks = fits ? std::max<long long>(1, all / static_cast<long long>(of_block)) : 0;
        threads = 2 * width * blocks, systems = width * blocks * multiprocessors;
    }

    /// On the chip a row costs 20 bytes, in memory 36. But with fewer threads than fewest_on_chip a
    /// multiprocessor does not ask for enough bytes at once to get near either floor.
    bool pays(long long all_systems) const {
        if (!fits || btcs::remember == btcs::Remember::in_memory) return false;
        return btcs::remember == btcs::Remember::on_chip || threads >= fewest_on_chip ||
               all_systems <= systems;
    }
};
// END SOLUTION

void btcs::thomas_batched(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                          float* x, int* status, int m, int systems, cudaStream_t stream) {
    // TODO 6.2: the launch, for any number of systems and up to most_rows rows.
    // BEGIN SOLUTION
    if (m > most_rows) throw std::invalid_argument("a system of a batch has most_rows rows at most");
    if (systems == 0) return;
    const OnChip chip(m);
    if (chip.pays(systems)) {
        rungs::allow_shared_memory(thomas_batched_kernel<true>, chip.bytes);
        const auto blocks = static_cast<unsigned>((systems + chip.width - 1LL) / chip.width);
        thomas_batched_kernel<true><<<blocks, dim3(chip.width, 2), chip.bytes, stream>>>(
            lower, diagonal, upper, rhs, x, status, nullptr, m, systems);
    } else {
        const std::size_t spilled = sizeof(Eliminated) * 2 * systems * ((m + 1) / 2);
        auto* const spill = static_cast<Eliminated*>(rungs::stream_workspace(stream, spilled));
        thomas_batched_kernel<false>
            <<<static_cast<unsigned>((systems + 31LL) / 32), dim3(32, 2), 0, stream>>>(
                lower, diagonal, upper, rhs, x, status, spill, m, systems);
    }
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
