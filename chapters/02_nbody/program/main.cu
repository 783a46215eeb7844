// The ladder as a program: 2048 bodies fall together, two of them 200 times as heavy as the others. `--help`
// lists the options. Everything it writes is complete or not there; interrupted and called again, it goes on.

#include <cstdio>
#include <exception>

#include "program/options.hpp"
#include "program/pictures.hpp"
#include "program/simulation.cuh"
#include "rungs/progress.hpp"

int main(int argc, char** argv) try {
    const nbody::Options options = nbody::parse_options(argc, argv);
    if (options.help) return std::printf("%s", nbody::usage.data()), 0;
    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    nbody::Simulation simulation(options);
    std::printf("%d bodies on %s, %d steps in all\n", options.n, device.name, options.frames * options.steps);
    bool right = true;
    const bool gpu = rungs::is_gpu(device);
    const nbody::Rung* rung = nbody::choose(simulation, options, gpu, right);
    if (!rung) return std::fprintf(stderr, "no rung is right: nothing to simulate with\n"), 1;

    if (simulation.done() > 0)
        std::printf("going on from frame %d in %s\n", simulation.done(), options.out.c_str());
    {
        rungs::Progress progress("simulating", static_cast<std::size_t>(options.frames + 1));
        progress.advance(static_cast<std::size_t>(simulation.done()));
        for (; simulation.done() <= options.frames; progress.advance()) simulation.next(*rung);
    }
    nbody::draw(simulation, options);
    std::printf("pictures, animation and curves are in %s\n", options.out.c_str());
    return right ? 0 : 1;
} catch (const std::invalid_argument& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
} catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
