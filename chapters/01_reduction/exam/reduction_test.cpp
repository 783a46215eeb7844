// What the contract of chapter 1 promises besides what all do. Each rung has its own tests, under its
// own tag: `[03_shared_tree]`.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ladder/promises.hpp"
#include "quads.cuh"
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
    // 2^32 + 3 elements, all zero except a few: at both ends, and around every place where an index of 31 or
    // 32 bits would wrap. Each is a different power of two, so a sum tells which of them arrived.
    const std::size_t n = (std::size_t{1} << 32) + 3;
    if (!rungs::on_a_gpu()) RUNGS_SKIP("4 billion elements are a matter for a GPU");
    const std::size_t free = rungs::free_device_memory();
    const std::size_t workspace = n / 2 * sizeof(float);  // of rung 02
    if (free < n * sizeof(float) + 2 * workspace) RUNGS_SKIP("needs 33 GiB of free device memory");

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

/// Rung 11 promises more than a small error: the same data give the same bits, run after run. Float atomics
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

TEST_CASE("11_one_launch repeats bit for bit", "[01_reduction][11_one_launch]") {
    for (const Rung& rung : reduction::rungs) {
        if (std::string(rung.name) == "11_one_launch") return repeats_bit_for_bit(rung);
    }
    FAIL("the ladder has no rung 11_one_launch");
}

TEST_CASE("quads begin at a line of 128 bytes and leave at most 3 floats", "[01_reduction][quads]") {
    const auto at = [](std::uintptr_t floats) { return reinterpret_cast<const float*>(4096 + 4 * floats); };
    for (std::uintptr_t first = 0; first < 40; ++first) {
        for (const std::size_t n : {0, 1, 3, 4, 31, 32, 33, 100, 1000}) {
            CAPTURE(first, n);
            const reduction::Quads quads = reduction::quads_of(at(first), n);
            CHECK(quads.head == std::min<std::size_t>(n, (32 - first % 32) % 32));
            CHECK(quads.head + 4 * quads.count <= n);
            CHECK(n - quads.head - 4 * quads.count < 4);
        }
        CHECK(reduction::equally_aligned(at(0), at(first)) == (first % 4 == 0));
        CHECK(reduction::equally_aligned(at(first), at(0)) == (first % 4 == 0));
    }
}
