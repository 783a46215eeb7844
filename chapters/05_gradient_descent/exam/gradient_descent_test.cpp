// What the contract of chapter 5 promises, checked on every rung of the ladder. Each rung has its own tests,
// under its own tag: `[03_descent]`.

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

#include "gradient_descent.cuh"
#include "rungs/catch.hpp"
#include "rungs/contract_test.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/random.hpp"
#include "rungs/stream.cuh"

std::unique_ptr<rungs::Exam> make_exam_05_gradient_descent();

namespace {

using gradient_descent::Rung;
using rungs::DeviceBuffer;
using rungs::Operand;

const std::unique_ptr<rungs::Exam> exam = make_exam_05_gradient_descent();

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// A case of the exam in device memory.
class Call {
  public:
    explicit Call(const rungs::Case& which)
        : which_(which),
          task_(exam->make(which)),
          a_(task_.inputs[0]),
          b_(task_.inputs[1]),
          x_(task_.outputs[0]),
          history_(std::vector<double>(task_.outputs[1].count + 1, marker)),
          outcome_(std::vector<int>{-1, -1}) {}

    void run(const Rung& rung, cudaStream_t stream = nullptr) {
        rung.solve(a_.data(), b_.data(), x_.data(), history_.data(), outcome_.data(),
                   static_cast<int>(task_.numbers[0].integer), static_cast<int>(task_.numbers[1].integer),
                   task_.numbers[2].real, stream);
    }

    rungs::Check check() const {
        std::vector<double> history = history_.to_host();
        history.pop_back();
        const std::vector<rungs::Array> outputs{rungs::Array::of("x", x_.to_host()),
                                                rungs::Array::of("history", history),
                                                rungs::Array::of("outcome", outcome_.to_host())};
        return exam->check(which_, task_, outputs);
    }
    void require(const Rung& rung) const {
        const rungs::Check result = check();
        CAPTURE(rung.name, which_.problem, which_.sizes, which_.kind, which_.seed, result.error,
                result.cause);
        REQUIRE(result.passed);
    }

    const rungs::Task& task() const { return task_; }
    Operand& a() { return a_; }
    Operand& b() { return b_; }
    Operand& x() { return x_; }
    std::vector<double> history() const { return history_.to_host(); }
    std::vector<int> outcome() const { return outcome_.to_host(); }
    void poison() {
        outcome_.copy_from(std::vector<int>{-1, -1});
        x_ = Operand(task_.outputs[0]);
    }

    static constexpr double marker = -12345;  ///< behind the end of a history

  private:
    rungs::Case which_;
    rungs::Task task_;
    Operand a_, b_, x_;
    DeviceBuffer<double> history_;
    DeviceBuffer<int> outcome_;
};

/// A well-behaved system for the rung's method.
rungs::Case plain(const Rung& rung, long long n, std::uint64_t seed = 1) {
    return {rung.descends ? "descent" : "jacobi", {n}, rung.descends ? "spd" : "dominant", seed};
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

void solves_nothing_at_once(const Rung& rung) {
    DeviceBuffer<double> history(std::vector<double>(4, -1.0));
    DeviceBuffer<int> outcome(std::vector<int>{-1, -1});
    rung.solve(nullptr, nullptr, nullptr, history.data(), outcome.data(), 0, 3, 1e-6, nullptr);
    CHECK(outcome.to_host() == std::vector<int>{gradient_descent::converged, 0});
    CHECK(history.to_host()[0] == 0);
    CHECK(std::isnan(history.to_host()[3]));
}

void marks_the_rest_of_the_history(const Rung& rung) {
    Call call(plain(rung, 50));
    call.run(rung);
    const std::vector<double> history = call.history();
    const auto k = static_cast<std::size_t>(call.outcome()[1]);
    REQUIRE(k + 3 < history.size());
    for (std::size_t i = 0; i <= k; ++i) REQUIRE(history[i] >= 0);
    for (std::size_t i = k + 1; i + 1 < history.size(); ++i) REQUIRE(std::isnan(history[i]));
    REQUIRE(history.back() == Call::marker);  // behind the end
}

void can_be_called_again_and_again(const Rung& rung) {
    // Many solves without a wait between them, of different sizes: what one leaves in scratch memory must not
    // reach the next.
    std::vector<std::unique_ptr<Call>> calls;
    for (const long long n : {129, 1, 0, 33, 64, 200})
        calls.push_back(std::make_unique<Call>(plain(rung, n)));
    for (int round = 0; round < 2; ++round) {
        for (auto& call : calls) call->poison();
        for (auto& call : calls) call->run(rung);
        for (auto& call : calls) call->require(rung);
    }
}

void leaves_input_and_neighbours_alone(const Rung& rung) {
    for (const long long n : {1, 31, 64, 131}) {
        Call call(plain(rung, n));
        call.run(rung);
        CAPTURE(n);
        const auto a = call.task().inputs[0].as<float>(), b = call.task().inputs[1].as<float>();
        CHECK(call.a().to_host() == std::vector<float>(a.begin(), a.end()));
        CHECK(call.b().to_host() == std::vector<float>(b.begin(), b.end()));
        CHECK(call.a().frame_is_whole());
        CHECK(call.b().frame_is_whole());
        CHECK(call.x().frame_is_whole());
        CHECK(call.history().back() == Call::marker);
    }
}

void works_in_the_stream_it_is_given(const Rung& rung) {
    // The data arrive late in `stream`: work in any other stream would see what was there before.
    const rungs::Stream stream;
    Call call(plain(rung, 90)), other(plain(rung, 90, 2));
    const DeviceBuffer<float> late(call.a().to_host());
    Operand& a = call.a();
    CUDA_CHECK(cudaMemcpy(a.data(), other.a().data(), late.bytes(), cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    CUDA_CHECK(cudaLaunchHostFunc(stream.get(), wait, nullptr));
    CUDA_CHECK(cudaMemcpyAsync(a.data(), late.data(), late.bytes(), cudaMemcpyDeviceToDevice, stream.get()));
    call.run(rung, stream.get());
    stream.sync();
    call.require(rung);
}

void keeps_two_streams_apart(const Rung& rung) {
    const rungs::Stream streams[2];
    std::vector<std::unique_ptr<Call>> calls;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        calls.push_back(std::make_unique<Call>(plain(rung, 60 + 7 * static_cast<long long>(seed), seed)));
    }
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->run(rung, streams[i % 2].get());
    for (const auto& stream : streams) stream.sync();
    for (const auto& call : calls) call->require(rung);
}

void serves_two_host_threads(const Rung& rung) {
    std::vector<std::unique_ptr<Call>> calls;
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
        calls.push_back(std::make_unique<Call>(plain(rung, 77, seed)));
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

using Promise = void (*)(const Rung&);

constexpr std::pair<Promise, const char*> promises[] = {
    {passes_every_case_of_the_exam, "passes every case of the exam"},
    {solves_nothing_at_once, "solves a system of no unknowns at once"},
    {marks_the_rest_of_the_history, "marks the rest of the history as not reached"},
    {can_be_called_again_and_again, "can be called again and again"},
    {leaves_input_and_neighbours_alone, "leaves input and neighbours alone"},
    {works_in_the_stream_it_is_given, "works in the stream it is given"},
    {keeps_two_streams_apart, "keeps two streams apart"},
    {serves_two_host_threads, "serves two host threads"},
};

const bool registered = rungs::register_promises<gradient_descent::rungs, promises>("05_gradient_descent");

}  // namespace

TEST_CASE("the contract's table and the manifest name the same rungs", "[05_gradient_descent]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    REQUIRE(std::size(gradient_descent::rungs) == manifest.rungs.size());
    for (std::size_t i = 0; i < manifest.rungs.size(); ++i) {
        CHECK(gradient_descent::rungs[i].name == manifest.rungs[i].name);
    }
}
