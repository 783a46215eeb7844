// The ladder as a program: how many iterations each method needs, what they cost in float and in double and
// in blocks of different shapes, and what is left of the error. `--help` lists the options. On the CPU
// backend times are those of the emulator: they say nothing about a GPU.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "program/history.cuh"
#include "program/options.hpp"
#include "program/shapes.cuh"
#include "program/study.cuh"
#include "rungs/atomic_file.hpp"
#include "rungs/program.hpp"
#include "rungs/svg.hpp"

static bool run(const red_black::Options& options, const rungs::ProgramDevice& device) {
    const bool draws = !options.pictures.empty();
    const int n = options.n > 0 ? options.n : device.gpu ? 64 : 12;
    if (!options.history.empty()) {
        const int side = options.n > 0 ? options.n : device.gpu ? 127 : 12;
        red_black::history_of(side, 1e-6, options.seconds, device.timing(3))
            .write(options.history, device.name,
                   "./rungs run 04 -- --history FILE --n " + std::to_string(side));
        return true;
    }
    const rungs::TimingOptions timing = device.timing(7);
    red_black::Study<float> single(n, timing);
    red_black::Study<double> twice(n, timing);
    if (draws) std::filesystem::create_directories(options.pictures);

    std::printf("-Laplace(u) = f, %d^3 unknowns, from u = 0 to a residual of %g of the first, on %s%s\n", n,
                options.tolerance, device.name.c_str(), device.gpu ? "" : " (times are the emulator's)");
    std::printf("%-22s %10s %10s %9s %10s %10s %9s\n", "rung", "iterations", "factor", "ms", "us each",
                "in double", "error");
    rungs::LinePlot plot{"Residual against iterations",
                         "Jacobi, red-black, tiles and over-relaxation",
                         "iterations",
                         "residual / first",
                         rungs::Scale::linear,
                         rungs::Scale::log10,
                         {}};
    const bool right = rungs::all_right(red_black::rungs, options.rung, [&](const red_black::Rung& rung) {
        const red_black::Tuning tuning{0, 4};  // the best omega; four sweeps in a tile
        const int most = static_cast<int>(-2 * std::log(options.tolerance) * n * n) + 50;
        const int needed = twice.iterations_to(rung, options.tolerance, most, tuning);
        const int shown = needed > 0 ? needed : 1;
        single.run(rung, shown, tuning);
        const double error = single.error(), ms = single.milliseconds(rung, shown, tuning);
        const std::vector<double> norms = twice.run(rung, std::min(shown, 4 * n), tuning);
        const bool solved = needed > 0 && error < 0.5;  // the solution goes up to 1
        std::printf("%-22s %10d %10.6f %9.3f %10s %10s %9.1e%s\n", rung.name, needed,
                    red_black::last_factor(norms), ms, single.microseconds_each(rung, tuning).c_str(),
                    twice.microseconds_each(rung, tuning).c_str(), error,
                    solved ? "" : "  WRONG: does not get there");
        if (!draws) return solved;
        plot.series.push_back({rung.name, {}, norms});
        for (std::size_t t = 0; t < norms.size(); ++t)
            plot.series.back().x.push_back(static_cast<double>(t + 1));
        red_black::draw_slice(std::filesystem::path(options.pictures) / (std::string(rung.name) + ".png"),
                              single, n, false);
        single.run(rung, 30, tuning);
        red_black::draw_slice(
            std::filesystem::path(options.pictures) / (std::string(rung.name) + "_error_30.png"), single, n,
            true);
        return solved;
    });
    if (draws)
        rungs::write_file(std::filesystem::path(options.pictures) / "residuals.svg",
                          rungs::on_ground(plot.svg()));

    std::printf("one Jacobi sweep in blocks of k x j x i threads, %s us:\n",
                device.gpu ? "float and double," : "emulated");
    const auto us = [&](auto& study, dim3 block) {
        return 1e3 * red_black::shaped_milliseconds(study.b(), study.start(), study.work(), n, block, timing);
    };
    for (const dim3 block : red_black::shapes) {
        std::printf("  %3u x %2u x %2u %10.2f %10.2f\n", block.x, block.y, block.z, us(single, block),
                    us(twice, block));
    }
    return right;
}

int main(int argc, char** argv) {
    return rungs::run_program(argc, argv, run, "red_black",
                              "How many iterations each method needs, what they cost in float and in double "
                              "and in blocks of different shapes, and what is left of the error.");
}
