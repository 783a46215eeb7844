// Barriers in two halves: what they order, and what they do not.
#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

namespace cg = cooperative_groups;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int n = 128;

/// Runs `kernel(in, out)` with one block of n threads.
void run_block(void (*kernel)(const int*, int*)) {
    Device<int> in("in", n, 1), out("out", n, 0);
    kernel<<<1, n>>>(in.get(), out.get());
}

template <bool repaired>
__global__ void no_wait(const int* in, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ int tile[n];
    if (threadIdx.x == 0) init(&barrier, n);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];  // bad: no_wait
    auto token = barrier.arrive();
    if (repaired) barrier.wait(cuda::std::move(token));
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];  // bad: no_wait
}
template <bool repaired>
void run_no_wait() {
    run_block(no_wait<repaired>);
}
CORPUS_CASE(no_wait, "racecheck", "read-write", "tile");

template <bool repaired>
__global__ void told_by_a_tile(const int* in, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ int tile[32];
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    auto both = cg::tiled_partition<64>(cg::this_thread_block());
    if (warp == 2) {
        tile[lane] = in[lane];  // bad: told_by_a_tile
        barrier.arrive();
    }
    if (warp == 0) barrier.arrive_and_wait();
    if (repaired) both.sync();
    if (warp == 1) out[lane] = tile[31 - lane];  // bad: told_by_a_tile
}
template <bool repaired>
void run_told_by_a_tile() {
    run_block(told_by_a_tile<repaired>);
}
CORPUS_CASE(told_by_a_tile, "racecheck", "read-write", "tile");

template <bool repaired>
__global__ void write_after_arrival(const int* in, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ int tile[n];
    if (threadIdx.x == 0) init(&barrier, n);
    __syncthreads();
    if (repaired) tile[threadIdx.x] = in[threadIdx.x];
    auto token = barrier.arrive();
    if (!repaired) tile[threadIdx.x] = in[threadIdx.x];  // bad: write_after_arrival
    barrier.wait(cuda::std::move(token));
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];  // bad: write_after_arrival
}
template <bool repaired>
void run_write_after_arrival() {
    run_block(write_after_arrival<repaired>);
}
CORPUS_CASE(write_after_arrival, "racecheck", "read-write", "tile");

template <bool repaired>
__global__ void one_phase_for_two(const int* in, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ int tile[n];
    if (threadIdx.x == 0) init(&barrier, n);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < 3; ++round) {
        tile[threadIdx.x] = in[threadIdx.x] + round;  // bad: one_phase_for_two
        barrier.arrive_and_wait();
        sum += tile[(threadIdx.x + 40) % n];  // bad: one_phase_for_two
        if (repaired) barrier.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}
template <bool repaired>
void run_one_phase_for_two() {
    run_block(one_phase_for_two<repaired>);
}
CORPUS_CASE(one_phase_for_two, "racecheck", "read-write", "tile");

// One warp fills, the others empty; a barrier says that the buffer is full, another that it is free.
template <bool repaired>
__global__ void freed_early(const int* in, int* out) {
    __shared__ BlockBarrier full, free;
    __shared__ int buffer[32];
    if (threadIdx.x == 0) {
        init(&full, n);
        init(&free, n);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int round = 0; round < 4; ++round) {
            free.arrive_and_wait();
            buffer[threadIdx.x] = in[threadIdx.x] + round;  // bad: freed_early
            full.arrive();
        }
    } else {
        int sum = 0;
        free.arrive();
        for (int round = 0; round < 4; ++round) {
            full.arrive_and_wait();
            if (!repaired) free.arrive();
            sum += buffer[31 - threadIdx.x % 32];  // bad: freed_early
            if (repaired) free.arrive();
        }
        out[threadIdx.x] = sum;
    }
}
template <bool repaired>
void run_freed_early() {
    run_block(freed_early<repaired>);
}
CORPUS_CASE(freed_early, "racecheck", "read-write", "buffer");

// One lane of each warp waits, for all of it.
template <bool repaired>
__global__ void one_lane_waits(const int* in, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ int tile[n];
    if (threadIdx.x == 0) init(&barrier, n);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];  // bad: one_lane_waits
    auto token = barrier.arrive();
    if (threadIdx.x % 32 == 0) barrier.wait(cuda::std::move(token));
    if (repaired) __syncwarp();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];  // bad: one_lane_waits
}
template <bool repaired>
void run_one_lane_waits() {
    run_block(one_lane_waits<repaired>);
}
CORPUS_CASE(one_lane_waits, "racecheck", "read-write", "tile");

struct Sum {
    const int* tile;
    int* total;
    __device__ void operator()() {
        int sum = 0;
        for (int i = 0; i < n; ++i) sum += tile[i];
        *total = sum;  // bad: result_of_completion
    }
};
template <bool repaired>
__global__ void result_of_completion(const int* in, int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block, Sum> barrier;
    __shared__ int tile[n], total;
    if (threadIdx.x == 0) init(&barrier, n, Sum{tile, &total});
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    auto token = barrier.arrive();
    if (repaired) barrier.wait(cuda::std::move(token));
    out[threadIdx.x] = total;  // bad: result_of_completion
}
template <bool repaired>
void run_result_of_completion() {
    run_block(result_of_completion<repaired>);
}
CORPUS_CASE(result_of_completion, "racecheck", "read-write", "total");

template <bool repaired>
__global__ void copy_not_awaited(const int* in, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ int tile[n];
    const auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, n);
    block.sync();
    cuda::memcpy_async(block, tile, in, sizeof tile, barrier);  // bad: copy_not_awaited
    if (repaired) barrier.arrive_and_wait();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];  // bad: copy_not_awaited
}
template <bool repaired>
void run_copy_not_awaited() {
    run_block(copy_not_awaited<repaired>);
}
CORPUS_CASE(copy_not_awaited, "racecheck", "read-write", "tile");

template <bool repaired>
__global__ void stage_not_awaited(const int* in, int* out) {
    __shared__ int stages[2][n];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int batch = 0; batch < 5; ++batch) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, stages[batch % 2], in, sizeof stages[0], pipe);  // bad: stage_not_awaited
        pipe.producer_commit();
        if (repaired) pipe.consumer_wait();
        out[threadIdx.x] += stages[batch % 2][n - 1 - threadIdx.x];  // bad: stage_not_awaited
        pipe.consumer_release();
    }
}
template <bool repaired>
void run_stage_not_awaited() {
    run_block(stage_not_awaited<repaired>);
}
CORPUS_CASE(stage_not_awaited, "racecheck", "read-write", "stages");

using DeviceBarrier = cuda::barrier<cuda::thread_scope_device>;
__global__ void prepare(DeviceBarrier* barrier, int threads) { init(barrier, threads); }

template <bool repaired>
__global__ void blocks_apart(DeviceBarrier* barrier, int* boxes, int* out) {
    const int me = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int sum = 0;
    for (int round = 0; round < 2; ++round) {
        boxes[me] = me + round;  // bad: blocks_apart
        barrier->arrive_and_wait();
        sum += boxes[n - 1 - me];  // bad: blocks_apart
        if (repaired) barrier->arrive_and_wait();
    }
    out[me] = sum;
}
template <bool repaired>
void run_blocks_apart() {
    Device<DeviceBarrier> barrier("barrier", 1);
    Device<int> boxes("boxes", n), out("out", n);
    prepare<<<1, 1>>>(barrier.get(), n);
    blocks_apart<repaired><<<4, n / 4>>>(barrier.get(), boxes.get(), out.get());
}
CORPUS_CASE(blocks_apart, "racecheck", "read-write", "boxes");

// From a lane to the others of its block by a barrier, from there to another block by a flag, and to the rest
// of that one by a barrier again.
template <bool repaired>
__global__ void barriers_and_flag(int* data, int* flag, int* out) {
    __shared__ BlockBarrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    if (blockIdx.x == 0) {
        data[threadIdx.x] = static_cast<int>(threadIdx.x);  // bad: barriers_and_flag
        auto token = barrier.arrive();
        if (threadIdx.x == 0) {
            if (repaired) barrier.wait(cuda::std::move(token));
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (threadIdx.x == 32) {
            while (atomicAdd(flag, 0) == 0) {
            }
            __threadfence();
        }
        barrier.arrive_and_wait();
        out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];  // bad: barriers_and_flag
    }
}
template <bool repaired>
void run_barriers_and_flag() {
    Device<int> data("data", n), flag("flag", 1, 0), out("out", n);
    barriers_and_flag<repaired><<<2, n>>>(data.get(), flag.get(), out.get());
}
CORPUS_CASE(barriers_and_flag, "racecheck", "read-write", "data");

template <bool repaired>
__global__ void arrival_missing(int* out) {
    __shared__ BlockBarrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 40)
        barrier.arrive_and_wait();
    else if (repaired)
        barrier.arrive_and_drop();
    out[threadIdx.x] = 1;
}
template <bool repaired>
void run_arrival_missing() {
    Device<int> out("out", 64);
    arrival_missing<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(arrival_missing, "synccheck", "deadlock", "");

}  // namespace
