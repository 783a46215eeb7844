// Barriers of a block.
#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

template <int Block>
__global__ void tree_sum(const int* in, int* out, int n) {
    __shared__ int partial[Block];
    const int i = blockIdx.x * Block + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = Block / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

// Threads below `stay` go on after the others have returned: the barrier counts those that are left.
__global__ void early_exit(int* out, int stay) {
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    __syncthreads();
    if (threadIdx.x >= stay) return;
    atomicAdd(&seen, 1);
    __syncthreads();
    out[threadIdx.x] = seen;
}

__global__ void votes(int* out, int threshold) {
    const int above = threadIdx.x >= threshold;
    const int count = __syncthreads_count(above);
    const int all = __syncthreads_and(above);
    const int any = __syncthreads_or(above);
    const int negative = __syncthreads_count(above ? -7 : 0);  // any value but 0 counts
    out[threadIdx.x] = count * 1000000 + (negative == count) * 10000 + all * 10 + any;
}

__global__ void barrier_in_branches(int* out) {
    __shared__ int value[64];
    value[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 20)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = value[63 - threadIdx.x];
}

__global__ void rotate(int* data, int rounds) {
    __shared__ int ring[1024];
    int value = threadIdx.x;
    for (int r = 0; r < rounds; ++r) {
        ring[threadIdx.x] = value;
        __syncthreads();
        value = ring[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
    }
    data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__device__ int deep(int depth) {
    volatile int local = depth;
    __syncthreads();
    const int rest = depth == 0 ? 0 : deep(depth - 1);
    __syncthreads();
    return rest + local;
}
__global__ void recursion(int* out, int depth) { out[threadIdx.x] = deep(depth); }

}  // namespace

TEMPLATE_TEST_CASE_SIG("a shared-memory tree", "[simt][barrier]", ((int Block), Block), 1, 2, 32, 64, 256,
                       1024) {
    Orders orders;
    const int n = GENERATE(1, 31, 1000, 4096, 10007);
    Managed<int> in(static_cast<size_t>(n)), out(1);
    int expected = 0;
    for (int i = 0; i < n; ++i) expected += in[static_cast<size_t>(i)] = (i * 7919) % 101 - 50;
    tree_sum<Block><<<(n + Block - 1) / Block, Block>>>(in.get(), out.get(), n);
    REQUIRE_LAUNCHED();
    CHECK(out[0] == expected);
}

TEST_CASE("a barrier counts the threads that have not exited", "[simt][barrier]") {
    Orders orders;
    const int stay = GENERATE(1, 5, 31, 32, 33, 99, 100);
    Managed<int> out(100);
    early_exit<<<1, 100>>>(out.get(), stay);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 100; ++i) REQUIRE(out[static_cast<size_t>(i)] == (i < stay ? stay : 0));
}

TEST_CASE("barriers that count and vote", "[simt][barrier]") {
    Orders orders;
    const int block = GENERATE(1, 32, 70, 1024);
    const int threshold = GENERATE(0, 1, 33, 5000);
    Managed<int> out(static_cast<size_t>(block));
    votes<<<2, static_cast<unsigned>(block)>>>(out.get(), threshold);
    REQUIRE_LAUNCHED();
    const int count = threshold < block ? block - threshold : 0;
    for (int v : out) REQUIRE(v == count * 1000000 + 10000 + (count == block) * 10 + (count > 0));
}

TEST_CASE("calls of __syncthreads in different places are one barrier", "[simt][barrier]") {
    Orders orders;
    Managed<int> out(64);
    barrier_in_branches<<<1, 64>>>(out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 64; ++i) REQUIRE(out[static_cast<size_t>(i)] == 63 - i);
}

TEST_CASE("many barriers in a row", "[simt][barrier]") {
    Orders orders;
    const unsigned block = GENERATE(1u, 33u, 1024u);
    Managed<int> out(3 * block);
    rotate<<<3, block>>>(out.get(), 50);
    REQUIRE_LAUNCHED();
    for (unsigned i = 0; i < 3 * block; ++i) REQUIRE(out[i] == static_cast<int>((i + 50) % block));
}

TEST_CASE("barriers at every depth of a recursion", "[simt][barrier]") {
    Orders orders;
    Managed<int> out(40);
    recursion<<<1, 40>>>(out.get(), 20);
    REQUIRE_LAUNCHED();
    for (int v : out) REQUIRE(v == 210);
}
