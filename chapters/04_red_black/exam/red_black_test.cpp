// What the contract of chapter 4 promises besides what all do. Each rung has its own tests, under its
// own tag: `[04_half_grid]`.

#include <cuda_runtime.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "ladder/promises.hpp"
#include "program/study.cuh"
#include "red_black.cuh"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/random.hpp"

namespace {

using red_black::Rung;
using red_black::Tuning;
using rungs::DeviceBuffer;

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
        u.fill_bytes(0xff);
        work.fill_bytes(0xff);
        norms.fill_bytes(0xff);
    }
    void run(const Rung& rung, const Tuning& tuning = {}) {
        rung.of(T())(start.data(), b.data(), u.data(), norms.data(), work.data(), n, iterations, tuning,
                     nullptr);
    }
};

template <class T>
Buffers<T> random_problem(int n, int iterations, std::uint64_t seed = 1) {
    return {rungs::random_field<T>(cube(n), seed, rungs::signed_uniform),
            rungs::random_field<T>(cube(n), seed + 100, rungs::signed_uniform), n, iterations};
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

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
    const std::size_t free = rungs::free_device_memory();
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

constexpr rungs::Promise<Rung> promises[] = {
    {takes_no_points_and_no_iterations, "takes no points and no iterations"},
    {goes_on_where_it_stopped, "goes on where it stopped"},
    {is_of_second_order, "is of second order"},
    {counts_beyond_32_bits, "counts beyond 32 bits"},
};

const bool registered = rungs::register_promises<red_black::rungs, promises>("04_red_black");

}  // namespace

TEST_CASE("the best omega is the best", "[04_red_black][08_sor]") {
    const Rung& sor = red_black::rungs[6];
    REQUIRE(std::string(sor.name) == "08_sor");
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

TEST_CASE("the program tells no time below zero", "[04_red_black][program]") {
    CHECK(red_black::difference_text(428.631) == "428.63");
    for (const double time : {-791.12, 0.0, std::nan("")}) CHECK(red_black::difference_text(time) == "noisy");
}
