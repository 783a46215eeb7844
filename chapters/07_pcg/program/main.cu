// The ladder as a program: every operator on one random field, every solver for one random right-hand side,
// and how the residuals fall. `--help` lists the options. On the CPU backend the times are those of the
// emulator: they say nothing about a GPU.

#include <cstdio>
#include <string>

#include "program/history.cuh"
#include "program/modes.hpp"
#include "program/options.hpp"
#include "program/study.cuh"
#include "rungs/atomic_file.hpp"
#include "rungs/program.hpp"

using namespace pcg;

static bool run(const Options& asked, const rungs::ProgramDevice& device) {
    Options options = asked;
    if (options.side == 0) options.side = options.flexible && device.gpu ? 63 : device.gpu ? 127 : 15;
    if (!options.history.empty()) {
        history_of(options.side, 1e-6, options.seconds, device.timing(3))
            .write(options.history, device.name,
                   "./rungs run 07 -- --history FILE --side " + std::to_string(options.side));
        return true;
    }
    if (options.flexible) return show_flexible(options);
    if (options.neumann) return show_neumann(options);
    const rungs::TimingOptions timing = device.timing(5);
    std::printf("d = %d, side %d, condition number %.4g, on %s\n", options.d, options.side,
                condition({options.d, options.side}), device.name.c_str());
    std::printf("%-20s %-7s %-14s %10s %12s %12s %12s\n", "rung", "type", "outcome", "iterations", "error",
                device.gpu ? "us" : "emulated us", "an iteration");

    Study<float> single(options, timing);
    Study<double> twice(options, timing);
    Report report(options);
    for (const Rung& rung : rungs::rungs_named(pcg::rungs, options.rung)) {
        rungs::announce(rung.name);
        report.row(rung, single);
        report.row(rung, twice);
    }
    if (!options.picture.empty())
        rungs::write_file(options.picture, rungs::on_ground(report.convergence().svg()));
    if (!options.roofline.empty() && device.gpu) {
        rungs::write_file(options.roofline, rungs::on_ground(roofline(device.name, report.places()).svg()));
    } else if (!options.roofline.empty()) {
        std::printf("no roofline: this is an emulator, which has no roofs to measure\n");
    }
    return report.right();
}

int main(int argc, char** argv) {
    return rungs::run_program(argc, argv, run, "pcg",
                              "Every operator on one random field, every solver for one random right-hand "
                              "side, and how the residuals fall.");
}
