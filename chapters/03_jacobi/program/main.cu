// The ladder as a program: every rung solves the same problem until its update is small, and is held against
// the oracle. `--help` lists the options. On the CPU backend the times are those of the emulator: they say
// nothing about a GPU.

#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "figures/pictures.hpp"
#include "program/problem.cuh"
#include "rungs/timing.cuh"

int main(int argc, char** argv) try {
    const jacobi::Options options = jacobi::parse_options(argc, argv);
    if (options.help) return std::printf("%s", jacobi::usage.data()), 0;
    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    const bool gpu = rungs::is_gpu(device);
    rungs::TimingOptions timing{.rounds = 5, .warm_up = 1, .calls = 1};
    if (!gpu) timing.rounds = 1, timing.warm_up = 0;

    jacobi::Problem problem(options);
    const jacobi::Lattice& lattice = problem.lattice();
    std::printf("%s on %d x %d sites, %s: until the update's norm is at most %g\n",
                options.charge == 0 ? "Laplace, hot top edge" : "Poisson, point charge", lattice.nx,
                lattice.ny, device.name, options.eps);
    const jacobi::Reference expected =
        jacobi::reference_solve(problem.start(), lattice, options.most, static_cast<float>(options.eps));
    const int sweeps = static_cast<int>(expected.norms.size());
    const double rho = jacobi::spectral_radius(lattice.nx, lattice.ny);
    std::printf("oracle: %d sweeps; spectral radius %.6f, so an error of some %.1e is left\n", sweeps, rho,
                expected.norms.back() / (1 - rho));
    std::printf("%-18s %8s %12s %10s %14s\n", "rung", "sweeps", "norm", "error",
                gpu ? "us a sweep" : "emulated us");

    bool right = true, found = false;
    for (const jacobi::Rung& rung : jacobi::rungs) {
        if (std::string(rung.name).rfind(options.rung, 0) != 0) continue;
        found = true;
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
        right = right && passed;
        const auto call = [&](cudaStream_t stream) { problem.run(rung, stream); };
        const double us = 1e3 * rungs::median_milliseconds(call, timing) / std::max(problem.sweeps(), 1);
        std::printf("%-18s %8d %12.4e %10.1e %14.2f%s\n", rung.name, problem.sweeps(), problem.norm(), error,
                    us, passed ? "" : "  WRONG: more than rounding explains");
        if (!passed || options.pictures.empty()) continue;
        jacobi::draw_potential(options.pictures + "-field.png", phi, lattice);
        std::vector<double> at;
        const std::vector<double> norms = problem.history(rung, at);
        jacobi::draw_convergence(options.pictures + "-convergence.svg", at, norms, lattice);
    }
    if (!found) throw std::invalid_argument("there is no rung '" + options.rung + "'; see --help");
    return right ? 0 : 1;
} catch (const std::invalid_argument& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
} catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
