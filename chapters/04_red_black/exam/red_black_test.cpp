// What the contract of chapter 4 promises, checked on every rung of the ladder. Each rung has its own tests,
// under its own tag: `[03_half_grid]`.

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "red_black.cuh"
#include "rungs/catch.hpp"
#include "rungs/contract_test.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/random.hpp"
#include "rungs/stream.cuh"

std::unique_ptr<rungs::Exam> make_exam_04_red_black();

namespace {

using red_black::Rung;
using red_black::Tuning;
using rungs::DeviceBuffer;

const std::unique_ptr<rungs::Exam> exam = make_exam_04_red_black();

std::size_t cube(int n) {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
}

/// The buffers of one call; outputs and work start as NaN.
template <class T>
struct Buffers {
    DeviceBuffer<T> start, b, u, work;
    DeviceBuffer<double> norms;
    int n, iterations;

    Buffers(const std::vector<T>& from, const std::vector<T>& rhs, int size, int count)
        : start(from),
          b(rhs),
          u(cube(size)),
          work(red_black::work_size(size)),
          norms(static_cast<std::size_t>(count)),
          n(size),
          iterations(count) {
        poison();
    }
    void poison() {
        u.fill_bytes(0xff);
        work.fill_bytes(0xff);
        norms.fill_bytes(0xff);
    }
    void run(const Rung& rung, const Tuning& tuning = {}, cudaStream_t stream = nullptr) {
        rung.of(T())(start.data(), b.data(), u.data(), norms.data(), work.data(), n, iterations, tuning,
                     stream);
    }
};

template <class T>
Buffers<T> random_problem(int n, int iterations, std::uint64_t seed = 1) {
    return {rungs::random_field<T>(cube(n), seed, rungs::signed_uniform),
            rungs::random_field<T>(cube(n), seed + 100, rungs::signed_uniform), n, iterations};
}

template <class T>
void pass_case(const Rung& rung, const rungs::Case& which) {
    const rungs::Task task = exam->make(which);
    const auto values = [](const rungs::Array& array) {
        return std::vector<T>(array.as<T>().begin(), array.as<T>().end());
    };
    Buffers<T> buffers(values(task.inputs[0]), values(task.inputs[1]), static_cast<int>(which.sizes[0]),
                       static_cast<int>(which.sizes[1]));
    Tuning tuning;
    if (task.numbers.size() > 2 && task.numbers[2].is_integer) {
        tuning.sweeps = static_cast<int>(task.numbers[2].integer);
    } else if (task.numbers.size() > 2) {
        tuning.omega = task.numbers[2].real;
    }
    buffers.run(rung, tuning);
    const std::vector<rungs::Array> outputs{rungs::Array::of("u", buffers.u.to_host()),
                                            rungs::Array::of("norms", buffers.norms.to_host()),
                                            rungs::Array::of("work", buffers.work.to_host())};
    const rungs::Check check = exam->check(which, task, outputs);
    CAPTURE(which.problem, which.sizes, which.kind, which.seed, check.error, check.tolerance, check.measure,
            check.cause);
    REQUIRE(check.passed);
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void passes_every_case_of_the_exam(const Rung& rung) {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    const rungs::RungEntry* entry = manifest.find(rung.name);
    REQUIRE(entry);
    REQUIRE(entry->problems.front() == rung.problem);
    const auto backend = rungs::on_a_gpu() ? rungs::Backend::cuda : rungs::Backend::cpu;
    for (const rungs::Case& which : manifest.cases_of(*entry, backend, rungs::exam_key())) {
        which.problem == rung.problem ? pass_case<float>(rung, which) : pass_case<double>(rung, which);
    }
}

void takes_no_points_and_no_iterations(const Rung& rung) {
    rung.single(nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0, {}, nullptr);
    Buffers<float> buffers = random_problem<float>(5, 0);
    buffers.run(rung);
    CHECK(buffers.u.to_host() == buffers.start.to_host());
    DeviceBuffer<double> norms(3);
    norms.fill_bytes(0xff);
    rung.twice(nullptr, nullptr, nullptr, norms.data(), nullptr, 0, 3, {}, nullptr);
    CHECK(norms.to_host() == std::vector<double>(3, 0.0));
}

void goes_on_where_it_stopped(const Rung& rung) {
    // Three iterations and two more are five: nothing is left in `work` that counts.
    Buffers<double> five = random_problem<double>(11, 5), three = random_problem<double>(11, 3);
    five.run(rung);
    three.run(rung);
    Buffers<double> two(three.u.to_host(), five.b.to_host(), 11, 2);
    two.run(rung);
    const std::vector<double> expected = five.u.to_host(), got = two.u.to_host();
    for (std::size_t c = 0; c < got.size(); ++c) REQUIRE(std::abs(got[c] - expected[c]) < 1e-14);
    CHECK(std::abs(two.norms.to_host()[1] / five.norms.to_host()[4] - 1) < 1e-12);
}

void leaves_inputs_and_neighbours_alone(const Rung& rung) {
    constexpr int n = 18, iterations = 4;
    Buffers<float> buffers = random_problem<float>(n, iterations);
    const std::vector<float> start = buffers.start.to_host(), b = buffers.b.to_host();
    // 64 elements in front keep the boundary of 16 bytes, and three behind show who writes too far.
    const std::size_t front = 64, behind = 3, work_size = red_black::work_size(n);
    DeviceBuffer<float> u(std::vector<float>(front + cube(n) + behind, 7)),
        work(std::vector<float>(front + work_size + behind, 7));
    DeviceBuffer<double> norms(std::vector<double>(front + iterations + behind, 7));
    rung.single(buffers.start.data(), buffers.b.data(), u.data() + front, norms.data() + front,
                work.data() + front, n, iterations, {}, nullptr);
    CHECK(buffers.start.to_host() == start);
    CHECK(buffers.b.to_host() == b);
    const auto untouched = [&](const auto& values) {
        for (std::size_t i = 0; i < front; ++i) {
            if (values[i] != 7) return false;
        }
        for (std::size_t i = values.size() - behind; i < values.size(); ++i) {
            if (values[i] != 7) return false;
        }
        return true;
    };
    CHECK(untouched(u.to_host()));
    CHECK(untouched(work.to_host()));
    CHECK(untouched(norms.to_host()));
}

void works_in_the_stream_it_is_given(const Rung& rung) {
    Buffers<float> right = random_problem<float>(20, 3), late = random_problem<float>(20, 3);
    right.run(rung);
    const DeviceBuffer<float> source(right.start.to_host());
    late.start.zero();
    const rungs::Stream stream;
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    CUDA_CHECK(cudaLaunchHostFunc(stream.get(), wait, nullptr));
    late.start.copy_from(source, stream.get());
    late.run(rung, {}, stream.get());
    stream.sync();
    CHECK(late.u.to_host() == right.u.to_host());
}

void serves_two_streams_at_once(const Rung& rung) {
    struct Lane {
        rungs::Stream stream;
        Buffers<float> buffers;
        std::vector<float> expected;
    };
    std::vector<Lane> lanes;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        lanes.push_back({rungs::Stream(), random_problem<float>(15 + static_cast<int>(seed), 3, seed), {}});
        lanes.back().buffers.run(rung);
        lanes.back().expected = lanes.back().buffers.u.to_host();
        lanes.back().buffers.poison();
    }
    for (int call = 0; call < 5; ++call) {
        for (Lane& lane : lanes) lane.buffers.run(rung, {}, lane.stream.get());
    }
    for (Lane& lane : lanes) {
        lane.stream.sync();
        CHECK(lane.buffers.u.to_host() == lane.expected);
    }
}

/// Second order: with h halved, the error of the converged solution is a quarter.
void is_of_second_order(const Rung& rung) {
    const auto error = [&](int n, int iterations) {
        const red_black::Manufactured made = red_black::manufactured(n);
        Buffers<double> buffers(std::vector<double>(cube(n), 0.0), made.b, n, iterations);
        Tuning tuning;
        tuning.sweeps = 4;
        buffers.run(rung, tuning);
        const std::vector<double> got = buffers.u.to_host();
        double worst = 0;
        for (std::size_t c = 0; c < got.size(); ++c) worst = std::max(worst, std::abs(got[c] - made.u[c]));
        return worst;
    };
    // n + 1 = 8 and 16; as many iterations as the slowest, Jacobi, needs for four digits.
    const bool jacobi = std::string(rung.problem) == "jacobi";
    const double order = std::log2(error(7, jacobi ? 150 : 75) / error(15, jacobi ? 500 : 250));
    CAPTURE(order);
    CHECK(std::abs(order - 2) < 0.15);
}

void counts_beyond_32_bits(const Rung& rung) {
    // 1626^3 points are more than 2^32. All are 0 but b at one of the last: around it the first
    // iterates are known.
    constexpr int n = 1626;
    if (!rungs::on_a_gpu()) RUNGS_SKIP("4 billion points are a matter for a GPU");
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const std::size_t needed = sizeof(float) * (3 * cube(n) + red_black::work_size(n));
    if (free < needed + (std::size_t{1} << 30)) RUNGS_SKIP("needs 86 GiB of free device memory");
    DeviceBuffer<float> start(cube(n)), b(cube(n)), u(cube(n)), work(red_black::work_size(n));
    DeviceBuffer<double> norms(1);
    start.zero();
    b.zero();
    const float six = 6;
    const std::size_t place = cube(n) - 1;  // (n-1, n-1, n-1), black, as n - 1 is odd
    CUDA_CHECK(cudaMemcpy(b.data() + place, &six, sizeof six, cudaMemcpyHostToDevice));
    Tuning tuning;
    tuning.omega = 1, tuning.sweeps = 1;
    rung.single(start.data(), b.data(), u.data(), norms.data(), work.data(), n, 1, tuning, nullptr);
    float got = 0;
    CUDA_CHECK(cudaMemcpy(&got, u.data() + place, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(std::abs(got - 1) < 1e-6f);
    // Three neighbours have a residual of 1 now.
    CHECK(std::abs(norms.to_host()[0] - std::sqrt(3.0)) < 1e-5);
}

// The table of tests: every promise, for every rung of the contract's own table.

using Promise = void (*)(const Rung&);

constexpr std::pair<Promise, const char*> promises[] = {
    {passes_every_case_of_the_exam, "passes every case of the exam"},
    {takes_no_points_and_no_iterations, "takes no points and no iterations"},
    {goes_on_where_it_stopped, "goes on where it stopped"},
    {leaves_inputs_and_neighbours_alone, "leaves inputs and neighbours alone"},
    {works_in_the_stream_it_is_given, "works in the stream it is given"},
    {serves_two_streams_at_once, "serves two streams at once"},
    {is_of_second_order, "is of second order"},
    {counts_beyond_32_bits, "counts beyond 32 bits"},
};

const bool registered = rungs::register_promises<red_black::rungs, promises>("04_red_black");

}  // namespace

TEST_CASE("the best omega is the best", "[04_red_black][06_sor]") {
    RUNGS_NEEDS_DEVICE();
    const Rung& sor = red_black::rungs[5];
    REQUIRE(std::string(sor.name) == "06_sor");
    const auto last_norm = [&](double omega) {
        Buffers<double> buffers = random_problem<double>(15, 60);
        Tuning tuning;
        tuning.omega = omega;
        buffers.run(sor, tuning);
        return buffers.norms.to_host().back();
    };
    const double best = red_black::best_omega(15);
    CHECK(std::abs(last_norm(0) / last_norm(best) - 1) < 1e-9);
    CHECK(last_norm(0) < last_norm(best - 0.08));
    CHECK(last_norm(0) < last_norm(best + 0.08));
    CHECK(last_norm(0) < 1e-4 * last_norm(1));
}

TEST_CASE("the contract's table and the manifest name the same rungs", "[04_red_black]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    REQUIRE(std::size(red_black::rungs) == manifest.rungs.size());
    for (std::size_t i = 0; i < manifest.rungs.size(); ++i) {
        CHECK(red_black::rungs[i].name == manifest.rungs[i].name);
        CHECK(manifest.rungs[i].problems ==
              std::vector<std::string>{red_black::rungs[i].problem,
                                       red_black::rungs[i].problem + std::string("_double")});
    }
}
