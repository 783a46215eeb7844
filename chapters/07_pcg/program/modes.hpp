#pragma once
// What the program does when it is asked for one thing: --flexible, --neumann.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "exam/reference.hpp"
#include "program/device_inside.hpp"
#include "program/float_inside.hpp"
#include "program/neumann.hpp"
#include "program/options.hpp"
#include "rungs/random.hpp"

namespace pcg {

/// A float solve on the device inside a double one, in five ways. @returns whether all reach the tolerance
inline bool show_flexible(const Options& options) {
    constexpr int few = 10;        // iterations of a preconditioner
    constexpr double gain = 1e-3;  // of a correction, as in rungs 08 and 13
    constexpr int most = 100'000;  // products
    const Grid grid{options.d, options.side};
    const Field b = rungs::random_field<double>(grid.points(), options.seed, rungs::signed_uniform);
    const int enough = 50 + 8 * options.side;
    bool right = true;
    std::printf("to %g, d = %d, side %d\n%-52s %9s %9s %10s\n", options.tolerance, grid.d, grid.L, "",
                "products", "seconds", "residual");
    const auto row = [&](const char* name, int products, double seconds, const Field& x) {
        const double residual = residual_norm(grid, b, x) / std::sqrt(dot(b, b));
        right = right && residual <= 1.01 * options.tolerance;
        std::printf("%-52s %9d %9.4f %10.2e\n", name, products, seconds, residual);
    };
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto since = [&](auto begin) { return std::chrono::duration<double>(now() - begin).count(); };
    const auto around = [&](const char* name, Inside way, int limit, double inner_gain) {
        DeviceInside inner(cg_fused, grid, limit, inner_gain);
        const auto begin = now();
        const Course course = solve_around(grid, b, way, std::ref(inner), options.tolerance, most);
        row(name, static_cast<int>(course.products.back()), since(begin), course.x);
    };
    around("preconditioner, 10 iterations, flexible beta", Inside::flexible, few, 0);
    around("preconditioner, 10 iterations, beta of the textbook", Inside::textbook, few, 0);
    around("correction, 10 iterations, p thrown away", Inside::correction, few, 0);
    around("correction to 1e-3, p thrown away", Inside::correction, enough, gain);

    // Rung 13 does not say how many products it makes: the host's copy of it counts them.
    HostInside copy(grid, gain, true, enough);
    const Course counted = solve_around(grid, b, Inside::correction, std::ref(copy), options.tolerance, most);
    const rungs::DeviceBuffer<double> d_b(b);
    rungs::DeviceBuffer<double> x(b.size()), history(41);
    rungs::DeviceBuffer<int> outcome(2);
    const auto solve = [&] {
        mixed_precision(d_b.data(), x.data(), history.data(), outcome.data(), grid.d, grid.L, 40,
                        options.tolerance, nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    };
    solve();  // the first call loads code
    const auto begin = now();
    solve();
    row("correction to 1e-3, p kept: rung 13", static_cast<int>(counted.products.back()), since(begin),
        x.to_host());
    std::printf(
        "The first four work on the host, except their inner solves: compare products, not seconds. Those "
        "of rung 13 were counted by a copy on the host.\n");
    return right;
}

/// Conjugate gradients for a Neumann problem, projected or not. @returns whether projection keeps the mean
inline bool show_neumann(const Options& options) {
    const Grid grid{options.d, options.side};
    const std::vector<float> b =
        rungs::random_field<float>(grid.points(), options.seed, rungs::signed_uniform);
    Neumann problem(grid, laplace_stencil);
    bool right = true;
    std::printf("u' = 0 at the walls, float, d = %d, side %d\n%-14s %10s %12s %12s %12s\n", grid.d, grid.L,
                "", "iterations", "residual", "mean of r", "mean of x");
    for (const int iterations : {2 * grid.L, 4 * grid.L, 8 * grid.L}) {
        for (const bool projected : {false, true}) {
            const NeumannState got = problem.solve(b, iterations, projected);
            right = right && (!projected || (got.mean_r < 1e-6 && got.mean_x < 1e-3));
            std::printf("%-14s %10d %12.2e %12.2e %12.2e\n", projected ? "projected" : "as it is", iterations,
                        got.residual, got.mean_r, got.mean_x);
        }
    }
    return right;
}

}  // namespace pcg
