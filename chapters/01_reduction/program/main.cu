// The ladder as a program: every rung adds up the same random numbers and is held against the exact sum.
// `--help` lists the options. On the CPU backend the times are those of the emulator: they say nothing
// about a GPU.

#include <bit>
#include <cmath>
#include <cstdio>
#include <set>

#include "program/problem.cuh"
#include "rungs/atomic_file.hpp"
#include "rungs/program.hpp"
#include "rungs/svg.hpp"
#include "rungs/timing.cuh"

/// The error of a rung for n = 256, 1024, ... up to the size asked for.
static rungs::Series errors(const reduction::Rung& rung, const reduction::Options& options) {
    rungs::Series series{rung.name, {}, {}};
    for (std::size_t n = 256; n <= options.n; n *= 4) {
        reduction::Problem problem(options, n);
        problem.run(rung);
        series.x.push_back(static_cast<double>(n));
        series.y.push_back(problem.error());
    }
    return series;
}

static bool run(const reduction::Options& options, const rungs::ProgramDevice& device) {
    const rungs::TimingOptions timing = device.timing();

    reduction::Problem problem(options, options.n);
    std::printf("%s of %zu random numbers in [0, 1) on %s: %.9g\n", options.dot ? "dot product" : "sum",
                options.n, device.name.c_str(), problem.exact());
    std::printf("%-16s %14s %8s %8s %12s %s\n", "rung", "result", "error", "answers",
                device.gpu ? "us" : "emulated us", device.gpu ? "  GB/s  of copy" : "");

    const auto copy = [&](cudaStream_t stream) { problem.copy(stream); };
    const double copy_speed = problem.copied_bytes() / rungs::median_milliseconds(copy, timing);

    rungs::LinePlot plot{"Rounding error of the ladder",
                         "How the error of each rung grows with n",
                         "n",
                         "error / sum of magnitudes",
                         rungs::Scale::log2,
                         rungs::Scale::log10,
                         {}};
    const bool right = rungs::all_right(reduction::rungs, options.rung, [&](const reduction::Rung& rung) {
        problem.forget();
        std::set<unsigned> answers;  // ten equal calls: atomics may give ten different sums
        for (int call = 0; call < 10; ++call) {
            problem.run(rung);
            answers.insert(std::bit_cast<unsigned>(problem.result()));
        }
        const double error = problem.error();
        const bool passed = error <= problem.allowed();  // false for NaN
        const auto call = [&](cudaStream_t stream) { problem.run(rung, stream); };
        const double us = 1e3 * rungs::median_milliseconds(call, timing);
        std::printf("%-16s %14.9g %8.1e %8zu %12.1f", rung.name, problem.result(), error, answers.size(), us);
        const double speed = 1e3 * problem.bytes() / us;
        if (device.gpu) std::printf(" %6.0f %6.0f %%", speed / 1e6, 100 * speed / copy_speed);
        std::printf("%s\n", passed              ? ""
                            : std::isnan(error) ? "  WRONG: no number"
                                                : "  WRONG: more than rounding explains");
        if (!options.picture.empty()) plot.series.push_back(errors(rung, options));
        return passed;
    });
    if (!options.picture.empty()) rungs::write_file(options.picture, rungs::on_ground(plot.svg()));
    return right;
}

int main(int argc, char** argv) {
    return rungs::run_program(
        argc, argv, run, "reduction",
        "Every rung adds up the same random numbers and is held against the exact sum.");
}
