// A group of threads a system. Each thread eliminates the eight rows that it holds in registers but for the
// last one. What remains is one row a thread; parallel cyclic reduction solves these in shared memory: in
// each step every row gets rid of both neighbours, and its new neighbours are twice as far away.

#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/shared_memory.cuh"

using btcs::Row;

static constexpr int rows = 8;  // of a thread

/// One step: `mid` with its neighbours' unknowns replaced by what their rows say. All three have a 1 on their
/// diagonal, and so has the result.
static __device__ Row reduced(const Row& before, const Row& mid, const Row& behind) {
    // TODO 4.1 (about 4 lines): x_before = before.rhs - before.lower x_{-2} - before.upper x, and x_behind alike. Put
    // them into mid and sort by unknowns. What mid's excess gains by each is btcs::gain(). At the end,
    // normalise. The starter returns mid.
    static_cast<void>(before), static_cast<void>(behind);
    return mid;
}

/// A block owns blockDim.x / group systems, which stand one behind the other; a group of `group` threads owns
/// one of them, and each thread eight of its rows.
__global__ void __launch_bounds__(1024)
    cyclic_reduction_kernel(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                            float* x, int* status, int m, int systems, int group) {
    extern __shared__ Row shared_row[];
    float* const memory = reinterpret_cast<float*>(shared_row);
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int mine = thread / group, member = thread % group, per_block = threads / group;
    const long long first_system = blockIdx.x * static_cast<long long>(per_block);
    const int here = static_cast<int>(min(static_cast<long long>(per_block), systems - first_system));
    const long long first = first_system * m;
    const int count = here * m;  // rows of the block
    const int pitch = btcs::padded(threads * rows);

    __shared__ unsigned bad[256];
    for (int s = thread; s < here; s += threads) bad[s] = 0xffffffffu;  // solved

    // Neighbouring threads fetch neighbouring floats, and leave them where their owners find them.
    float fetched[4][rows];
    const float* const from[4] = {lower + first, diagonal + first, upper + first, rhs + first};
#pragma unroll
    for (int j = 0; j < rows; ++j) {  // all loads first, so that they are on their way together
#pragma unroll
        for (int array = 0; array < 4; ++array) {
            const int e = j * threads + thread;
            fetched[array][j] = e < count ? from[array][e] : 0;
        }
    }
#pragma unroll
    for (int j = 0; j < rows; ++j) {
#pragma unroll
        for (int array = 0; array < 4; ++array) {
            memory[array * pitch + btcs::padded(j * threads + thread)] = fetched[array][j];
        }
    }
    __syncthreads();
    btcs::Chunk<rows> chunk;
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        const int i = member * rows + j;  // the row's number in its system
        Row row;                          // behind the system's end there are rows that say x = 0
        if (mine < here && i < m) {
            const int e = btcs::padded(mine * m + i);
            const float before = i > 0 ? memory[e] : 0, middle = memory[pitch + e];
            const float behind = i < m - 1 ? memory[2 * pitch + e] : 0;
            row = btcs::row_of(before, middle, behind, memory[3 * pitch + e]);
            if (!btcs::dominated(before, middle, behind)) atomicMin(&bad[mine], static_cast<unsigned>(i));
        }
        chunk.set(j, row);
    }
    Row row = chunk.eliminate();  // reaches from the last unknown of the thread before ...
    __syncthreads();              // all rows have been fetched: their memory is free for others

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
        // TODO 4.2 (about 3 lines): reduce `row` by the rows `distance` before and behind it. Where the system has
        // none, Row{} will do: it says x = 0.
    }
    // TODO 4.3 (about 5 lines): row.rhs is the last unknown of this thread now. The one of the thread before is in
    // its registers: fetch it through `memory`. Then chunk.substitute(before, last) leaves the solution in
    // chunk.rhs. The starter does not ask the thread before.
    __syncthreads();
    chunk.substitute(0, row.rhs);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        const int i = member * rows + j;
        if (mine < here && i < m) {
            memory[btcs::padded(mine * m + i)] = bad[mine] == 0xffffffffu ? chunk.rhs[j] : NAN;
        }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        const int e = j * threads + thread;
        if (e < count) x[first + e] = memory[btcs::padded(e)];
    }
    for (int s = thread; s < here; s += threads) status[first_system + s] = static_cast<int>(bad[s]);
}

void btcs::cyclic_reduction(const float* lower, const float* diagonal, const float* upper, const float* rhs,
                            float* x, int* status, int m, int systems, cudaStream_t stream) {
    if (m > most_rows) throw std::invalid_argument("a system of a batch has most_rows rows at most");
    if (systems == 0) return;
    int group = 1;
    while (group * rows < m) group *= 2;
    const int threads = group < 256 ? 256 : group;
    const int per_block = threads / group;
    const int bytes = static_cast<int>(4 * sizeof(float)) * padded(threads * rows);
    rungs::allow_shared_memory(cyclic_reduction_kernel, bytes);
    cyclic_reduction_kernel<<<(systems + per_block - 1) / per_block, threads, bytes, stream>>>(
        lower, diagonal, upper, rhs, x, status, m, systems, group);
    CUDA_CHECK(cudaGetLastError());
}
