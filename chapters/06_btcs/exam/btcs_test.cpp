// What the contract of chapter 6 promises besides what all do. Each rung has its own tests, under its
// own tag: `[05_thomas]`.

#include <cuda_runtime.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btcs.cuh"
#include "ladder/promises.hpp"
#include "ladder/trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"

namespace {

using btcs::Rung;
using rungs::DeviceBuffer;

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void takes_no_rows_and_no_systems(const Rung& rung) {
    if (rung.march) {
        rung.march(nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0, 1, rung.explicit_only ? 0 : 1, nullptr);
    } else if (rung.create) {
        rung.create(nullptr, nullptr, nullptr, nullptr, 0, 1, nullptr);
    } else if (rung.assemble) {
        rung.assemble(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr);
    } else if (rung.scan) {
        rung.scan(nullptr, nullptr, 0, 0.5, nullptr);
    } else if (rung.batch) {
        rung.batch(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 5, 0, nullptr);
        DeviceBuffer<int> status(std::vector<int>(3, 77));
        rung.batch(nullptr, nullptr, nullptr, nullptr, nullptr, status.data(), 0, 3, nullptr);
        CHECK(status.to_host() == std::vector<int>(3, btcs::solved));
    } else {
        DeviceBuffer<long long> status(std::vector<long long>{77});
        rung.solve(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, status.data(), 0, nullptr);
        CHECK(status.to_host()[0] == btcs::solved);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}

void refuses_what_the_contract_excludes(const Rung& rung) {
    float* const none = nullptr;
    if (rung.batch) {
        CHECK_THROWS_AS(rung.batch(none, none, none, none, none, nullptr, rung.most_rows + 1, 1, nullptr),
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
    if (!rung.march || rung.explicit_only) return;
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
    if (!rung.solve && !rung.batch) return;
    constexpr long long n = 500;
    const std::string problem = rungs::entries_of(rung.name).front().problem;
    rungs::Case which{problem, {n}, "insulated", 4};
    if (rung.batch) which.sizes.push_back(1);
    rungs::Trial trial(rung.name, which);
    trial.run();
    trial.require();
    double before = 0, after = 0;
    for (const float value : trial.task().inputs[3].as<float>()) before += value;
    for (const float value : trial.output<float>(0)) after += value;
    // Iterations stop with a residual of one sign; elimination's errors cancel.
    CHECK(std::abs(after - before) < n * 33.0 * btcs::tolerance);
}

void tells_when_there_is_no_solution(const Rung& rung) {
    if (!rung.solve) return;
    rungs::Trial trial(rung.name, {rungs::entries_of(rung.name).front().problem, {2}, "singular", 1});
    trial.run();
    trial.require();
}

constexpr rungs::Promise<Rung> promises[] = {
    {takes_no_rows_and_no_systems, "takes no rows and no systems"},
    {refuses_what_the_contract_excludes, "refuses what the contract excludes"},
    {has_the_order_of_its_scheme, "has the order of its scheme"},
    {tells_when_there_is_no_solution, "tells when there is no solution"},
    {keeps_the_heat_of_an_insulated_rod, "keeps the heat of an insulated rod"},
};

const bool registered = rungs::register_promises<btcs::rungs, promises>("06_btcs");

}  // namespace

TEST_CASE("11 asks a few tiles of a large system how far its rows reach", "[06_btcs][11_partitioned]") {
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
    btcs::partitioned(beside.data(), diagonal.data(), beside.data(), b.data(), nullptr, x.data(),
                      status.data(), n, nullptr);
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
