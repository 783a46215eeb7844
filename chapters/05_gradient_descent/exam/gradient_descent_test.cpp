// What the contract of chapter 5 promises besides what all do. Each rung has its own tests, under its
// own tag: `[03_descent]`.

#include <cuda_runtime.h>

#include <cmath>
#include <utility>
#include <vector>

#include "gradient_descent.cuh"
#include "ladder/promises.hpp"
#include "ladder/trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"

namespace {

using gradient_descent::Rung;
using rungs::DeviceBuffer;

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void solves_nothing_at_once(const Rung& rung) {
    DeviceBuffer<double> history(std::vector<double>(4, -1.0));
    DeviceBuffer<int> outcome(std::vector<int>{-1, -1});
    rung.solve(nullptr, nullptr, nullptr, history.data(), outcome.data(), 0, 3, 1e-6, nullptr);
    CHECK(outcome.to_host() == std::vector<int>{gradient_descent::converged, 0});
    CHECK(history.to_host()[0] == 0);
    CHECK(std::isnan(history.to_host()[3]));
}

void marks_the_rest_of_the_history(const Rung& rung) {
    rungs::Trial trial(rung.name,
                       {rung.descends ? "descent" : "jacobi", {50}, rung.descends ? "spd" : "dominant"});
    trial.run();
    const std::vector<double> history = trial.output<double>(1);
    const auto k = static_cast<std::size_t>(trial.output<int>(2)[1]);
    REQUIRE(k + 2 < history.size());
    rungs::require_marked(history, k);
}

constexpr rungs::Promise<Rung> promises[] = {
    {solves_nothing_at_once, "solves a system of no unknowns at once"},
    {marks_the_rest_of_the_history, "marks the rest of the history as not reached"},
};

const bool registered = rungs::register_promises<gradient_descent::rungs, promises>("05_gradient_descent");

}  // namespace
