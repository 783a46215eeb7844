// Barriers at which threads arrive and for which they wait apart, and the pipelines made of them.
#include <cooperative_groups.h>
#include <cuda_awbarrier_primitives.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "runtime/tests/simt_tools.h"

#pragma nv_diag_suppress static_var_with_dynamic_init

using namespace simt_tools;
namespace cg = cooperative_groups;

namespace {

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

__device__ int next_of(int i, int n) { return i + 1 < n ? i + 1 : 0; }

// Every thread hands a number on to the one before it, round after round.
__global__ void hand_on(int* out, int rounds) {
    __shared__ BlockBarrier barrier;
    __shared__ int box[1024];
    const int me = threadIdx.x, n = blockDim.x;
    if (me == 0) init(&barrier, n);
    __syncthreads();
    int value = me;
    for (int round = 0; round < rounds; ++round) {
        box[me] = value;
        barrier.arrive_and_wait();
        value = box[next_of(me, n)];
        barrier.arrive_and_wait();
    }
    out[blockIdx.x * n + me] = value;
}

// The same with work between arrival and wait, of which nobody else hears until the next phase.
__global__ void hand_on_apart(int* out, int rounds) {
    __shared__ alignas(BlockBarrier) char storage[sizeof(BlockBarrier)];
    __shared__ int box[1024];
    auto* barrier = reinterpret_cast<BlockBarrier*>(storage);
    const int me = threadIdx.x, n = blockDim.x;
    if (me == 0) init(barrier, n);
    __syncthreads();
    int value = me, own = 0;
    for (int round = 0; round < rounds; ++round) {
        box[me] = value;
        BlockBarrier::arrival_token token = barrier->arrive();
        own += round;
        barrier->wait(cuda::std::move(token));
        value = box[next_of(me, n)];
        barrier->wait(barrier->arrive());
    }
    out[me] = value + own;
}

// Thread i takes part in i + 1 phases; each phase counts who is left.
__global__ void drop_out(int* present) {
    __shared__ BlockBarrier barrier;
    const int me = threadIdx.x, n = blockDim.x;
    if (me == 0) init(&barrier, n);
    __syncthreads();
    for (int phase = 0; phase < n; ++phase) {
        atomicAdd(present + phase, 1);
        if (phase == me) {
            barrier.arrive_and_drop();
            return;
        }
        barrier.arrive_and_wait();
    }
}

struct Total {
    int* values;
    int* total;
    int n;
    __device__ void operator()() {
        int sum = 0;
        for (int i = 0; i < n; ++i) sum += values[i];
        *total += sum;
    }
};
__global__ void total_at_end(int* out, int rounds) {
    __shared__ cuda::barrier<cuda::thread_scope_block, Total> barrier;
    __shared__ int values[1024];
    __shared__ int total;
    const int me = threadIdx.x, n = blockDim.x;
    if (me == 0) {
        total = 0;
        init(&barrier, n, Total{values, &total, n});
    }
    __syncthreads();
    for (int round = 1; round <= rounds; ++round) {
        values[me] = round;
        barrier.arrive_and_wait();
        out[round * n + me] = total;
        __syncthreads();
    }
}

// One warp fills two buffers in turn, the others empty them: a barrier says that a buffer is full, another
// that it is free.
constexpr int buffer_size = 64;
__device__ void fill(BlockBarrier* free, BlockBarrier* full, int* buffers, const int* in, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        free[round % 2].arrive_and_wait();
        for (int i = threadIdx.x; i < buffer_size; i += 32)
            buffers[round % 2 * buffer_size + i] = in[round * buffer_size + i];
        (void)full[round % 2].arrive();
    }
}
__device__ void empty(BlockBarrier* free, BlockBarrier* full, const int* buffers, int* sums, int rounds) {
    (void)free[0].arrive();
    (void)free[1].arrive();
    for (int round = 0; round < rounds; ++round) {
        full[round % 2].arrive_and_wait();
        int sum = 0;
        for (int i = 0; i < buffer_size; ++i) sum += buffers[round % 2 * buffer_size + i];
        sums[round * (blockDim.x - 32) + threadIdx.x - 32] = sum;
        (void)free[round % 2].arrive();
    }
}
__global__ void fill_and_empty(const int* in, int* sums, int rounds) {
    __shared__ int buffers[2 * buffer_size];
    __shared__ BlockBarrier barriers[4];
    if (threadIdx.x < 4) init(barriers + threadIdx.x, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 32)
        fill(barriers, barriers + 2, buffers, in, rounds);
    else
        empty(barriers, barriers + 2, buffers, sums, rounds);
}

// A thread that does not arrive waits by parity.
__global__ void watch(int* out, int phases) {
    __shared__ BlockBarrier done, seen;
    __shared__ int value;
    if (threadIdx.x == 0) {
        init(&done, 1);
        init(&seen, 1);
    }
    __syncthreads();
    for (int phase = 0; phase < phases; ++phase)
        if (threadIdx.x == 0) {
            value = phase;
            (void)done.arrive();
            seen.wait_parity(phase % 2);
        } else if (threadIdx.x == 1) {
            while (!done.try_wait_parity_for(phase % 2, cuda::std::chrono::microseconds(10))) {
            }
            out[phase] = value;
            (void)seen.arrive(1);
        }
}
__global__ void give_up(int* out) {
    __shared__ BlockBarrier barrier;
    init(&barrier, 2);
    barrier.wait_parity(true);  // the phase before the first counts as over
    out[0] = barrier.try_wait_for(barrier.arrive(), cuda::std::chrono::microseconds(1));
    auto token = barrier.arrive();
    out[1] = barrier.try_wait_for(cuda::std::move(token), cuda::std::chrono::microseconds(1));
    barrier.wait_parity(false);
    out[2] = 1;
}

using DeviceBarrier = cuda::barrier<cuda::thread_scope_device>;
__global__ void prepare(DeviceBarrier* barrier, int threads) { init(barrier, threads); }
__global__ void between_blocks(DeviceBarrier* barrier, int* boxes, int* out, int rounds) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int value = me;
    for (int round = 0; round < rounds; ++round) {
        boxes[me] = value;
        barrier->arrive_and_wait();
        value = boxes[me < n / 2 ? me + n / 2 : me - n / 2] + 1;
        barrier->arrive_and_wait();
    }
    out[me] = value;
}

__global__ void by_primitives(int* out) {
    __shared__ __mbarrier_t barrier;
    __shared__ int box[1024];
    const int me = threadIdx.x, n = blockDim.x;
    if (me == 0) __mbarrier_init(&barrier, n);
    __syncthreads();
    box[me] = me;
    const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    out[me] = box[next_of(me, n)];
    __syncthreads();
    if (me == 0) __mbarrier_inval(&barrier);
}

__global__ void copied(const int* in, int* out) {
    __shared__ BlockBarrier barrier;
    __shared__ alignas(16) int by_group[4 * 1024];
    __shared__ int by_thread[1024];
    const auto block = cg::this_thread_block();
    const int me = threadIdx.x, n = blockDim.x;
    if (me == 0) init(&barrier, n);
    block.sync();
    cuda::memcpy_async(block, by_group, in, cuda::aligned_size_t<16>(sizeof(int) * 4 * n), barrier);
    cuda::memcpy_async(by_thread + me, in + me, sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[me] = by_group[4 * n - 1 - me] + by_thread[next_of(me, n)];
}

// Every thread brings what it needs itself, `Stages` batches ahead.
template <int Stages>
__global__ void own_pipeline(const int* in, int* out, int batches) {
    __shared__ int stages[Stages][257];
    const int me = threadIdx.x, n = blockDim.x;
    auto pipe = cuda::make_pipeline();
    int brought = 0;
    for (int batch = 0; batch < batches; ++batch) {
        for (; brought < batches && brought < batch + Stages; ++brought) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stages[brought % Stages][me], in + brought * n + me, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[batch * n + me] = stages[batch % Stages][me];
        pipe.consumer_release();
    }
}
__global__ void prior(const int* in, int* out) {
    __shared__ int stages[2];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 2; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(stages + i, in + i, sizeof(int), pipe);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    out[0] = stages[0];
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    out[1] = stages[1];
}

// All threads bring a batch together, and read what others brought.
template <int Stages>
__global__ void block_pipeline(const int* in, int* out, int batches) {
    __shared__ int stages[Stages][257];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
    const auto block = cg::this_thread_block();
    const int me = threadIdx.x, n = blockDim.x;
    auto pipe = cuda::make_pipeline(block, &state);
    int brought = 0;
    for (int batch = 0; batch < batches; ++batch) {
        for (; brought < batches && brought < batch + Stages; ++brought) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stages[brought % Stages], in + brought * n, sizeof(int) * n, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[batch * n + me] = stages[batch % Stages][next_of(me, n)];
        pipe.consumer_release();
    }
}

// The first warp brings, the others read; `by_count`: the number of those who bring tells who they are.
template <int Stages, bool by_count>
__global__ void roles(const int* in, int* out, int batches) {
    __shared__ int stages[Stages][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
    const auto block = cg::this_thread_block();
    const bool brings = threadIdx.x < 32;
    auto pipe =
        by_count ? cuda::make_pipeline(block, &state, size_t{32})
                 : cuda::make_pipeline(
                       block, &state, brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int batch = 0; batch < batches; ++batch)
        if (brings) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stages[batch % Stages][threadIdx.x], in + batch * 32 + threadIdx.x,
                               sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            int sum = 0;
            for (int i = 0; i < 32; ++i) sum += stages[batch % Stages][i];
            out[batch * (blockDim.x - 32) + threadIdx.x - 32] = sum;
            pipe.consumer_release();
        }
    if (!brings && threadIdx.x % 2) pipe.quit();
}

int some_threads() { return GENERATE(1, 31, 32, 33, 256, 257); }
void count_up(Managed<int>& values) {
    int next = 0;
    for (int& value : values) value = next++;
}

}  // namespace

TEST_CASE("threads meet at a barrier in shared memory", "[simt][cuda_barrier]") {
    Orders orders;
    const int n = some_threads(), rounds = GENERATE(1, 5), blocks = 3;
    Managed<int> out(static_cast<size_t>(n) * blocks);
    hand_on<<<blocks, n>>>(out.get(), rounds);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n * blocks; ++i) REQUIRE(out[static_cast<size_t>(i)] == (i % n + rounds) % n);
}

TEST_CASE("threads arrive at a barrier and wait later", "[simt][cuda_barrier]") {
    Orders orders;
    const int n = some_threads(), rounds = 3;
    Managed<int> out(static_cast<size_t>(n));
    hand_on_apart<<<1, n>>>(out.get(), rounds);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) REQUIRE(out[static_cast<size_t>(i)] == (i + rounds) % n + 3);
}

TEST_CASE("a barrier expects fewer once threads have dropped out", "[simt][cuda_barrier]") {
    Orders orders;
    const int n = some_threads();
    Managed<int> present(static_cast<size_t>(n));
    drop_out<<<1, n>>>(present.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) REQUIRE(present[static_cast<size_t>(i)] == n - i);
}

TEST_CASE("a barrier's completion runs once a phase, after all arrivals", "[simt][cuda_barrier]") {
    Orders orders;
    const int n = some_threads();
    Managed<int> out(static_cast<size_t>(n) * 5);
    total_at_end<<<1, n>>>(out.get(), 4);
    REQUIRE_LAUNCHED();
    for (int i = n; i < 5 * n; ++i) REQUIRE(out[static_cast<size_t>(i)] == n * (i / n) * (i / n + 1) / 2);
}

TEST_CASE("two barriers a buffer let warps fill and empty it", "[simt][cuda_barrier]") {
    Orders orders;
    const int consumers = GENERATE(1, 32, 225), rounds = GENERATE(1, 2, 7);
    Managed<int> in(static_cast<size_t>(rounds) * buffer_size), sums(static_cast<size_t>(rounds * consumers));
    count_up(in);
    fill_and_empty<<<1, 32 + consumers>>>(in.get(), sums.get(), rounds);
    REQUIRE_LAUNCHED();
    for (int round = 0; round < rounds; ++round)
        for (int i = 0; i < consumers; ++i)
            REQUIRE(sums[static_cast<size_t>(round * consumers + i)] ==
                    round * buffer_size * buffer_size + buffer_size * (buffer_size - 1) / 2);
}

TEST_CASE("waits by parity and with a time limit", "[simt][cuda_barrier]") {
    Orders orders;
    Managed<int> out(5);
    watch<<<1, 40>>>(out.get(), 5);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 5; ++i) CHECK(out[static_cast<size_t>(i)] == i);
    give_up<<<1, 1>>>(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 0);
    CHECK(out[1] == 1);
    CHECK(out[2] == 1);
}

TEST_CASE("blocks meet at a barrier in global memory", "[simt][cuda_barrier]") {
    Orders orders;
    const int blocks = GENERATE(2, 8), n = GENERATE(1, 33, 64), rounds = 3;
    Managed<int> boxes(static_cast<size_t>(blocks * n)), out(static_cast<size_t>(blocks * n));
    DeviceBarrier* barrier = nullptr;
    REQUIRE(cudaMalloc((void**)&barrier, sizeof *barrier) == cudaSuccess);
    prepare<<<1, 1>>>(barrier, blocks * n);
    between_blocks<<<blocks, n>>>(barrier, boxes.get(), out.get(), rounds);
    REQUIRE_LAUNCHED();
    const int half = blocks * n / 2;
    for (int i = 0; i < 2 * half; ++i)
        REQUIRE(out[static_cast<size_t>(i)] == (i < half ? i + half : i - half) + rounds);
    cudaFree(barrier);
}

TEST_CASE("barriers as functions on a word", "[simt][cuda_barrier]") {
    Orders orders;
    const int n = some_threads();
    Managed<int> out(static_cast<size_t>(n));
    by_primitives<<<1, n>>>(out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) REQUIRE(out[static_cast<size_t>(i)] == (i + 1) % n);
    CHECK(__mbarrier_maximum_count() == 16383);
    CHECK(BlockBarrier::max() == 1048575);
}

TEST_CASE("a barrier waits for copies", "[simt][cuda_barrier]") {
    Orders orders;
    const int n = some_threads();
    Managed<int> in(static_cast<size_t>(n) * 4), out(static_cast<size_t>(n));
    count_up(in);
    copied<<<1, n>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) REQUIRE(out[static_cast<size_t>(i)] == 4 * n - 1 - i + (i + 1) % n);
}

TEST_CASE("a thread's own pipeline brings its batches", "[simt][cuda_barrier][pipeline]") {
    Orders orders;
    const int n = some_threads(), batches = GENERATE(1, 2, 7);
    const auto kernel = GENERATE(own_pipeline<1>, own_pipeline<2>, own_pipeline<3>);
    Managed<int> in(static_cast<size_t>(n * batches)), out(static_cast<size_t>(n * batches));
    count_up(in);
    kernel<<<1, n>>>(in.get(), out.get(), batches);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n * batches; ++i) REQUIRE(out[static_cast<size_t>(i)] == i);
    prior<<<1, 1>>>(in.get(), out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 0);
}

TEST_CASE("a block's pipeline brings batches for all", "[simt][cuda_barrier][pipeline]") {
    Orders orders;
    const int n = some_threads(), batches = GENERATE(1, 2, 7);
    const auto kernel = GENERATE(block_pipeline<1>, block_pipeline<2>, block_pipeline<3>);
    Managed<int> in(static_cast<size_t>(n * batches)), out(static_cast<size_t>(n * batches));
    count_up(in);
    kernel<<<1, n>>>(in.get(), out.get(), batches);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n * batches; ++i) REQUIRE(out[static_cast<size_t>(i)] == i / n * n + (i % n + 1) % n);
}

TEST_CASE("threads of a pipeline share the work by roles", "[simt][cuda_barrier][pipeline]") {
    Orders orders;
    const int readers = GENERATE(1, 32, 225), batches = GENERATE(1, 2, 7);
    const auto kernel = GENERATE(roles<1, false>, roles<2, false>, roles<3, true>);
    Managed<int> in(static_cast<size_t>(32 * batches)), out(static_cast<size_t>(readers * batches));
    count_up(in);
    kernel<<<1, 32 + readers>>>(in.get(), out.get(), batches);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < readers * batches; ++i)
        REQUIRE(out[static_cast<size_t>(i)] == i / readers * 32 * 32 + 31 * 32 / 2);
}
