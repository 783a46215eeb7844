// Launches that can never end, and what is said about them.
#include <cooperative_groups.h>

#include <cuda/barrier>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;
using Catch::Matchers::ContainsSubstring;

namespace {

__global__ void barrier_against_warp() {
    if (threadIdx.x < 16)
        __syncthreads();  // line 15
    else
        __syncwarp();  // line 17
}
__global__ void different_barriers(int* out) {
    if (threadIdx.x % 2)
        __syncthreads();
    else
        out[threadIdx.x] = __syncthreads_count(1);
}
__global__ void different_masks() {
    if (threadIdx.x < 8)
        __syncwarp(0x000001ff);
    else
        __syncwarp(0xffffff80);
}
__global__ void block_leaves_grid() {
    if (blockIdx.x == 1) return;
    cooperative_groups::this_grid().sync();
}
__global__ void polls_forever(int* flag) {
    while (atomicAdd(flag, 0) == 0) {
    }
}
/// Makes way inside the lock, so that the others poll; nobody exits meanwhile.
__global__ void takes_turns(int* lock, int* inside, long long nanoseconds) {
    const long long begin = clock64();
    do {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        ++*inside;
        for (int i = 0; i < 40; ++i) __threadfence();
        atomicExch(lock, 0);
    } while (clock64() - begin < nanoseconds);
}
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void arrivals_missing(bool some_sync) {
    __shared__ BlockBarrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 40)
        barrier.arrive_and_wait();
    else if (some_sync)
        __syncthreads();
}
__global__ void never_initialised() {
    __shared__ BlockBarrier barrier;
    barrier.arrive_and_wait();
}
__global__ void arrives_too_often() {
    __shared__ BlockBarrier barrier;
    if (threadIdx.x == 0) init(&barrier, 3);
    __syncthreads();
    barrier.wait(barrier.arrive(2));
}
using DeviceBarrier = cuda::barrier<cuda::thread_scope_device>;
__global__ void prepare(DeviceBarrier* barrier, int threads) { init(barrier, threads); }
__global__ void block_stays_away(DeviceBarrier* barrier) {
    if (blockIdx.x != 1) barrier->arrive_and_wait();
}
__global__ void half_a_tile() {
    auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    if (threadIdx.x >= 96) return;
    if (threadIdx.x < 32)
        tile.sync();
    else if (threadIdx.x < 64)
        tile.any(1);
    else
        tile.sync();
}
__global__ void part_of_a_tile() {
    cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block()).sync();
}
__global__ void different_ranks(int* out) {
    auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
    *out = tile.shfl(1, threadIdx.x);
}
__global__ void store(int* out, int value) { *out = value; }

/// Waits for a later warp of the block, by loops that only look.
__global__ void waits_in_block(int* out) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) flag = 1;
    if (threadIdx.x == 0) {
        while (flag == 0)
            ;
        *out = 1;
    }
}
/// Waits for the last block.
__global__ void waits_for_block(volatile int* flag, int* out) {
    if (blockIdx.x == gridDim.x - 1) *flag = 1;
    do {
    } while (*flag == 0);
    out[blockIdx.x] = 1;
}
}  // namespace

TEST_CASE("a loop that only looks at a volatile word lets the others run", "[simt][deadlock]") {
    constexpr int blocks = 8;
    simt::set_threads(GENERATE(1u, 2u));
    int* words = nullptr;
    REQUIRE(cudaMallocManaged(&words, (blocks + 2) * sizeof(int)) == cudaSuccess);
    for (int i = 0; i < blocks + 2; ++i) words[i] = 0;
    waits_in_block<<<1, 64>>>(words);
    waits_for_block<<<blocks, 1>>>(words + 1, words + 2);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(words[0] == 1);
    for (int i = 0; i < blocks; ++i) CHECK(words[2 + i] == 1);
    cudaFree(words);
    simt::set_threads(2);
}

TEST_CASE("a deadlock names lanes, barriers and lines", "[simt][deadlock]") {
    ExpectFailure quiet;
    simt::set_threads(GENERATE(1u, 3u));
    barrier_against_warp<<<1, 32>>>();
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    const std::string report = simt::last_report();
    INFO(report);
    CHECK_THAT(report, ContainsSubstring("kernel barrier_against_warp: deadlock in block (0,0,0)"));
    CHECK_THAT(report, ContainsSubstring("threads 0-15 wait at __syncthreads"));
    CHECK_THAT(report, ContainsSubstring("threads 16-31 wait at __syncwarp with mask 0xffffffff"));
    CHECK_THAT(report,
               ContainsSubstring("simt: error=deadlock kernel=\"barrier_against_warp\" block=(0,0,0)"));
    simt::set_threads(2);
}

TEST_CASE("a tile of several warps that not all of its threads come to", "[simt][deadlock]") {
    ExpectFailure quiet;
    half_a_tile<<<1, 128>>>();
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    const std::string report = simt::last_report();
    INFO(report);
    CHECK_THAT(report, ContainsSubstring("kernel half_a_tile: deadlock in block (0,0,0)"));
    CHECK_THAT(report, ContainsSubstring("threads 0-31 wait at tile.sync of 64 threads"));
    CHECK_THAT(report, ContainsSubstring("threads 32-63 wait at tile.any of 64 threads"));
    CHECK_THAT(report, ContainsSubstring("threads 64-95 wait at tile.sync of 64 threads"));
    CHECK_THAT(report, ContainsSubstring("32 of 128 threads have exited"));
}

TEST_CASE("a block that does not consist of tiles", "[simt][deadlock]") {
    ExpectFailure quiet;
    part_of_a_tile<<<1, 96>>>();
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    CHECK_THAT(simt::last_report(), ContainsSubstring("do not divide into tiles"));
}

TEST_CASE("a shuffle of several warps that reads more than one thread", "[simt][deadlock]") {
    ExpectFailure quiet;
    different_ranks<<<1, 64>>>(nullptr);
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    CHECK_THAT(simt::last_report(), ContainsSubstring("different ranks"));
}

TEST_CASE("a listener hears of a failure and whether it is a deadlock", "[simt][deadlock]") {
    ExpectFailure quiet;
    static std::string told;
    static int deadlocks;
    told.clear();
    deadlocks = 0;
    simt::set_report_listener([](const std::string& report, bool deadlock) {
        told += report;
        deadlocks += deadlock;
    });
    barrier_against_warp<<<1, 32>>>();
    CHECK(told == simt::last_report());
    CHECK(deadlocks == 1);
    cudaDeviceReset();
    store<<<1, 2000>>>(nullptr, 0);  // too many threads for a block
    store<<<1, 1>>>(nullptr, 0);
    simt::set_report_listener(nullptr);
    CHECK_THAT(told, ContainsSubstring("simt: error=illegal-address"));
    CHECK(deadlocks == 1);
}

TEST_CASE("the error sticks until the device is reset, and the process goes on", "[simt][deadlock]") {
    int* cell = nullptr;
    {
        ExpectFailure quiet;
        barrier_against_warp<<<4, 64>>>();
        CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
        CHECK(cudaMalloc(&cell, sizeof(int)) == cudaErrorLaunchFailure);
        CHECK(cudaDeviceReset() == cudaSuccess);
    }
    Managed<int> out(1);
    store<<<1, 1>>>(out.get(), 9);
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 9);
}

TEST_CASE("kinds of barriers do not mix", "[simt][deadlock]") {
    ExpectFailure quiet;
    Managed<int> out(34);
    different_barriers<<<1, 34>>>(out.get());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    INFO(simt::last_report());
    CHECK_THAT(simt::last_report(), ContainsSubstring("wait at __syncthreads_count"));
    CHECK_THAT(simt::last_report(), ContainsSubstring("threads 1,3,5,"));
}

TEST_CASE("masks that do not fit together", "[simt][deadlock]") {
    ExpectFailure quiet;
    different_masks<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    INFO(simt::last_report());
    CHECK_THAT(simt::last_report(), ContainsSubstring("threads 0-7 wait at __syncwarp with mask 0x000001ff"));
}

TEST_CASE("a block that leaves before the grid's barrier", "[simt][deadlock]") {
    ExpectFailure quiet;
    simt::set_threads(GENERATE(1u, 2u, 4u));
    CHECK(cudaLaunchCooperativeKernel(block_leaves_grid, dim3(5), dim3(64), nullptr, 0, nullptr) ==
          cudaErrorLaunchFailure);
    INFO(simt::last_report());
    CHECK_THAT(simt::last_report(), ContainsSubstring("block_leaves_grid"));
    CHECK_THAT(simt::last_report(), ContainsSubstring("wait at grid.sync"));
    CHECK_THAT(simt::last_report(), ContainsSubstring("1 of 5 blocks have ended"));
    simt::set_threads(2);
}

TEST_CASE("polling for what never comes is ended", "[simt][deadlock][spin]") {
    ExpectFailure quiet;
    Managed<int> flag(1);
    simt::set_spin_limit(0.2);
    polls_forever<<<3, 32>>>(flag.get());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    simt::set_spin_limit(3);
    INFO(simt::last_report());
    CHECK_THAT(simt::last_report(), ContainsSubstring("kernel polls_forever: for 0.2 s"));
    CHECK_THAT(simt::last_report(), ContainsSubstring("wait in a spin loop"));
}

TEST_CASE("threads that take a lock from each other are not stuck", "[simt][deadlock][spin]") {
    Managed<int> lock(1), inside(1);
    const double limit = 0.5;  // far beyond what a busy machine keeps a thread waiting
    simt::set_spin_limit(limit);
    takes_turns<<<3, 64>>>(lock.get(), inside.get(), static_cast<long long>(2e9 * limit));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    simt::set_spin_limit(3);
    CHECK(inside[0] >= 3 * 64);
}

TEST_CASE("waiting at a barrier for arrivals that never come", "[simt][deadlock][cuda_barrier]") {
    ExpectFailure quiet;
    const bool some_sync = GENERATE(false, true);
    arrivals_missing<<<2, 64>>>(some_sync);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    INFO(simt::last_report());
    CHECK_THAT(simt::last_report(), ContainsSubstring("kernel arrivals_missing: deadlock in block ("));
    CHECK_THAT(simt::last_report(), ContainsSubstring("threads 0-39 wait at cuda::barrier"));
    CHECK_THAT(simt::last_report(), ContainsSubstring(some_sync ? "threads 40-63 wait at __syncthreads"
                                                                : "24 of 64 threads have exited"));
}

TEST_CASE("waiting at a barrier of all blocks for one that stays away", "[simt][deadlock][cuda_barrier]") {
    ExpectFailure quiet;
    DeviceBarrier* barrier = nullptr;
    REQUIRE(cudaMalloc(&barrier, sizeof *barrier) == cudaSuccess);
    prepare<<<1, 1>>>(barrier, 3 * 32);
    simt::set_spin_limit(0.2);
    block_stays_away<<<3, 32>>>(barrier);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    simt::set_spin_limit(3);
    INFO(simt::last_report());
    CHECK_THAT(simt::last_report(), ContainsSubstring("threads 0-31 wait at cuda::barrier"));
}

TEST_CASE("a barrier says how it is misused", "[simt][deadlock][cuda_barrier]") {
    ExpectFailure quiet;
    SECTION("before it is initialised") {
        never_initialised<<<1, 32>>>();
        CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
        INFO(simt::last_report());
        CHECK_THAT(simt::last_report(), ContainsSubstring("a barrier is used that nobody has initialised"));
    }
    SECTION("more often than it expects") {
        arrives_too_often<<<1, 2>>>();
        CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
        INFO(simt::last_report());
        CHECK_THAT(simt::last_report(),
                   ContainsSubstring("more arrivals at a barrier than its phase expects"));
    }
}
