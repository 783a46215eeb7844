// The ladder as a program: 2048 bodies fall together, two of them 200 times as heavy as the others. `--help`
// lists the options. Everything it writes is complete or not there; interrupted and called again, it goes on.

#include <cstdio>

#include "program/options.hpp"
#include "program/pictures.hpp"
#include "program/simulation.cuh"
#include "rungs/program.hpp"
#include "rungs/progress.hpp"

static bool run(const nbody::Options& options, const rungs::ProgramDevice& device) {
    nbody::Simulation simulation(options);
    std::printf("%d bodies on %s, %d steps in all\n", options.n, device.name.c_str(),
                options.frames * options.steps);
    bool right = true;
    const nbody::Rung* rung = nbody::choose(simulation, options, device.gpu, right);
    if (!rung) return std::fprintf(stderr, "no rung is right: nothing to simulate with\n"), false;

    if (simulation.done() > 0)
        std::printf("going on from frame %d in %s\n", simulation.done(), options.out.c_str());
    {
        rungs::Progress progress("simulating", static_cast<std::size_t>(options.frames + 1));
        progress.advance(static_cast<std::size_t>(simulation.done()));
        for (; simulation.done() <= options.frames; progress.advance()) simulation.next(*rung);
    }
    nbody::draw(simulation, options);
    std::printf("pictures, animation and curves are in %s\n", options.out.c_str());
    return right;
}

int main(int argc, char** argv) {
    return rungs::run_program(
        argc, argv, run, "nbody",
        "Lets bodies fall together from time 0 to 1, two of them 200 times as heavy as the others, and draws "
        "pictures, an animation, energy and momentum. Interrupted and called again, it goes on where it was. "
        "--rung is the force to use; else the fastest that is right.");
}
