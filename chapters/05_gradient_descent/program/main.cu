// The ladder as a program: every rung solves the same system, the hardest one for descent at its condition
// number. `--help` lists the options. On the CPU backend the times are those of the emulator: they say
// nothing about a GPU.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "program/problem.cuh"
#include "rungs/atomic_file.hpp"
#include "rungs/program.hpp"
#include "rungs/timing.cuh"

using namespace gradient_descent;

static bool run(const Options& options, const rungs::ProgramDevice& device) {
    const rungs::TimingOptions timing = device.timing();

    Problem problem(options);
    const Trace jacobi = problem.oracle(false), descent = problem.oracle(true);
    std::printf("%d unknowns, condition number %g, on %s\n", options.n, options.kappa, device.name.c_str());
    std::printf("%-16s %-14s %10s %12s %12s %14s\n", "rung", "outcome", "iterations", "||b-Ax||/||b||",
                "as claimed", device.gpu ? "us per iteration" : "emulated us");
    const auto row = [](const char* name, const Trace& trace) {
        std::printf("%-16s %-14s %10d %14.3e\n", name, name_of(trace.outcome), trace.iterations,
                    trace.history.back() / trace.history.front());
    };
    row("Jacobi, double", jacobi);
    row("descent, double", descent);

    std::vector<rungs::Series> lines;
    const bool right = rungs::all_right(gradient_descent::rungs, options.rung, [&](const Rung& rung) {
        const Solved solved = problem.solve(rung);
        const bool passed = agrees(solved, rung.descends ? descent : jacobi, options.tolerance);
        const auto call = [&](cudaStream_t stream) { problem.queue(rung, stream); };
        const double us = 1e3 * rungs::median_milliseconds(call, timing) / std::max(solved.iterations, 1);
        std::printf("%-16s %-14s %10d %14.3e %12.3e %15.2f%s\n", rung.name, name_of(solved.outcome),
                    solved.iterations, solved.residual, solved.history.back(), us, passed ? "" : "  WRONG");
        rungs::Series line{rung.name, {}, solved.history};
        for (std::size_t k = 0; k < line.y.size(); ++k) line.x.push_back(static_cast<double>(k));
        if (passed && (lines.empty() || line.y.size() != lines.back().y.size())) lines.push_back(line);
        if (rung.descends && !options.study.empty() && passed) {
            const rungs::LinePlot study = condition_study(options, rung);
            rungs::write_file(options.study, rungs::on_ground(study.svg()));
        }
        return passed;
    });
    if (!options.picture.empty())
        rungs::write_file(options.picture, rungs::on_ground(convergence_plot(options, lines).svg()));
    return right;
}

int main(int argc, char** argv) {
    return rungs::run_program(
        argc, argv, run, "gradient_descent",
        "Every rung solves the same system, the hardest one for descent at its condition number.");
}
