// What the contract of chapter 1 promises besides what all do. Each rung has its own tests, under its
// own tag: `[03_shared_tree]`.

#include <cuda_runtime.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ladder/promises.hpp"
#include "reduction.cuh"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/random.hpp"
#include "rungs/stream.cuh"

namespace {

using reduction::Rung;
using rungs::DeviceBuffer;

/// A float in device memory that starts as NaN: a rung has to set it, not to add to it.
DeviceBuffer<float> poisoned() {
    return DeviceBuffer<float>(std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void counts_beyond_32_bits(const Rung& rung) {
    // 2^32 + 3 elements, all zero but for a few: at both ends, and around every place where an index of 31 or
    // 32 bits would wrap. Each is a different power of two, so a sum tells which of them arrived.
    const std::size_t n = (std::size_t{1} << 32) + 3;
    if (!rungs::on_a_gpu()) RUNGS_SKIP("4 billion elements are a matter for a GPU");
    const std::size_t free = rungs::free_device_memory();
    if (free < n * sizeof(float) + (std::size_t{1} << 30)) RUNGS_SKIP("needs 17 GiB of free device memory");

    DeviceBuffer<float> v(n);
    v.zero();
    const std::size_t places[] = {0,
                                  (std::size_t{1} << 31) - 1,
                                  std::size_t{1} << 31,
                                  n - 4,
                                  (std::size_t{1} << 32),
                                  (std::size_t{1} << 31) + 1,
                                  (n / 3) * 2,
                                  n - 1};
    float sum_expected = 0, dot_expected = 0, value = 1;
    for (const std::size_t place : places) {
        CUDA_CHECK(cudaMemcpy(v.data() + place, &value, sizeof value, cudaMemcpyHostToDevice));
        sum_expected += value;
        dot_expected += value * value;
        value *= 2;
    }
    DeviceBuffer<float> sum = poisoned();
    rung.sum(v.data(), sum.data(), n, nullptr);
    CHECK(sum.to_host()[0] == sum_expected);
    rung.dot(v.data(), v.data(), sum.data(), n, nullptr);
    CHECK(sum.to_host()[0] == dot_expected);
}

/// Rung 06 promises more than a small error: the same data give the same bits, run after run. Float atomics
/// cannot, because their order is whatever order the blocks come in (the chapter's program shows it).
void repeats_bit_for_bit(const Rung& rung) {
    const std::vector<float> values = rungs::random_field(300'007, 11, rungs::signed_uniform);
    const DeviceBuffer<float> v(values), w(rungs::random_field(values.size(), 12));
    const auto bits = [&](cudaStream_t stream) {
        DeviceBuffer<float> sums(2);
        rung.sum(v.data(), sums.data(), v.size(), stream);
        rung.dot(v.data(), w.data(), sums.data() + 1, v.size(), stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        std::vector<float> answers = sums.to_host();
        std::vector<std::uint32_t> as_integers(2);
        std::memcpy(as_integers.data(), answers.data(), sizeof(float) * 2);
        return as_integers;
    };
    const std::vector<std::uint32_t> first = bits(nullptr);
    const rungs::Stream stream;
    for (int run = 0; run < 20; ++run) REQUIRE(bits(run % 2 ? stream.get() : nullptr) == first);
}

// The table of tests: every promise, for every rung of the contract's own table.

constexpr rungs::Promise<Rung> promises[] = {
    {counts_beyond_32_bits, "counts beyond 32 bits"},
};

const bool registered = rungs::register_promises<reduction::rungs, promises>("01_reduction");

}  // namespace

TEST_CASE("06_vectorized repeats bit for bit", "[01_reduction][06_vectorized]") {
    RUNGS_NEEDS_DEVICE();
    for (const Rung& rung : reduction::rungs) {
        if (std::string(rung.name) == "06_vectorized") return repeats_bit_for_bit(rung);
    }
    FAIL("the ladder has no rung 06_vectorized");
}
