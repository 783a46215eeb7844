// What the contract of chapter 7 promises besides what all do. Each rung has its own tests, under its
// own tag: `[04_cg]`.

#include <cuda_runtime.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "ladder/promises.hpp"
#include "ladder/trial.hpp"
#include "pcg.cuh"
#include "program/device_inside.hpp"
#include "program/float_inside.hpp"
#include "program/neumann.hpp"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/random.hpp"

namespace {

using pcg::Field;
using pcg::Grid;
using pcg::Rung;
using rungs::DeviceBuffer;

std::vector<std::string> problems_of(const Rung& rung) {
    std::vector<std::string> problems;
    for (const rungs::Entry& entry : rungs::entries_of(rung.name)) problems.emplace_back(entry.problem);
    return problems;
}

Field values(const rungs::Array& array) {
    if (array.element == rungs::Element::f32) return {array.as<float>().begin(), array.as<float>().end()};
    return {array.as<double>().begin(), array.as<double>().end()};
}
Field given(const rungs::Trial& trial) { return values(trial.task().inputs[0]); }
Field answer(const rungs::Trial& trial) { return values(trial.invocation().outputs()[0].to_host()); }

/// A call that has been made.
rungs::Trial tried(const Rung& rung, const rungs::Case& which) {
    rungs::Trial trial(rung.name, which);
    trial.run();
    return trial;
}

bool solves(const std::string& problem) {
    return problem.substr(0, 2) == "cg" || problem == "mixed" || problem == "multigrid";
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void does_nothing_on_a_grid_of_no_points(const Rung& rung) {
    DeviceBuffer<double> history(std::vector<double>(4, -1.0));
    DeviceBuffer<int> outcome(std::vector<int>{-1, -1});
    for (const int d : {1, 3, 6}) {
        if (rung.apply)
            rung.apply(nullptr, nullptr, d, 0, nullptr), rung.apply_double(nullptr, nullptr, d, 0, nullptr);
        for (const bool single : {true, false}) {
            if (single ? !rung.solve : !rung.solve_double) continue;
            outcome.copy_from(std::vector<int>{-1, -1});
            if (single) {
                rung.solve(nullptr, nullptr, history.data(), outcome.data(), d, 0, 3, 1e-6, nullptr);
            } else {
                rung.solve_double(nullptr, nullptr, history.data(), outcome.data(), d, 0, 3, 1e-6, nullptr);
            }
            CHECK(outcome.to_host() == std::vector<int>{pcg::converged, 0});
            CHECK(history.to_host()[0] == 0);
            CHECK(std::isnan(history.to_host()[3]));
        }
    }
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

void refuses_what_is_no_grid(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        CAPTURE(problem);
        for (const auto& [d, side, limit] :
             {std::tuple{0, 4, 3}, {7, 2, 3}, {-1, 4, 3}, {3, -1, 3}, {3, 4, -1}}) {
            if (limit < 0 && !solves(problem)) continue;
            const rungs::Case which{problem, {3, 4}, "random"};
            rungs::Task task = rungs::chapter_exam().make(which);
            task.numbers[0].integer = d, task.numbers[1].integer = side;
            if (solves(problem)) task.numbers[2].integer = limit;
            CAPTURE(d, side, limit);
            CHECK_THROWS_AS(rungs::Trial(rung.name, which, task).run(), std::invalid_argument);
        }
    }
}

/// Of the operators, A itself; of the preconditioner, what the exam sees in one call.
void is_symmetric_and_positive_definite(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        for (int d = 1; d <= pcg::most_dimensions; ++d) {
            const long long side = d < 3 ? 11 : 3;
            const rungs::Trial u = tried(rung, {problem, {d, side}, "random", 1}),
                               v = tried(rung, {problem, {d, side}, "random", 2});
            const double here = pcg::dot(given(u), answer(v)), there = pcg::dot(given(v), answer(u));
            const double size = pcg::dot(given(u), answer(u));
            CAPTURE(problem, d, here, there);
            CHECK(size > 0);
            CHECK(std::abs(here - there) <= (problem == "apply" ? 1e-5 : 1e-13) * size);
        }
    }
}

/// The error's A-norm never grows, whatever ||r|| does in between: stopped after 0, 1, 2, ... iterations.
void comes_nearer_in_every_iteration(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        if (!solves(problem)) continue;
        for (const auto& [d, side] : {std::pair{1, 19}, {2, 9}, {3, 5}}) {
            const Grid grid{d, side};
            double before = std::numeric_limits<double>::infinity();
            const int most = rung.solve ? 9 : 3;
            for (int k = 0; k <= most; ++k) {
                const rungs::Trial call = tried(rung, {problem, {d, side, k}, "limit", 6});
                if (call.output<int>(2)[0] != pcg::limit_reached) break;  // solved to the last bit
                Field error = pcg::solution(grid, given(call));
                const double whole = pcg::norm_in(grid, error);
                const Field x = answer(call);
                for (std::size_t i = 0; i < error.size(); ++i) error[i] -= x[i];
                const double now = pcg::norm_in(grid, error);
                CAPTURE(problem, d, side, k);
                if (before > 1e-6 * whole) CHECK(now < before);
                before = now;
            }
        }
    }
}

/// Its squares may be smaller than any normal number: 1 divided by one of them is none.
void goes_on_where_squares_are_subnormal(const Rung& rung) {
    constexpr int d = 2, side = 7, limit = 400;
    const auto n = static_cast<std::size_t>(pcg::points(d, side));
    std::vector<double> b(n);
    const std::vector<float> random = rungs::random_field(n, 5, rungs::signed_uniform);
    for (std::size_t i = 0; i < n; ++i) b[i] = std::ldexp(static_cast<double>(random[i]), -490);
    const DeviceBuffer<double> given(b);
    DeviceBuffer<double> x(n), history(limit + 1);
    DeviceBuffer<int> outcome(2);
    rung.solve_double(given.data(), x.data(), history.data(), outcome.data(), d, side, limit, 1e-10, nullptr);
    CHECK(outcome.to_host()[0] == pcg::converged);
}

void marks_the_rest_of_the_history(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        if (!solves(problem)) continue;
        const rungs::Trial call = tried(rung, {problem, {2, 7}, "random", 3});
        const std::vector<double> history = call.output<double>(1);
        const auto k = static_cast<std::size_t>(call.output<int>(2)[1]);
        REQUIRE(k + 3 < history.size());
        rungs::require_marked(history, k);
    }
}

/// More than 2^31 points, in 17 GB of device memory: only where there is as much.
void counts_past_two_to_the_31(const Rung& rung) {
    constexpr int side = 1291;  // 2^31 is between 1290^3 and this
    constexpr long long n = pcg::points(3, side);
    if (!rungs::on_a_gpu()) RUNGS_SKIP("2 billion points are a matter for a GPU");
    const std::size_t free = rungs::free_device_memory();
    if (free < 2 * sizeof(float) * n + (1u << 30)) RUNGS_SKIP("the GPU has no 18 GB for 2 billion points");
    DeviceBuffer<float> u(n), y(n);
    u.fill_bytes(0), y.fill_bytes(0xff);
    const long long at =
        n - 1 - side;  // all coordinates but one are the last; next to the last point of its column
    const float one = 1;
    CUDA_CHECK(cudaMemcpy(u.data() + at, &one, sizeof one, cudaMemcpyHostToDevice));
    rung.apply(u.data(), y.data(), 3, side, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto value = [&](long long i) {
        float result = 0;
        CUDA_CHECK(cudaMemcpy(&result, y.data() + i, sizeof result, cudaMemcpyDeviceToHost));
        return result;
    };
    CHECK(value(at) == 6);
    for (const long long i : {at - 1, at - side, at + side, at - 1LL * side * side}) CHECK(value(i) == -1);
    for (const long long i : {at + 1, at - 2, 0LL, n - 2, at - (1LL << 31)}) CHECK(value(i) == 0);
}

TEST_CASE("07_pcg: a float solve on the device preconditions a double one on the host", "[07_pcg]") {
    const Grid grid{3, 9};
    const Field b = rungs::random_field<double>(grid.points(), 1, rungs::signed_uniform);
    const auto products = [&](pcg::Inside way, int limit) {
        pcg::DeviceInside inner(pcg::cg, grid, limit, 0);
        const pcg::Course course = pcg::solve_around(grid, b, way, std::ref(inner), 1e-10, 500);
        CAPTURE(static_cast<int>(way), limit);
        CHECK(pcg::residual_norm(grid, b, course.x) <= 1.01e-10 * std::sqrt(pcg::dot(b, b)));
        return course.products.back();
    };
    const double flexible = products(pcg::Inside::flexible, 6);
    CHECK(flexible < products(pcg::Inside::correction, 6));
    CHECK(products(pcg::Inside::textbook, 6) < 500);

    // The copy on the host makes the same solve.
    pcg::HostInside inner(grid, 0, false, 6);
    CHECK(pcg::solve_around(grid, b, pcg::Inside::flexible, std::ref(inner), 1e-10, 500).products.back() ==
          flexible);
}

TEST_CASE("07_pcg: with u' = 0 at the walls the mean drifts, unless it is subtracted", "[07_pcg]") {
    const Grid grid{3, 9};
    const std::vector<float> b = rungs::random_field<float>(grid.points(), 1, rungs::signed_uniform);
    pcg::Neumann problem(grid, pcg::laplace_stencil);
    const pcg::NeumannState drifted = problem.solve(b, 8 * grid.L, false),
                            kept = problem.solve(b, 8 * grid.L, true);
    CHECK(kept.residual < 2e-6);
    CHECK(kept.mean_r < 1e-12);
    CHECK(kept.mean_x < 1e-6);
    CHECK(drifted.residual > 10 * kept.residual);
    CHECK(drifted.mean_x > 0.1);
}

bool is_operator(const Rung& rung) { return rung.apply != nullptr; }
bool is_solve(const Rung& rung) { return rung.solve_double != nullptr; }
bool is_solve_alone(const Rung& rung) { return is_solve(rung) && !is_operator(rung); }

constexpr rungs::Promise<Rung> promises[] = {
    {does_nothing_on_a_grid_of_no_points, "does nothing on a grid of no points",
     [](const Rung& rung) { return is_operator(rung) || is_solve(rung); }},
    {refuses_what_is_no_grid, "refuses what is not a grid"},
    {is_symmetric_and_positive_definite, "is symmetric and positive definite", is_operator},
    {counts_past_two_to_the_31, "counts past 2^31", is_operator},
    {comes_nearer_in_every_iteration, "comes nearer in every iteration", is_solve_alone},
    {goes_on_where_squares_are_subnormal, "goes on where squares are subnormal", is_solve},
    {marks_the_rest_of_the_history, "marks the rest of the history as not reached", is_solve},
};

const bool registered = rungs::register_promises<pcg::rungs, promises>("07_pcg");

}  // namespace
