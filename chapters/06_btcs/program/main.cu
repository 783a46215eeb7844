// The ladder as a program: every rung takes a step of the same rod, and the schemes take many: FTCS, which
// blows up beyond r = 1/2, BTCS and Crank-Nicolson. `--help` lists the options. On the CPU backend the times
// are those of the emulator: they say nothing about a GPU.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

#include "program/options.hpp"
#include "program/simulation.cuh"
#include "program/study.cuh"
#include "rungs/atomic_file.hpp"
#include "rungs/program.hpp"

static bool run(const btcs::Options& options, const rungs::ProgramDevice& device) {
    const bool draws = !options.pictures.empty();
    const rungs::TimingOptions timing = device.timing(7);
    const auto n = static_cast<std::size_t>(options.n);

    std::printf("a rod of %d points, r = %g, on %s%s\n", options.n, options.r, device.name.c_str(),
                device.gpu ? "" : " (times are the emulator's)");
    std::printf("%-24s %-18s %16s %14s\n", "rung", "solves", "error / allowed", "us a row");
    const btcs::Rung *marches = nullptr, *solves = nullptr, *assembles = nullptr, *creates = nullptr;
    const bool right = rungs::all_right(btcs::rungs, options.rung, [&](const btcs::Rung& rung) {
        const btcs::Tried tried = btcs::attempt(rung, options.n, options.r, timing);
        std::printf("%-24s %-18s %16.3f %14.5f  %s\n", rung.name, btcs::what(rung), tried.error,
                    tried.us_a_row, tried.outcome.c_str());
        if (tried.right && rung.march && !rung.explicit_only) marches = &rung;
        if (tried.right && rung.solve && tried.outcome.empty()) solves = &rung;
        if (tried.right && rung.assemble) assembles = &rung;
        if (tried.right && rung.create) creates = &rung;
        return tried.right;
    });

    if (!options.numbers.empty()) btcs::simulate(options);
    if (!options.race.empty()) btcs::race(options, device);
    if (marches) {
        btcs::Vector hot(n, 0.0);
        std::fill(hot.begin() + options.n * 3 / 8, hot.begin() + options.n * 5 / 8, 1.0);
        std::vector<btcs::History> rods;
        std::printf("a hot stretch in the middle, %d steps with %s:\n", options.steps, marches->name);
        for (const auto& [theta, name] : {std::pair(0.0, "FTCS"), {1.0, "BTCS"}, {0.5, "Crank-Nicolson"}}) {
            rods.push_back(btcs::through_time(*marches, hot, options.r, theta, options.steps));
            const double most = btcs::largest(rods.back().back());
            std::printf("  %-16s largest |u| %9.3g%s\n", name, most, most > 1.1 ? "  has blown up" : "");
        }
        const std::vector<rungs::Series> lines{btcs::measure_order(*marches, "BTCS", 1),
                                               btcs::measure_order(*marches, "Crank-Nicolson", 0.5)};
        std::printf("sin(pi x) until t = 0.1, error of the time steps, and the order between two lines:\n");
        std::printf("  %10s %12s %6s %16s %6s\n", "step", "BTCS", "order", "Crank-Nicolson", "order");
        for (std::size_t k = 0; k < lines[0].x.size(); ++k) {
            std::printf("  %10.2e", lines[0].x[k]);
            for (const rungs::Series& line : lines)
                std::printf(" %13.3e %6s", line.y[k], btcs::order_text(line, k).c_str());
            std::printf("\n");
        }
        if (draws) {
            btcs::draw_rods(options.pictures + "-rods.png", rods);
            rungs::write_file(options.pictures + "-order.svg",
                              rungs::on_ground(btcs::order_plot(lines).svg()));
            rungs::write_file(options.pictures + "-stability.svg",
                              btcs::StabilityMap(btcs::measure_waves(*marches)).svg());
        }
    }
    if (solves && assembles) {
        std::printf("linear elements for -u'' = 1, %s and %s: ", assembles->name, solves->name);
        try {
            std::printf("largest error at a node %.2g\n", btcs::elements_error(*assembles, *solves, n));
        } catch (const std::runtime_error& error) {  // go on with the next solver
            std::printf("not solved: %s\n", error.what());
        }
    }
    try {
        if (solves) {
            std::printf("a rod of two materials, insulated, %d steps with %s%s%s: ", options.steps,
                        solves->name, creates ? " on the matrix of " : "", creates ? creates->name : "");
            const btcs::History rod = btcs::insulated_rod(*solves, creates, n, options.r, options.steps);
            std::printf("heat %.6f at first, %.6f at the end\n", btcs::heat(rod.front()),
                        btcs::heat(rod.back()));
            if (draws) btcs::draw_rods(options.pictures + "-insulated.png", {rod});
        }
    } catch (const std::runtime_error& error) {
        std::printf("not solved: %s\n", error.what());
    }
    return right;
}

int main(int argc, char** argv) {
    return rungs::run_program(argc, argv, run, "btcs",
                              "Every rung takes a step of the same rod, and the schemes take many: FTCS, "
                              "which blows up beyond r = 1/2, BTCS and Crank-Nicolson.");
}
