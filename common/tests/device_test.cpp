// Errors, buffers, streams, events and timing, on whichever backend this is built for.

#include <limits>
#include <thread>

#include "rungs/catch.hpp"
#include "rungs/cuda_check.cuh"
#include "rungs/cuda_error.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/event.cuh"
#include "rungs/random.hpp"
#include "rungs/scratch.cuh"
#include "rungs/stream.cuh"
#include "rungs/timing.cuh"

using namespace rungs;
using Catch::Matchers::ContainsSubstring;

namespace {

CudaError error_of(cudaError_t status) {
    try {
        CUDA_CHECK(status);
    } catch (const CudaError& error) {
        return error;
    }
    throw std::logic_error("expected a CudaError");
}

template <class Call>
cudaError_t code_of(const Call& call) {
    try {
        call();
    } catch (const CudaError& error) {
        return static_cast<cudaError_t>(error.code());
    }
    return cudaSuccess;
}

}  // namespace

TEST_CASE("CUDA_CHECK lets success pass and can be a statement anywhere", "[common][cuda_check]") {
    CHECK_NOTHROW(CUDA_CHECK(cudaSuccess));
    if (true)
        CUDA_CHECK(cudaSuccess);
    else
        FAIL("an if around CUDA_CHECK took the wrong branch");
    int evaluations = 0;
    CUDA_CHECK((++evaluations, cudaSuccess));
    CHECK(evaluations == 1);
}

TEST_CASE("an error knows what was called, where and why", "[common][cuda_check]") {
    const int line = __LINE__ + 2;
    try {
        CUDA_CHECK(
            static_cast<std::pair<cudaError_t, int>>(std::pair<cudaError_t, int>(cudaErrorInvalidValue, 1))
                .first);
        FAIL("nothing was thrown");
    } catch (const CudaError& error) {
        CHECK(error.code() == cudaErrorInvalidValue);
        CHECK(error.line() == line);
        CHECK_THAT(error.file(), Catch::Matchers::EndsWith("device_test.cpp"));
        CHECK_THAT(error.expression(),
                   ContainsSubstring("std::pair<cudaError_t, int>(cudaErrorInvalidValue, 1)"));
        CHECK(error.name() == "cudaErrorInvalidValue");
        CHECK(error.text() == cudaGetErrorString(cudaErrorInvalidValue));
        CHECK_THAT(error.hint(), ContainsSubstring("out of range"));
        for (const std::string& part : {error.file() + ":" + std::to_string(line), error.expression(),
                                        error.name() + " (1)", error.text(), "hint: " + error.hint()}) {
            CHECK_THAT(error.what(), ContainsSubstring(part));
        }
    }
}

TEST_CASE("the errors that students meet have hints", "[common][cuda_check]") {
    for (const int code : {1, 2, 9, 35, 98, 100, 101, 209, 222, 400, 700, 701, 702, 716, 719, 720, 999}) {
        CAPTURE(code);
        CHECK(std::string(cuda_hint(code)).size() > 20);
        CHECK_THAT(error_of(static_cast<cudaError_t>(code)).what(),
                   ContainsSubstring("(" + std::to_string(code) + ")"));
    }
    CHECK(std::string(cuda_hint(0)).empty());
    CHECK(std::string(cuda_hint(123456)).empty());
    CHECK_THAT(error_of(cudaErrorIllegalAddress).hint(), ContainsSubstring("if (i < n)"));
}

TEST_CASE("a missing driver is called a missing driver", "[common][cuda_check]") {
    int version = 0;
    const bool driver = cudaDriverGetVersion(&version) == cudaSuccess && version > 0;
    const std::string text = error_of(cudaErrorInsufficientDriver).text();
    CHECK(text ==
          (driver ? cudaGetErrorString(cudaErrorInsufficientDriver) : "no NVIDIA driver on this machine"));
}

TEST_CASE("an error that was reported is not reported again", "[common][cuda_check]") {
    CHECK(code_of([] { CUDA_CHECK(cudaSetDevice(-1)); }) != cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEMPLATE_TEST_CASE("a buffer brings back what was put in", "[common][device_buffer]", float, double, int,
                   unsigned char) {
    for (const std::size_t n : {0, 1, 31, 32, 33, 255, 257, 100'003}) {
        std::vector<TestType> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<TestType>(i % 251);
        DeviceBuffer<TestType> buffer(values);
        CHECK(buffer.size() == n);
        CHECK(buffer.bytes() == n * sizeof(TestType));
        CHECK(buffer.empty() == (n == 0));
        CHECK((buffer.data() == nullptr) == (n == 0));
        CHECK(buffer.to_host() == values);
        buffer.zero();
        CHECK(buffer.to_host() == std::vector<TestType>(n, TestType{0}));
        buffer.copy_from(values);
        DeviceBuffer<TestType> other(n);
        other.copy_from(buffer);
        CHECK(other.to_host() == values);
    }
}

TEST_CASE("bytes can be filled, for example to poison", "[common][device_buffer]") {
    DeviceBuffer<float> buffer(1000);
    buffer.fill_bytes(0xff);
    const std::vector<float> values = buffer.to_host();
    CHECK(std::all_of(values.begin(), values.end(), [](float x) { return std::isnan(x); }));
    DeviceBuffer<float>().fill_bytes(1);
    CHECK(DeviceBuffer<float>().to_host().empty());
}

TEST_CASE("buffers move, and memory has one owner", "[common][device_buffer]") {
    DeviceBuffer<int> a(std::vector<int>{1, 2, 3});
    const int* const data = a.data();
    DeviceBuffer<int> b(std::move(a));
    CHECK(b.data() == data);
    CHECK(a.data() == nullptr);  // NOLINT: what a moved-from buffer holds is part of the contract
    CHECK(a.size() == 0);
    DeviceBuffer<int> c(5);
    c = std::move(b);
    CHECK(c.data() == data);
    CHECK(b.empty());  // NOLINT
    DeviceBuffer<int>& self = c;
    c = std::move(self);
    CHECK(c.to_host() == std::vector<int>{1, 2, 3});
    static_assert(!std::is_copy_constructible_v<DeviceBuffer<int>> &&
                  !std::is_copy_assignable_v<DeviceBuffer<int>>);
}

TEST_CASE("sizes that cannot be are refused before CUDA sees them", "[common][device_buffer]") {
    const std::size_t most = std::numeric_limits<std::size_t>::max();
    for (const std::size_t n : {most, most / 2, most / 4 + 2, most / 8 + 1}) {  // n * 4 would wrap around
        CHECK_THROWS_AS(DeviceBuffer<float>(n), std::length_error);
    }
    CHECK_THROWS_AS(DeviceBuffer<double>(static_cast<std::size_t>(-5)), std::length_error);
}

TEST_CASE("more memory than there is gives CUDA's error, and work goes on", "[common][device_buffer]") {
    CHECK(code_of([] { DeviceBuffer<char> buffer(std::size_t{1} << 50); }) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(DeviceBuffer<int>(std::vector<int>{7}).to_host() == std::vector<int>{7});
}

TEST_CASE("copies of another length are refused", "[common][device_buffer]") {
    DeviceBuffer<int> buffer(3);
    std::vector<int> four(4);
    CHECK_THROWS_AS(buffer.copy_from(four), std::length_error);
    CHECK_THROWS_AS(buffer.copy_to(four), std::length_error);
    CHECK_THROWS_AS(buffer.copy_from(DeviceBuffer<int>(4)), std::length_error);
}

TEST_CASE("streams order copies, events wait and tell the time", "[common][stream]") {
    const std::size_t n = 1 << 20;
    const std::vector<float> values = random_field(n, 1);
    std::vector<float> back(n);
    const Stream first, second;
    Event begin, end;
    CHECK(first.get() != nullptr);
    CHECK(first.get() != second.get());
    DeviceBuffer<float> a(n), b(n);
    begin.record(first.get());
    a.copy_from(std::span<const float>(values), first.get());
    second.wait(first);
    b.copy_from(a, second.get());
    end.record(second.get());
    b.copy_to(std::span<float>(back), second.get());
    a.zero(second.get());
    second.sync();
    CHECK(back == values);
    CHECK(second.is_done());
    CHECK(end.is_done());
    CHECK(elapsed_milliseconds(begin, end) >= 0);
    CHECK(a.to_host() == std::vector<float>(n, 0));
    first.wait(end);
    first.sync();
}

TEST_CASE("streams and events move", "[common][stream]") {
    Stream a;
    const cudaStream_t handle = a.get();
    Stream b(std::move(a));
    CHECK(b.get() == handle);
    CHECK(a.get() == nullptr);  // NOLINT
    Stream c;
    c = std::move(b);
    CHECK(c.get() == handle);
    Event e;
    const cudaEvent_t event = e.get();
    Event f(std::move(e));
    CHECK(f.get() == event);
    CHECK(f.is_done());  // never recorded
}

TEST_CASE("events that were never recorded have no time", "[common][stream]") {
    const Event begin, end;
    CHECK(code_of([&] { elapsed_milliseconds(begin, end); }) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("candidates are timed in turn, forwards and backwards", "[common][timing]") {
    std::string order;
    std::vector<std::size_t> turns;
    const std::vector<Candidate> candidates = {
        {"a", [&](std::size_t turn, cudaStream_t) { order += 'a', turns.push_back(turn); }},
        {"b", [&](std::size_t, cudaStream_t) { order += 'b'; }},
    };
    TimingOptions options;
    options.rounds = 4;
    options.warm_up = 1;
    options.calls = 1;
    const std::vector<Timing> timings = time_interleaved(candidates, options);
    CHECK(order ==
          "aabb"  // twice each, to load and to measure
          "ab"
          "ba"
          "ab"
          "ba"
          "ab");
    CHECK(turns == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
    REQUIRE(timings.size() == 2);
    CHECK(timings[0].name == "a");
    CHECK(timings[0].milliseconds.size() == 4);
    CHECK(timings[1].milliseconds.size() == 4);
}

TEST_CASE("a copy of eight times the length takes longer, also in a graph", "[common][timing]") {
    const bool graph = GENERATE(false, true);
    DeviceBuffer<char> from(std::size_t{16} << 20), to(std::size_t{16} << 20);
    from.zero();
    to.zero();
    const auto copy = [&](std::size_t bytes) {
        return [&, bytes](std::size_t, cudaStream_t stream) {
            CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
        };
    };
    TimingOptions options;
    options.rounds = 9;
    options.graph = graph;
    const std::vector<Candidate> candidates = {{"short", copy(from.bytes() / 8)},
                                               {"long", copy(from.bytes())}};
    const std::vector<Timing> timings = time_interleaved(candidates, options);
    CAPTURE(timings[0].typical(), timings[1].typical());
    CHECK(timings[1].typical() > 2 * timings[0].typical());
    CHECK(timings[0].median() >= timings[0].quantile(0));
    CHECK(timings[0].gigabytes_per_second(1e9) == Catch::Approx(1000 / timings[0].typical()));
    CHECK(median_milliseconds([&](cudaStream_t stream) { copy(1000)(0, stream); }) > 0);
}

TEST_CASE("a candidate that throws leaves the device usable, also while a graph is recorded",
          "[common][timing]") {
    const bool graph = GENERATE(false, true);
    int calls = 0;
    const std::vector<Candidate> candidates = {{"bad", [&](std::size_t, cudaStream_t) {
                                                    if (++calls == 3) throw std::runtime_error("on purpose");
                                                }}};
    TimingOptions options;
    options.graph = graph;
    options.calls = 2;
    CHECK_THROWS_WITH(time_interleaved(candidates, options), "on purpose");
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(DeviceBuffer<int>(std::vector<int>{7}).to_host() == std::vector<int>{7});
    CHECK(time_interleaved({}, options).empty());
}

TEST_CASE("each stream has scratch memory and a workspace of its own", "[common][device]") {
    const Stream one, other;
    void* const scratch = stream_scratch(one.get(), 1000);
    void* const workspace = stream_workspace(one.get(), 1000);
    CHECK(scratch != workspace);
    CHECK(stream_scratch(one.get(), 10) == scratch);
    CHECK(stream_workspace(one.get(), 1000) == workspace);
    CHECK(stream_scratch(other.get(), 1000) != scratch);
    CHECK(stream_workspace(other.get(), 1000) != workspace);

    // Scratch memory starts as zeros; a larger piece is another one.
    std::vector<unsigned char> bytes(1000, 1);
    CUDA_CHECK(cudaMemcpy(bytes.data(), scratch, bytes.size(), cudaMemcpyDeviceToHost));
    CHECK(bytes == std::vector<unsigned char>(1000, 0));
    CHECK(stream_workspace(one.get(), std::size_t{1} << 20) != workspace);
    CUDA_CHECK(cudaMemset(stream_workspace(one.get(), std::size_t{1} << 20), 1, std::size_t{1} << 20));
}
