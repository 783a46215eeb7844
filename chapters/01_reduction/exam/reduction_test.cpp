// What the contract of chapter 1 promises, checked on every rung of the ladder. Each rung has its own tests,
// under its own tag: `[03_shared_tree]`.

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "reduction.cuh"
#include "rungs/catch.hpp"
#include "rungs/contract_test.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/random.hpp"
#include "rungs/stream.cuh"

std::unique_ptr<rungs::Exam> make_exam_01_reduction();

namespace {

using reduction::Rung;
using rungs::DeviceBuffer;

const std::unique_ptr<rungs::Exam> exam = make_exam_01_reduction();

/// A vector in device memory that starts as many elements past a 256-byte boundary as its array asks for.
class Operand {
  public:
    explicit Operand(const rungs::Array& array) : skip_(array.misalignment), buffer_(skip_ + array.count) {
        std::vector<float> values(buffer_.size(), std::numeric_limits<float>::quiet_NaN());
        std::copy_n(array.as<float>().begin(), array.count, values.begin() + static_cast<long>(skip_));
        buffer_.copy_from(values);
    }
    const float* data() const { return buffer_.empty() ? nullptr : buffer_.data() + skip_; }
    std::vector<float> to_host() const { return buffer_.to_host(); }

  private:
    std::size_t skip_;
    DeviceBuffer<float> buffer_;
};

/// A float in device memory that starts as NaN: a rung has to set it, not to add to it.
DeviceBuffer<float> poisoned() {
    return DeviceBuffer<float>(std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
}

/// `n` whole numbers: their sum is exact in float, so answers can be compared with ==.
std::vector<float> whole_numbers(std::size_t n, std::uint64_t seed) {
    return rungs::random_field(n, seed, rungs::Integers{-8, 8});
}

float sum_of(const std::vector<float>& values) {
    float sum = 0;
    for (const float value : values) sum += value;
    return sum;
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void passes_every_case_of_the_exam(const Rung& rung) {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    const auto backend = rungs::on_a_gpu() ? rungs::Backend::cuda : rungs::Backend::cpu;
    const rungs::RungEntry* entry = manifest.find(rung.name);
    REQUIRE(entry);
    for (const rungs::Case& which : manifest.cases_of(*entry, backend, rungs::exam_key())) {
        const rungs::Task task = exam->make(which);
        const Operand v(task.inputs[0]);
        DeviceBuffer<float> sum = poisoned();
        const std::size_t n = task.inputs[0].count;
        if (which.problem == "dot") {
            const Operand w(task.inputs[1]);
            rung.dot(v.data(), w.data(), sum.data(), n, nullptr);
            CUDA_CHECK(cudaDeviceSynchronize());
        } else {
            rung.sum(v.data(), sum.data(), n, nullptr);
        }
        const std::vector<rungs::Array> outputs{rungs::Array::of("sum", sum.to_host())};
        const rungs::Check check = exam->check(which, task, outputs);
        CAPTURE(which.problem, n, which.kind, which.seed, check.error, check.tolerance, check.cause);
        REQUIRE(check.passed);
    }
}

void is_zero_for_no_elements(const Rung& rung) {
    DeviceBuffer<float> sum = poisoned();
    rung.sum(nullptr, sum.data(), 0, nullptr);
    CHECK(sum.to_host()[0] == 0);
    sum = poisoned();
    rung.dot(nullptr, nullptr, sum.data(), 0, nullptr);
    CHECK(sum.to_host()[0] == 0);
}

void replaces_what_the_output_held(const Rung& rung) {
    const std::vector<float> values = whole_numbers(10'000, 1);
    const DeviceBuffer<float> v(values);
    DeviceBuffer<float> sum(1);
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float before : {1e30f, -infinity, std::numeric_limits<float>::quiet_NaN(), 1.0f}) {
        sum.copy_from(std::vector<float>{before});
        rung.sum(v.data(), sum.data(), v.size(), nullptr);
        CHECK(sum.to_host()[0] == sum_of(values));
    }
}

void can_be_called_again_and_again(const Rung& rung) {
    // Many calls without a wait between them, of different sizes: state left by one call, in scratch memory
    // or in a counter, must not reach the next.
    const std::size_t sizes[] = {100'003, 1, 0, 33, 65'536, 257, 4'099};
    std::vector<std::vector<float>> values;
    std::vector<DeviceBuffer<float>> v, sums;
    for (const std::size_t n : sizes) {
        values.push_back(whole_numbers(n, n));
        v.emplace_back(values.back());
        sums.push_back(poisoned());
    }
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < v.size(); ++i) {
            rung.sum(v[i].data(), sums[i].data(), v[i].size(), nullptr);
        }
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
        CAPTURE(sizes[i]);
        CHECK(sums[i].to_host()[0] == sum_of(values[i]));
    }
}

void leaves_input_and_neighbours_alone(const Rung& rung) {
    const std::vector<float> values = whole_numbers(4'099, 7);
    const DeviceBuffer<float> v(values), w(values);
    const std::vector<float> guard(3, 12345.0f);
    DeviceBuffer<float> sum(guard);
    rung.sum(v.data(), sum.data() + 1, v.size(), nullptr);
    rung.dot(v.data(), w.data(), sum.data() + 1, v.size(), nullptr);
    CHECK(v.to_host() == values);
    CHECK(w.to_host() == values);
    CHECK(sum.to_host()[0] == guard[0]);
    CHECK(sum.to_host()[2] == guard[2]);
}

void reads_nothing_beyond_its_elements(const Rung& rung) {
    // NaN stands before and after the elements, where the last block or a vector load may reach.
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t n : {1, 31, 255, 257, 1'000, 4'099}) {
        for (std::size_t before = 0; before < 5; ++before) {
            const std::vector<float> values = whole_numbers(n, n);
            std::vector<float> framed(before + n + 2'048, nan);
            std::copy(values.begin(), values.end(), framed.begin() + static_cast<long>(before));
            const DeviceBuffer<float> v(framed);
            DeviceBuffer<float> sum = poisoned();
            rung.sum(v.data() + before, sum.data(), n, nullptr);
            CAPTURE(n, before);
            REQUIRE(sum.to_host()[0] == sum_of(values));
        }
    }
}

void works_in_the_stream_it_is_given(const Rung& rung) {
    // The data arrive late in `stream`: work in any other stream would see what was there before.
    const std::vector<float> values = whole_numbers(50'000, 3);
    const DeviceBuffer<float> source(values);
    DeviceBuffer<float> v(values.size());
    DeviceBuffer<float> sum = poisoned();
    v.zero();
    const rungs::Stream stream;
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    CUDA_CHECK(cudaLaunchHostFunc(stream.get(), wait, nullptr));
    v.copy_from(source, stream.get());
    rung.sum(v.data(), sum.data(), v.size(), stream.get());
    float answer = 0;
    sum.copy_to(std::span(&answer, 1), stream.get());
    stream.sync();
    CHECK(answer == sum_of(values));
}

void keeps_two_streams_apart(const Rung& rung) {
    struct Lane {
        rungs::Stream stream;
        std::vector<float> values;
        DeviceBuffer<float> v;
        DeviceBuffer<float> sums;
    };
    constexpr std::size_t calls = 20;
    std::vector<Lane> lanes;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        std::vector<float> values = whole_numbers(30'000 + 1'000 * seed, seed);
        DeviceBuffer<float> v(values), sums(calls);
        sums.fill_bytes(0xff);
        lanes.push_back({rungs::Stream(), std::move(values), std::move(v), std::move(sums)});
    }
    for (std::size_t call = 0; call < calls; ++call) {
        for (Lane& lane : lanes) {
            rung.sum(lane.v.data(), lane.sums.data() + call, lane.v.size(), lane.stream.get());
        }
    }
    for (const Lane& lane : lanes) {
        CHECK(lane.sums.to_host() == std::vector<float>(calls, sum_of(lane.values)));
    }
}

void serves_two_host_threads(const Rung& rung) {
    const std::vector<float> values = whole_numbers(30'000, 5);
    const DeviceBuffer<float> v(values);
    std::vector<std::vector<float>> answers(2);
    std::vector<std::thread> threads;
    for (std::vector<float>& answer : answers) {
        threads.emplace_back([&] {
            const rungs::Stream stream;
            DeviceBuffer<float> sums(20);
            for (std::size_t call = 0; call < sums.size(); ++call) {
                rung.sum(v.data(), sums.data() + call, v.size(), stream.get());
            }
            stream.sync();
            answer = sums.to_host();
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<float>& answer : answers) {
        CHECK(answer == std::vector<float>(20, sum_of(values)));
    }
}

void counts_beyond_32_bits(const Rung& rung) {
    // 2^32 + 3 elements, all zero but for a few: at both ends, and around every place where an index of 31 or
    // 32 bits would wrap. Each is a different power of two, so a sum tells which of them arrived.
    const std::size_t n = (std::size_t{1} << 32) + 3;
    if (!rungs::on_a_gpu()) RUNGS_SKIP("4 billion elements are a matter for a GPU");
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
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

using Promise = void (*)(const Rung&);

constexpr std::pair<Promise, const char*> promises[] = {
    {passes_every_case_of_the_exam, "passes every case of the exam"},
    {is_zero_for_no_elements, "is 0 for no elements"},
    {replaces_what_the_output_held, "replaces what the output held"},
    {can_be_called_again_and_again, "can be called again and again"},
    {leaves_input_and_neighbours_alone, "leaves input and neighbours alone"},
    {reads_nothing_beyond_its_elements, "reads nothing beyond its elements"},
    {works_in_the_stream_it_is_given, "works in the stream it is given"},
    {keeps_two_streams_apart, "keeps two streams apart"},
    {serves_two_host_threads, "serves two host threads"},
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

TEST_CASE("the contract's table and the manifest name the same rungs", "[01_reduction]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    REQUIRE(std::size(reduction::rungs) == manifest.rungs.size());
    for (std::size_t i = 0; i < manifest.rungs.size(); ++i) {
        CHECK(reduction::rungs[i].name == manifest.rungs[i].name);
    }
}
