#pragma once
// How the residual falls with time: --history. The same cube and right-hand side as in chapter 7's program,
// which writes the same table, so that two chapters' methods can be drawn together.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "red_black.cuh"
#include "rungs/device_buffer.cuh"
#include "rungs/program.hpp"
#include "rungs/random.hpp"
#include "rungs/solve_history.cuh"

namespace red_black {

/// Solves A u = b in double with every method, b random: the numbers of seed 1.
/// @param n  points along an edge of the cube
inline rungs::SolveHistory history_of(int n, double least, double seconds,
                                      const rungs::TimingOptions& timing) {
    const std::size_t points = static_cast<std::size_t>(n) * n * n;
    const std::vector<double> b = rungs::random_field<double>(points, 1, rungs::signed_uniform);
    const double whole = residual_norm(Grid(points, 0.0), b, n);
    const rungs::DeviceBuffer<double> start(std::vector<double>(points, 0.0)), d_b(b);
    rungs::DeviceBuffer<double> u(points), work(work_size(n));
    rungs::SolveHistory history(least, seconds, timing);
    for (const std::string name :
         {"01_jacobi", "10_one_pass", "08_sor", "09_block_gauss_seidel", "11_wavefront"}) {
        const auto named = rungs::rungs_named(red_black::rungs, name);
        const Rung& rung = named.front();
        rungs::DeviceBuffer<double> norms;
        const auto solve = [&](int iterations, cudaStream_t stream) {
            if (norms.size() < static_cast<std::size_t>(iterations))
                norms = rungs::DeviceBuffer<double>(static_cast<std::size_t>(iterations));
            rung.twice(start.data(), d_b.data(), u.data(), norms.data(), work.data(), n, iterations,
                       Tuning{0, 4}, stream);
        };
        history.record("04/" + name, solve, [&](int iterations) {
            return rungs::Reached{iterations, residual_norm(u.to_host(), b, n) / whole};
        });
    }
    return history;
}

}  // namespace red_black
