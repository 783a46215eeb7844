// The ladder as a program: every operator on one random field, every solver for one random right-hand side,
// and how the residuals fall. `--help` lists the options. On the CPU backend the times are those of the
// emulator: they say nothing about a GPU.

#include <cstdio>
#include <exception>
#include <string>

#include "program/options.hpp"
#include "program/study.cuh"
#include "rungs/atomic_file.hpp"

using namespace pcg;

int main(int argc, char** argv) try {
    Options options = parse_options(argc, argv);
    if (options.help) return std::printf("%s", usage.data()), 0;
    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    const bool gpu = rungs::is_gpu(device);
    if (options.side == 0) options.side = gpu ? 127 : 15;
    const rungs::TimingOptions timing{.rounds = gpu ? 5u : 1u, .warm_up = gpu ? 1u : 0u, .calls = 1};
    std::printf("d = %d, side %d, condition number %.4g, on %s\n", options.d, options.side,
                condition({options.d, options.side}), device.name);
    std::printf("%-20s %-7s %-14s %10s %12s %12s %12s\n", "rung", "type", "outcome", "iterations", "error",
                gpu ? "us" : "emulated us", "an iteration");

    Study<float> single(options, timing);
    Study<double> twice(options, timing);
    Report report(options);
    bool found = false;
    for (const Rung& rung : pcg::rungs) {
        if (std::string(rung.name).rfind(options.rung, 0) != 0) continue;
        found = true;
        report.row(rung, single);
        report.row(rung, twice);
    }
    if (!found) throw std::invalid_argument("there is no rung '" + options.rung + "'; see --help");
    if (!options.picture.empty())
        rungs::write_file(options.picture, rungs::on_ground(report.convergence().svg()));
    if (!options.roofline.empty() && gpu) {
        rungs::write_file(options.roofline, rungs::on_ground(roofline(device.name, report.places()).svg()));
    } else if (!options.roofline.empty()) {
        std::printf("no roofline: this is an emulator, which has no roofs to measure\n");
    }
    return report.right() ? 0 : 1;
} catch (const std::invalid_argument& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
} catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
