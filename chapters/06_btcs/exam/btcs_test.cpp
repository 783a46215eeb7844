// What the contract of chapter 6 promises, checked on every rung of the ladder. Each rung has its own tests,
// under its own tag: `[03_thomas_batched]`.

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "btcs.cuh"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "rungs/catch.hpp"
#include "rungs/contract_test.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/random.hpp"
#include "rungs/stream.cuh"

std::unique_ptr<rungs::Exam> make_exam_06_btcs();

namespace {

using btcs::Rung;
using rungs::DeviceBuffer;
using rungs::Operand;

const std::unique_ptr<rungs::Exam> exam = make_exam_06_btcs();

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// A case of the exam in device memory.
class Call {
  public:
    explicit Call(const rungs::Case& which)
        : which_(which), task_(exam->make(which)), first_(task_.outputs[0]), second_(work_of(task_)) {
        for (const rungs::Array& array : task_.inputs) inputs_.emplace_back(array);
        if (task_.outputs[1].element == rungs::Element::i64)
            wide_ = DeviceBuffer<long long>(garbage<long long>());
        if (task_.outputs[1].element == rungs::Element::i32) narrow_ = DeviceBuffer<int>(garbage<int>());
    }

    void run(const Rung& rung, cudaStream_t stream = nullptr) {
        const auto number = [&](std::size_t i) { return task_.numbers[i].integer; };
        const auto input = [&](std::size_t i) { return inputs_[i].data(); };
        if (rung.march) {
            rung.march(input(0), input(1), input(2), first_.data(), second_.data(), number(0),
                       static_cast<int>(number(1)), task_.numbers[2].real, task_.numbers[3].real, stream);
        } else if (rung.batch) {
            rung.batch(input(0), input(1), input(2), input(3), first_.data(), narrow_.data(),
                       static_cast<int>(number(0)), static_cast<int>(number(1)), stream);
        } else {
            rung.solve(input(0), input(1), input(2), input(3), first_.data(), wide_.data(), number(0),
                       stream);
        }
    }

    rungs::Check check() const {
        std::vector<rungs::Array> outputs{rungs::Array::of(task_.outputs[0].name, first_.to_host())};
        if (which_.problem == "march") {
            outputs.push_back(rungs::Array::of("work", second_.to_host()));
        } else if (task_.outputs[1].element == rungs::Element::i64) {
            outputs.push_back(rungs::Array::of("status", wide_.to_host()));
        } else {
            outputs.push_back(rungs::Array::of("status", narrow_.to_host()));
        }
        return exam->check(which_, task_, outputs);
    }
    void require(const Rung& rung) const {
        const rungs::Check result = check();
        CAPTURE(rung.name, which_.problem, which_.sizes, which_.kind, which_.seed, result.error,
                result.tolerance, result.measure, result.cause);
        REQUIRE(result.passed);
    }

    const rungs::Task& task() const { return task_; }
    std::vector<Operand>& inputs() { return inputs_; }
    Operand& answer() { return first_; }
    bool frames_are_whole() const {
        bool whole = first_.frame_is_whole() && second_.frame_is_whole();
        for (const Operand& input : inputs_) whole = whole && input.frame_is_whole();
        return whole;
    }
    void poison() {
        first_ = Operand(task_.outputs[0]);
        second_ = Operand(work_of(task_));
        if (task_.outputs[1].element == rungs::Element::i64) wide_.copy_from(garbage<long long>());
        if (task_.outputs[1].element == rungs::Element::i32) narrow_.copy_from(garbage<int>());
    }

  private:
    template <class T>
    std::vector<T> garbage() const {
        return std::vector<T>(task_.outputs[1].count, T{0x5a5a5a5a});
    }
    static rungs::Array work_of(const rungs::Task& task) {
        const rungs::Array& second = task.outputs[1];
        return second.element == rungs::Element::f32 ? second : rungs::Array::unset<float>("none", 0);
    }

    rungs::Case which_;
    rungs::Task task_;
    std::vector<Operand> inputs_;
    Operand first_, second_;
    DeviceBuffer<long long> wide_;
    DeviceBuffer<int> narrow_;
};

/// An easy problem of a rung's own kind.
rungs::Case plain(const Rung& rung, long long n, std::uint64_t seed = 1) {
    if (rung.march) return {"march", {n, 3}, "theta", seed};
    if (rung.batch) return {rung.interleaved ? "interleaved" : "contiguous", {n, 7}, "dominant", seed};
    return {rung.symmetric ? "symmetric" : "sweeps", {n}, "dominant", seed};
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void passes_every_case_of_the_exam(const Rung& rung) {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    const auto backend = rungs::on_a_gpu() ? rungs::Backend::cuda : rungs::Backend::cpu;
    const rungs::RungEntry* entry = manifest.find(rung.name);
    REQUIRE(entry);
    for (const rungs::Case& which : manifest.cases_of(*entry, backend, rungs::exam_key())) {
        Call call(which);
        call.run(rung);
        call.require(rung);
    }
}

void takes_no_rows_and_no_systems(const Rung& rung) {
    if (rung.march) {
        rung.march(nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0, 1, 1, nullptr);
    } else if (rung.batch) {
        rung.batch(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 5, 0, nullptr);
        DeviceBuffer<int> status(std::vector<int>(3, 77));
        rung.batch(nullptr, nullptr, nullptr, nullptr, nullptr, status.data(), 0, 3, nullptr);
        CHECK(status.to_host() == std::vector<int>(3, btcs::solved));
    } else {
        DeviceBuffer<long long> status(std::vector<long long>{77});
        rung.solve(nullptr, nullptr, nullptr, nullptr, nullptr, status.data(), 0, nullptr);
        CHECK(status.to_host()[0] == btcs::solved);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}

void refuses_what_the_contract_excludes(const Rung& rung) {
    float* const none = nullptr;
    if (rung.batch) {
        CHECK_THROWS_AS(rung.batch(none, none, none, none, none, nullptr, btcs::most_rows + 1, 1, nullptr),
                        std::invalid_argument);
    }
    if (rung.march) {
        const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
        for (const auto& [r, theta] :
             {std::pair(-1.0, 1.0), {infinity, 1}, {nan, 1}, {1, -0.1}, {1, 1.1}, {1, nan}}) {
            CAPTURE(r, theta);
            CHECK_THROWS_AS(rung.march(none, none, none, none, none, 1, 1, r, theta, nullptr),
                            std::invalid_argument);
        }
    }
}

void can_be_called_again_and_again(const Rung& rung) {
    // Many calls without a wait between them, of different sizes: what one leaves in scratch memory must not
    // reach the next.
    std::vector<std::unique_ptr<Call>> calls;
    for (const long long n : {129, 1, 0, 33, 64, 1030, 200})
        calls.push_back(std::make_unique<Call>(plain(rung, n)));
    for (int round = 0; round < 2; ++round) {
        for (auto& call : calls) call->poison();
        for (auto& call : calls) call->run(rung);
        for (auto& call : calls) call->require(rung);
    }
}

void leaves_input_and_neighbours_alone(const Rung& rung) {
    for (const long long n : {1, 31, 64, 131, 1030}) {
        Call call(plain(rung, n));
        call.run(rung);
        CAPTURE(n);
        for (std::size_t k = 0; k < call.inputs().size(); ++k) {
            const auto before = call.task().inputs[k].as<float>();
            const std::vector<float> after = call.inputs()[k].to_host();
            CHECK(std::memcmp(before.data(), after.data(), before.size_bytes()) == 0);  // some are NaN
        }
        CHECK(call.frames_are_whole());
    }
}

void works_in_the_stream_it_is_given(const Rung& rung) {
    // The data arrive late in `stream`: work in any other stream would see what was there before.
    const rungs::Stream stream;
    Call call(plain(rung, 90)), other(plain(rung, 90, 2));
    const std::size_t last = call.inputs().size() - 1;  // the right-hand side, or the right end
    const DeviceBuffer<float> late(call.inputs()[last].to_host());
    float* const to = call.inputs()[last].data();
    CUDA_CHECK(cudaMemcpy(to, other.inputs()[last].data(), late.bytes(), cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    CUDA_CHECK(cudaLaunchHostFunc(stream.get(), wait, nullptr));
    CUDA_CHECK(cudaMemcpyAsync(to, late.data(), late.bytes(), cudaMemcpyDeviceToDevice, stream.get()));
    call.run(rung, stream.get());
    stream.sync();
    call.require(rung);
}

void keeps_two_streams_apart(const Rung& rung) {
    const rungs::Stream streams[2];
    std::vector<std::unique_ptr<Call>> calls;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        calls.push_back(std::make_unique<Call>(plain(rung, 60 + 700 * static_cast<long long>(seed), seed)));
    }
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->run(rung, streams[i % 2].get());
    for (const auto& stream : streams) stream.sync();
    for (const auto& call : calls) call->require(rung);
}

void serves_two_host_threads(const Rung& rung) {
    std::vector<std::unique_ptr<Call>> calls;
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
        calls.push_back(std::make_unique<Call>(plain(rung, 777, seed)));
    std::vector<std::thread> threads;
    for (auto& call : calls) {
        threads.emplace_back([&] {
            const rungs::Stream stream;
            for (int round = 0; round < 3; ++round) call->run(rung, stream.get());
            stream.sync();
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& call : calls) call->require(rung);
}

/// Marches sin(pi x) on 31 points up to t = 0.1. @returns the error of the time discretisation: distance from
/// what the differential equation of this grid's points would do.
double sine_error(const Rung& rung, int steps, double theta) {
    constexpr int n = 31;
    constexpr double end = 0.1, pi = std::numbers::pi;
    std::vector<float> sine(n);
    for (int i = 0; i < n; ++i)
        sine[static_cast<std::size_t>(i)] = static_cast<float>(std::sin(pi * (i + 1) / (n + 1)));
    const DeviceBuffer<float> start(sine),
        cold(std::vector<float>(static_cast<std::size_t>(steps) + 1, 0.0f));
    DeviceBuffer<float> u(n), work(n);
    rung.march(start.data(), cold.data(), cold.data(), u.data(), work.data(), n, steps,
               end / steps * (n + 1) * (n + 1), theta, nullptr);
    const double lambda = 4 * std::pow((n + 1) * std::sin(pi / 2 / (n + 1)), 2);
    const std::vector<float> got = u.to_host();
    double error = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        error = std::max(error,
                         std::abs(got[i] - std::exp(-lambda * end) * std::sin(pi * double(i + 1) / (n + 1))));
    return error;
}

void has_the_order_of_its_scheme(const Rung& rung) {
    if (!rung.march) return;
    // Steps are halved as long as the error stays far above rounding, some 1e-6.
    for (int steps = 8; steps <= 32; steps *= 2) {
        CAPTURE(steps);
        CHECK(std::abs(std::log2(sine_error(rung, steps, 1) / sine_error(rung, 2 * steps, 1)) - 1) < 0.1);
    }
    for (int steps = 4; steps <= 8; steps *= 2) {
        CAPTURE(steps);
        CHECK(std::abs(std::log2(sine_error(rung, steps, 0.5) / sine_error(rung, 2 * steps, 0.5)) - 2) < 0.1);
    }
}

void keeps_the_heat_of_an_insulated_rod(const Rung& rung) {
    if (rung.march) return;
    constexpr long long n = 500;
    const rungs::Case which =
        rung.batch ? rungs::Case{rung.interleaved ? "interleaved" : "contiguous", {n, 1}, "insulated", 4}
                   : rungs::Case{rung.symmetric ? "symmetric" : "sweeps", {n}, "insulated", 4};
    Call call(which);
    call.run(rung);
    call.require(rung);
    double before = 0, after = 0;
    for (const float value : call.task().inputs[3].as<float>()) before += value;
    for (const float value : call.answer().to_host()) after += value;
    // Iterations stop with a residual of one sign; elimination's errors cancel.
    CHECK(std::abs(after - before) < n * 33.0 * btcs::tolerance);
}

void tells_when_there_is_no_solution(const Rung& rung) {
    if (!rung.solve) return;
    Call call({rung.symmetric ? "symmetric" : "sweeps", {2}, "singular", 1});
    call.run(rung);
    call.require(rung);
}

using Promise = void (*)(const Rung&);

constexpr std::pair<Promise, const char*> promises[] = {
    {passes_every_case_of_the_exam, "passes every case of the exam"},
    {takes_no_rows_and_no_systems, "takes no rows and no systems"},
    {refuses_what_the_contract_excludes, "refuses what the contract excludes"},
    {can_be_called_again_and_again, "can be called again and again"},
    {leaves_input_and_neighbours_alone, "leaves input and neighbours alone"},
    {works_in_the_stream_it_is_given, "works in the stream it is given"},
    {keeps_two_streams_apart, "keeps two streams apart"},
    {serves_two_host_threads, "serves two host threads"},
    {has_the_order_of_its_scheme, "has the order of its scheme"},
    {tells_when_there_is_no_solution, "tells when there is no solution"},
    {keeps_the_heat_of_an_insulated_rod, "keeps the heat of an insulated rod"},
};

const bool registered = rungs::register_promises<btcs::rungs, promises>("06_btcs");

}  // namespace

TEST_CASE("05 asks a few tiles of a large system how far its rows reach", "[06_btcs][05_partitioned]") {
    RUNGS_NEEDS_DEVICE();
    // r = 1: a few rows; 100: some hundred; 10^5: further than a tile.
    const float r = GENERATE(1.0f, 100.0f, 1e5f);
    const long long n = (1LL << 22) + 5, weak = GENERATE(-1LL, 3000001LL);
    const auto size = static_cast<std::size_t>(n);
    std::vector<float> side(size, -r), middle(size, 1 + 2 * r), rhs(size);
    for (std::size_t i = 0; i < size; ++i)
        rhs[i] = static_cast<float>(static_cast<int>(i * 7919 % 1009) - 504);
    if (weak >= 0) middle[static_cast<std::size_t>(weak)] = r;
    const DeviceBuffer<float> beside(side), diagonal(middle), b(rhs);
    DeviceBuffer<float> x(size);
    DeviceBuffer<long long> status(1);
    btcs::partitioned(beside.data(), diagonal.data(), beside.data(), b.data(), x.data(), status.data(), n,
                      nullptr);
    const std::vector<float> got = x.to_host();
    REQUIRE(status.to_host()[0] == (weak >= 0 ? weak : static_cast<long long>(btcs::solved)));
    double largest = 0, residual = 0;
    long long numbers = 0;
    for (std::size_t i = 0; i < size; ++i) {
        numbers += !std::isnan(got[i]);
        const double before = i > 0 ? got[i - 1] : 0, behind = i + 1 < size ? got[i + 1] : 0;
        largest = std::max(largest, std::abs(double(got[i])));
        residual = std::max(residual, std::abs(rhs[i] - double(middle[i]) * got[i] + r * (before + behind)));
    }
    REQUIRE(numbers == (weak >= 0 ? 0 : n));
    if (weak < 0) CHECK(residual <= btcs::tolerance * (1 + 4.0 * r) * largest);
}

TEST_CASE("the contract's table and the manifest name the same rungs", "[06_btcs]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    REQUIRE(std::size(btcs::rungs) == manifest.rungs.size());
    for (std::size_t i = 0; i < manifest.rungs.size(); ++i) {
        CHECK(btcs::rungs[i].name == manifest.rungs[i].name);
    }
}
