// The ladder as a program: every rung solves the same problem until its update is small, and is held against
// the oracle. `--help` lists the options. On the CPU backend the times are those of the emulator: they say
// nothing about a GPU.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "figures/pictures.hpp"
#include "program/problem.cuh"
#include "rungs/program.hpp"
#include "rungs/timing.cuh"

static bool run(const jacobi::Options& options, const rungs::ProgramDevice& device) {
    const rungs::TimingOptions timing = device.timing(5);

    jacobi::Problem problem(options);
    const jacobi::Lattice& lattice = problem.lattice();
    std::printf("%s on %d x %d points, %s: until the update's norm is at most %g\n",
                options.charge == 0 ? "Laplace, hot top edge" : "Poisson, point charge", lattice.nx,
                lattice.ny, device.name.c_str(), options.eps);
    const jacobi::Reference expected =
        jacobi::reference_solve(problem.start(), lattice, options.most, static_cast<float>(options.eps));
    const int sweeps = static_cast<int>(expected.norms.size());
    const double rho = jacobi::spectral_radius(lattice.nx, lattice.ny);
    std::printf("oracle: %d sweeps; spectral radius %.6f, so an error of some %.1e is left\n", sweeps, rho,
                expected.norms.back() / (1 - rho));
    std::printf("%-18s %8s %12s %10s %14s\n", "rung", "sweeps", "norm", "error",
                device.gpu ? "us per sweep" : "emulated us");

    const bool right = rungs::all_right(jacobi::rungs, options.rung, [&](const jacobi::Rung& rung) {
        problem.forget();
        problem.run(rung);
        double error = 0;
        const std::vector<float> phi = problem.phi();
        for (std::size_t i = 0; i < phi.size(); ++i) {
            const double one = std::abs(phi[i] - expected.phi[i]);
            if (!(one <= error)) error = one;  // NaN stays
        }
        // Near the end a norm falls by little more than its rounding: a float solver may stop
        // some sweeps off.
        const int slack = 2 + sweeps / 50;
        const double allowed =
            jacobi::rounding_bound(lattice, expected.largest, sweeps) + slack * options.eps;
        const bool passed = error <= allowed && std::abs(problem.sweeps() - sweeps) <= slack;
        const auto call = [&](cudaStream_t stream) { problem.run(rung, stream); };
        const double us = 1e3 * rungs::median_milliseconds(call, timing) / std::max(problem.sweeps(), 1);
        std::printf("%-18s %8d %12.4e %10.1e %14.2f%s\n", rung.name, problem.sweeps(), problem.norm(), error,
                    us, passed ? "" : "  WRONG: more than rounding explains");
        if (!passed || options.pictures.empty()) return passed;
        jacobi::draw_potential(options.pictures + "-field.png", phi, lattice);
        std::vector<double> at;
        const std::vector<double> norms = problem.history(rung, at);
        jacobi::draw_convergence(options.pictures + "-convergence.svg", at, norms, lattice);
        return passed;
    });
    return right;
}

int main(int argc, char** argv) {
    return rungs::run_program(
        argc, argv, run, "jacobi",
        "Every rung solves the same problem until its update is small, and is held against the oracle.");
}
