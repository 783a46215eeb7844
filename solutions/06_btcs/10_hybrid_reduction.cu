// A group of threads per system. Each thread eliminates all of its sixteen rows in registers except the last.
// What remains is one row per thread; parallel cyclic reduction solves these in shared memory: in each step
// every row gets rid of both neighbours, and its new neighbours are twice as far away.

#include <algorithm>
#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/shared_memory.cuh"

// TODO 10.1: the kernel, hybrid_reduction_kernel. The design is yours.
// BEGIN SOLUTION
using btcs::Row;

static constexpr int rows = 16;            // of a thread
static constexpr int usual_threads = 128;  // of a block; a system of more rows has more
static constexpr int most_threads = btcs::most_rows / rows;
static constexpr int stage_size = btcs::padded(32 * rows);  // floats

/// One step: `mid` with its neighbours' unknowns replaced by what their rows say. All three have a 1 on their
/// diagonal, and the result has one, too.
static __device__ Row reduced(const Row& before, const Row& mid, const Row& behind) {
    return btcs::normalised({-mid.lower * before.lower,
                             mid.excess + btcs::gain(mid.lower, before.excess, before.upper) +
                                 btcs::gain(mid.upper, behind.excess, behind.lower),
                             -mid.upper * behind.upper,
                             mid.rhs - mid.lower * before.rhs - mid.upper * behind.rhs});
}

/// Neighbouring lanes have fetched neighbouring floats, element 32 j + lane of the warp's to v[j]. Afterwards
/// v[j] is element own + j. `stage` is the warp's.
static __device__ void gather(float (&v)[rows], float* stage, int own) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) stage[33 * j + lane] = v[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) v[j] = stage[btcs::padded(own + j)];
}

/// And back, of the first `count` elements of each lane.
static __device__ void scatter(float (&v)[rows], float* stage, int own, int count) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // unchecked: the block's barriers stand between two uses of the stage
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        if (j < count) stage[btcs::padded(own + j)] = v[j];
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < rows; ++j) v[j] = stage[33 * j + lane];
}

/// A block owns blockDim.x / group systems, which follow each other in memory; a group of `group` threads, a
/// power of two, owns one of them, and each thread sixteen of its rows.
/// @tparam block_size  threads
/// @tparam resident    blocks that a multiprocessor shall hold: the registers are shared out for that
template <int block_size, int resident>
__global__ void __launch_bounds__(block_size, resident)
    hybrid_reduction_kernel(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                            float* x, int* status, int m, int systems, int log_group) {
    extern __shared__ Row shared_row[];
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int lane = thread % 32, group = 1 << log_group;
    const int mine = thread >> log_group, member = thread & (group - 1), per_block = threads >> log_group;
    const long long first_system = blockIdx.x * static_cast<long long>(per_block);
    const int here = static_cast<int>(min(static_cast<long long>(per_block), systems - first_system));
    float* const stage =
        reinterpret_cast<float*>(shared_row + 2 * threads) + thread / 32 * stage_size;  // of the warp

    __shared__ unsigned bad[usual_threads];
    if (thread < per_block) bad[thread] = 0xffffffffu;  // solved

    // A warp's rows follow each other in memory as well, from its first lane's first to its last lane's last.
    // Neighbouring lanes fetch neighbouring floats.
    const int front = thread - lane, back = front + 31, last_system = back >> log_group;
    const int begin = (front >> log_group) * m + (front & (group - 1)) * rows;
    const int end =
        last_system < here ? last_system * m + min(((back & (group - 1)) + 1) * rows, m) : here * m;
    const int own = mine * m + member * rows - begin, count = end - begin - lane;
    const long long first = first_system * m + begin + lane;
    lower += first, diagonal += first, upper += first, rhs += first, x += first;
    btcs::Chunk<rows> chunk;
#pragma unroll
    for (int j = 0; j < rows; ++j) {  // all loads first, so that they are on their way together
        const bool there = 32 * j < count;
        chunk.lower[j] = there ? lower[32 * j] : 0;
        chunk.excess[j] = there ? diagonal[32 * j] : 1;
        chunk.upper[j] = there ? upper[32 * j] : 0;
        chunk.rhs[j] = there ? rhs[32 * j] : 0;
    }
    gather(chunk.lower, stage, own), gather(chunk.excess, stage, own);
    gather(chunk.upper, stage, own), gather(chunk.rhs, stage, own);
    __syncthreads();

    const int left = mine < here ? m - member * rows : 0;  // rows from this thread's first one to the end
    int first_bad = rows;
#pragma unroll
    for (int j = rows - 1; j >= 0; --j) {
        const bool there = j < left;  // behind the system's end there are rows that say x = 0
        const float before = there && (j > 0 || member > 0) ? chunk.lower[j] : 0;
        const float middle = there ? chunk.excess[j] : 1;
        const float behind = j < left - 1 ? chunk.upper[j] : 0;
        if (!btcs::dominated(before, middle, behind)) first_bad = j;
        chunk.set(j, btcs::row_of(before, middle, behind, there ? chunk.rhs[j] : 0));
    }
    if (first_bad < rows) atomicMin(&bad[mine], static_cast<unsigned>(member * rows + first_bad));
    Row row = chunk.eliminate();  // reaches from the last unknown of the thread before ...

    // ... to the first one of the thread behind, of which that thread says what it depends on.
    shared_row[thread] = chunk.first();
    __syncthreads();
    if (member < group - 1) row = btcs::without_behind(row, shared_row[thread + 1]);
    row = btcs::normalised(row);

    // One row a thread. A step with distance d leaves rows that reach 2 d far. Two places for each row, used
    // in turn, so that one barrier a step is enough.
    Row* place = shared_row;
    for (int distance = 1; distance < group; distance *= 2) {
        place = place == shared_row ? shared_row + threads : shared_row;
        place[thread] = row;
        __syncthreads();
        const Row before = member >= distance ? place[thread - distance] : Row{};
        const Row behind = member + distance < group ? place[thread + distance] : Row{};
        row = reduced(before, row, behind);
    }
    float* const memory = reinterpret_cast<float*>(place == shared_row ? shared_row + threads : shared_row);
    memory[thread] = row.rhs;
    __syncthreads();
    chunk.substitute(member > 0 ? memory[thread - 1] : 0, row.rhs);
    if (bad[mine] != 0xffffffffu) {
#pragma unroll
        for (int j = 0; j < rows; ++j) chunk.rhs[j] = NAN;
    }
    scatter(chunk.rhs, stage, own, left);
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        if (32 * j < count) x[32 * j] = chunk.rhs[j];
    }
    if (thread < here) status[first_system + thread] = static_cast<int>(bad[thread]);
}
// END SOLUTION

void btcs::hybrid_reduction(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                            float* x, int* status, int m, int systems, cudaStream_t stream) {
    // TODO 10.2: the launch, for any number of systems and up to most_rows rows.
    // BEGIN SOLUTION
    if (m > most_rows) throw std::invalid_argument("a system of a batch has most_rows rows at most");
    if (systems == 0) return;
    int log_group = 0;
    while (rows << log_group < m) ++log_group;
    const int threads = std::max(1 << log_group, usual_threads);
    const int per_block = threads >> log_group;
    const std::size_t bytes = threads * 2 * sizeof(Row) + threads / 32 * stage_size * sizeof(float);
    const auto kernel = threads == usual_threads ? hybrid_reduction_kernel<usual_threads, 5>
                                                 : hybrid_reduction_kernel<most_threads, 1>;
    rungs::allow_shared_memory(kernel, bytes);
    kernel<<<static_cast<unsigned>((systems + per_block - 1LL) / per_block), threads, bytes, stream>>>(
        lower, diagonal, upper, rhs, x, status, m, systems, log_group);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
