// The order in which blocks, warps and lanes run.
#include <set>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

__global__ void arrival(int* order, int* next) {
    order[atomicAdd(next, 1)] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
// Right only when lanes run in ascending order: adds up what the neighbour below has written,
// without a barrier.
__global__ void wrong_without_barrier(int* out) {
    __shared__ int chain[65];
    if (threadIdx.x == 0) chain[0] = 0;
    chain[threadIdx.x + 1] = chain[threadIdx.x] + 1;
    out[threadIdx.x] = chain[threadIdx.x + 1];
}

std::vector<int> arrivals(std::uint64_t seed, unsigned blocks, unsigned lanes) {
    simt::set_seed(seed);
    simt::set_threads(1);
    Managed<int> order(blocks * lanes), next(1);
    arrival<<<blocks, lanes>>>(order.get(), next.get());
    REQUIRE_LAUNCHED();
    std::vector<int> result(order.begin(), order.end());
    simt::set_seed(0);
    simt::set_threads(2);
    return result;
}

}  // namespace

TEST_CASE("seed 0 is ascending order", "[simt][order]") {
    const std::vector<int> order = arrivals(0, 5, 70);
    for (int i = 0; i < 350; ++i) REQUIRE(order[static_cast<size_t>(i)] == i);
}

TEST_CASE("a seed gives one order, and another seed another", "[simt][order]") {
    const unsigned blocks = GENERATE(1u, 3u, 17u), lanes = GENERATE(33u, 256u);
    const std::vector<int> first = arrivals(1, blocks, lanes);
    CHECK(first == arrivals(1, blocks, lanes));
    CHECK(first != arrivals(2, blocks, lanes));
    CHECK(first != arrivals(0, blocks, lanes));
    CHECK(std::set<int>(first.begin(), first.end()).size() == blocks * lanes);
}

TEST_CASE("a warp's lanes start together", "[simt][order]") {
    const std::vector<int> order = arrivals(5, 1, 128);
    for (size_t i = 0; i < 128; ++i) REQUIRE(order[i] / 32 == order[i / 32 * 32] / 32);
}

TEST_CASE("blocks come in a permuted order", "[simt][order]") {
    const std::vector<int> order = arrivals(3, 1000, 1);
    int ascending = 0;
    for (size_t i = 1; i < 1000; ++i) ascending += order[i] > order[i - 1];
    CHECK(ascending > 400);
    CHECK(ascending < 600);
}

TEST_CASE("a missing barrier that ascending order hides", "[simt][order]") {
    Managed<int> out(64);
    simt::set_seed(0);
    wrong_without_barrier<<<1, 64>>>(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[63] == 64);
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        simt::set_seed(seed);
        wrong_without_barrier<<<1, 64>>>(out.get());
        REQUIRE_LAUNCHED();
        wrong += out[63] != 64;
    }
    simt::set_seed(0);
    CHECK(wrong == 3);
}
