// What the contract of chapter 3 promises, checked on every rung of the ladder. Each rung has its own tests,
// under its own tag: `[05_shared_halo]`.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "jacobi.cuh"
#include "rungs/catch.hpp"
#include "rungs/contract_test.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/random.hpp"
#include "rungs/stream.cuh"

std::unique_ptr<rungs::Exam> make_exam_03_jacobi();

namespace {

using jacobi::Lattice;
using jacobi::Rung;
using rungs::DeviceBuffer;

const std::unique_ptr<rungs::Exam> exam = make_exam_03_jacobi();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// One call with buffers of its own, poisoned with NaN.
class Call {
  public:
    Call(const Lattice& lattice, const std::vector<float>& start)
        : lattice_(lattice),
          start_(jacobi::with_pitch(start, lattice.nx, lattice.ny, nan)),
          phi_(start_.size()),
          work_(start_.size()),
          norm_(1),
          sweeps_(1) {
        phi_.fill_bytes(0xff), work_.fill_bytes(0xff), norm_.fill_bytes(0xff), sweeps_.fill_bytes(0xff);
    }

    Call& run(const Rung& rung, int most, float eps = -1, cudaStream_t stream = nullptr) {
        rung.solve(start_.data(), phi_.data(), work_.data(), norm_.data(), sweeps_.data(), lattice_.nx,
                   lattice_.ny, lattice_.q, lattice_.x0, lattice_.y0, most, eps, stream);
        return *this;
    }

    DeviceBuffer<float>& start() { return start_; }
    std::vector<float> phi() const { return jacobi::without_pitch(phi_.to_host(), lattice_.nx, lattice_.ny); }
    float norm() const { return norm_.to_host()[0]; }
    int sweeps() const { return sweeps_.to_host()[0]; }

  private:
    Lattice lattice_;
    DeviceBuffer<float> start_, phi_, work_, norm_;
    DeviceBuffer<int> sweeps_;
};

std::vector<float> random_start(const Lattice& lattice, std::uint64_t seed) {
    return rungs::random_field(static_cast<std::size_t>(lattice.nx) * static_cast<std::size_t>(lattice.ny),
                               seed, rungs::signed_uniform);
}

bool near(const std::vector<float>& got, const jacobi::Reference& expected, const Lattice& lattice) {
    const double allowed =
        jacobi::rounding_bound(lattice, expected.largest, static_cast<int>(expected.norms.size()));
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!(std::abs(got[i] - expected.phi[i]) <= allowed)) return false;
    }
    return true;
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void passes_every_case_of_the_exam(const Rung& rung) {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    const auto backend = rungs::on_a_gpu() ? rungs::Backend::cuda : rungs::Backend::cpu;
    const rungs::RungEntry* entry = manifest.find(rung.name);
    REQUIRE(entry);
    for (const rungs::Case& which : manifest.cases_of(*entry, backend, rungs::exam_key())) {
        const rungs::Task task = exam->make(which);
        const auto whole = [&](std::size_t i) { return static_cast<int>(task.numbers[i].integer); };
        const auto real = [&](std::size_t i) { return static_cast<float>(task.numbers[i].real); };
        const auto field = task.inputs[0].as<float>();
        const DeviceBuffer<float> start(field);
        DeviceBuffer<float> phi(field.size()), work(field.size()), norm(1);
        DeviceBuffer<int> sweeps(1);
        phi.fill_bytes(0xff), work.fill_bytes(0xff), norm.fill_bytes(0xff), sweeps.fill_bytes(0xff);
        rung.solve(start.data(), phi.data(), work.data(), norm.data(), sweeps.data(), whole(0), whole(1),
                   real(2), whole(3), whole(4), whole(5), real(6), nullptr);
        const std::vector<rungs::Array> outputs{
            rungs::Array::of("phi", phi.to_host()), rungs::Array::of("work", work.to_host()),
            rungs::Array::of("norm", norm.to_host()), rungs::Array::of("sweeps", sweeps.to_host())};
        const rungs::Check check = exam->check(which, task, outputs);
        CAPTURE(which.sizes, which.kind, which.seed, check.error, check.tolerance, check.cause);
        REQUIRE(check.passed);
    }
}

void gives_the_field_of_every_sweep(const Rung& rung) {
    const Lattice lattice{45, 21, 1.5f, 40, 3};
    const std::vector<float> start = random_start(lattice, 3);
    for (const int most : {0, 1, 2, 3, 7, 16, 31, 32, 33, 130}) {
        const jacobi::Reference expected = jacobi::reference_solve(start, lattice, most, -1);
        Call call(lattice, start);
        call.run(rung, most);
        CAPTURE(most);
        CHECK(call.sweeps() == most);
        CHECK(near(call.phi(), expected, lattice));
        CHECK(std::abs(call.norm() - (most ? expected.norms.back() : 0)) <=
              jacobi::norm_bound(lattice, expected.largest, most ? expected.norms.back() : 0));
    }
}

void stops_at_the_first_small_sweep(const Rung& rung) {
    const Lattice lattice{23, 37, -2, 5, 30};
    const std::vector<float> start = random_start(lattice, 4);
    const jacobi::Reference all = jacobi::reference_solve(start, lattice, 150, -1);
    for (const int stop : {1, 2, 5, 15, 16, 17, 31, 32, 100, 128, 129}) {
        const auto at = static_cast<std::size_t>(stop);
        const double before = at > 1 ? all.norms[at - 2] : 2 * all.norms[0];
        const auto eps = static_cast<float>(std::sqrt(before * all.norms[at - 1]));
        Call call(lattice, start);
        call.run(rung, 1'000, eps);
        CAPTURE(stop, eps);
        CHECK(call.sweeps() == stop);
        CHECK(call.norm() <= eps);
        CHECK(near(call.phi(), jacobi::reference_solve(start, lattice, stop, -1), lattice));
    }
}

void stops_at_most_when_nothing_gets_small(const Rung& rung) {
    const Lattice lattice{20, 20, 0, 0, 0};
    const std::vector<float> start = random_start(lattice, 5);
    Call call(lattice, start);
    call.run(rung, 37, 1e-20f);
    CHECK(call.sweeps() == 37);
    CHECK(near(call.phi(), jacobi::reference_solve(start, lattice, 37, -1), lattice));
}

void obeys_the_maximum_principle(const Rung& rung) {
    // A mean of four values lies among them, in floats too; so does every iterate.
    const Lattice lattice{40, 50, 0, 0, 0};
    const std::vector<float> start = random_start(lattice, 6);
    const auto [low, high] = std::minmax_element(start.begin(), start.end());
    for (const int most : {1, 20}) {
        for (const float value : Call(lattice, start).run(rung, most).phi()) {
            REQUIRE(value >= *low);
            REQUIRE(value <= *high);
        }
    }
}

void is_symmetric_where_the_problem_is(const Rung& rung) {
    const Lattice lattice{65, 33, 0, 0, 0};
    std::vector<float> start(65 * 33, 0.0f);
    std::fill(start.end() - 65, start.end(), 1.0f);
    const std::vector<float> phi = Call(lattice, start).run(rung, 64).phi();
    const double allowed = 2 * jacobi::rounding_bound(lattice, 1, 64);
    for (std::size_t i = 0; i < phi.size(); ++i) {
        REQUIRE(std::abs(phi[i] - phi[i / 65 * 65 + 64 - i % 65]) <= allowed);
    }
}

void leaves_start_and_neighbours_alone(const Rung& rung) {
    const Lattice lattice{70, 19, 1, 3, 3};
    const std::vector<float> field =
        jacobi::with_pitch(random_start(lattice, 7), lattice.nx, lattice.ny, 4711.0f);
    constexpr std::size_t guard = 1024;
    const std::vector<float> framed(field.size() + 2 * guard, 12345.0f);
    const DeviceBuffer<float> start(field);
    DeviceBuffer<float> phi(framed), work(framed), norm(std::vector<float>(3, 7.0f));
    DeviceBuffer<int> sweeps(std::vector<int>(3, 7));
    rung.solve(start.data(), phi.data() + guard, work.data() + guard, norm.data() + 1, sweeps.data() + 1,
               lattice.nx, lattice.ny, lattice.q, lattice.x0, lattice.y0, 19, -1, nullptr);
    CHECK(start.to_host() == field);
    for (const DeviceBuffer<float>* buffer : {&phi, &work}) {
        const std::vector<float> after = buffer->to_host();
        CHECK(std::equal(after.begin(), after.begin() + guard, framed.begin()));
        CHECK(std::equal(after.end() - guard, after.end(), framed.begin()));
    }
    CHECK(norm.to_host()[0] == 7);
    CHECK(norm.to_host()[2] == 7);
    CHECK(sweeps.to_host()[0] == 7);
    CHECK(sweeps.to_host()[2] == 7);
}

void can_be_called_again_and_again(const Rung& rung) {
    // State that one call leaves, in scratch memory or in a buffer, must not reach the next.
    const Lattice lattices[] = {{33, 20, 1, 4, 4}, {7, 70, 0, 0, 0}, {0, 3, 0, 0, 0}, {20, 20, -1, 2, 9}};
    for (int round = 0; round < 2; ++round) {
        for (const Lattice& lattice : lattices) {
            const std::vector<float> start = random_start(lattice, 8);
            const jacobi::Reference expected = jacobi::reference_solve(start, lattice, 300, 0.3);
            Call call(lattice, start);
            call.run(rung, 300, 0.3f);
            CAPTURE(lattice.nx, lattice.ny, round);
            CHECK(call.sweeps() == static_cast<int>(expected.norms.size()));
            CHECK(near(call.phi(), expected, lattice));
        }
    }
}

void works_in_the_stream_it_is_given(const Rung& rung) {
    // The start arrives late in `stream`: work in any other stream would see what was there before.
    const Lattice lattice{50, 40, 0, 0, 0};
    const std::vector<float> values = random_start(lattice, 9);
    const DeviceBuffer<float> source(jacobi::with_pitch(values, lattice.nx, lattice.ny, nan));
    Call call(lattice, std::vector<float>(values.size(), 0.0f));
    const rungs::Stream stream;
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    CUDA_CHECK(cudaLaunchHostFunc(stream.get(), wait, nullptr));
    call.start().copy_from(source, stream.get());
    call.run(rung, 5, -1, stream.get());
    stream.sync();
    CHECK(near(call.phi(), jacobi::reference_solve(values, lattice, 5, -1), lattice));
}

void serves_two_host_threads(const Rung& rung) {
    const Lattice lattice{64, 30, 1, 10, 10};
    const std::vector<float> start = random_start(lattice, 10);
    const jacobi::Reference expected = jacobi::reference_solve(start, lattice, 20, -1);
    std::vector<int> right(2, 0);
    std::vector<std::thread> threads;
    for (int& mine : right) {
        threads.emplace_back([&] {
            const rungs::Stream stream;
            Call call(lattice, start);
            for (int repeat = 0; repeat < 3; ++repeat) {
                call.run(rung, 20, -1, stream.get());
                stream.sync();
                mine += near(call.phi(), expected, lattice);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == std::vector<int>{3, 3});
}

void solves_a_lattice_beyond_the_chip(const Rung& rung) {
    // More tiles than the GPU holds at once, an odd number of everything, and a charge where four tiles meet.
    if (!rungs::on_a_gpu()) RUNGS_SKIP("a lattice of 20 million sites is a matter for a GPU");
    const Lattice lattice{5003, 4001, 100, 2000, 2000};
    const std::vector<float> start = random_start(lattice, 11);
    for (const int most : {1, 17, 34}) {
        Call call(lattice, start);
        call.run(rung, most);
        CAPTURE(most);
        CHECK(near(call.phi(), jacobi::reference_solve(start, lattice, most, -1), lattice));
    }
}

// The table of tests: every promise, for every rung of the contract's own table.

using Promise = void (*)(const Rung&);

constexpr std::pair<Promise, const char*> promises[] = {
    {passes_every_case_of_the_exam, "passes every case of the exam"},
    {gives_the_field_of_every_sweep, "gives the field of every sweep"},
    {stops_at_the_first_small_sweep, "stops at the first small sweep"},
    {stops_at_most_when_nothing_gets_small, "stops at most when nothing gets small"},
    {obeys_the_maximum_principle, "obeys the maximum principle"},
    {is_symmetric_where_the_problem_is, "is symmetric where the problem is"},
    {leaves_start_and_neighbours_alone, "leaves start and neighbours alone"},
    {can_be_called_again_and_again, "can be called again and again"},
    {works_in_the_stream_it_is_given, "works in the stream it is given"},
    {serves_two_host_threads, "serves two host threads"},
    {solves_a_lattice_beyond_the_chip, "solves a lattice beyond the chip"},
};

const bool registered = rungs::register_promises<jacobi::rungs, promises>("03_jacobi");

}  // namespace

TEST_CASE("rungs 01 and 04 to 06 agree on where to stop, and rung 06 to the bit with itself",
          "[03_jacobi][06_temporal]") {
    // Stopping at a pass and going back must give the very bits of going there sweep by sweep.
    RUNGS_NEEDS_DEVICE();
    const Rung& temporal = jacobi::rungs[5];
    const Lattice lattice{150, 140, 1, 75, 64};
    const std::vector<float> start = random_start(lattice, 12);
    const jacobi::Reference all = jacobi::reference_solve(start, lattice, 30, -1);
    const auto eps = static_cast<float>(std::sqrt(all.norms[20] * all.norms[21]));
    Call until(lattice, start), exactly(lattice, start);
    until.run(temporal, 1'000, eps);
    exactly.run(temporal, 22);
    CHECK(until.sweeps() == 22);
    CHECK((until.phi() == exactly.phi()));  // in parentheses: nobody wants to see 42000 numbers
    CHECK(until.norm() == exactly.norm());
}

TEST_CASE("the contract's table and the manifest name the same rungs", "[03_jacobi]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    REQUIRE(std::size(jacobi::rungs) == manifest.rungs.size());
    for (std::size_t i = 0; i < manifest.rungs.size(); ++i) {
        CHECK(jacobi::rungs[i].name == manifest.rungs[i].name);
    }
}
