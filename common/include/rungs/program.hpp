#pragma once
// The frame of a chapter's program: what main() does around its own subject.

#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "rungs/cuda_check.cuh"
#include "rungs/options.hpp"
#include "rungs/timing.cuh"

namespace rungs {

/// The device that a program runs on.
struct ProgramDevice {
    std::string name;
    bool gpu = false;  ///< rather than the CPU backend, whose times say nothing about a GPU

    ProgramDevice() {
        cudaDeviceProp device;
        CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
        name = device.name;
        gpu = is_gpu(device);
    }

    /// `rounds` times as often as the CPU backend has time for, which is once.
    TimingOptions timing(unsigned rounds) const {
        return {.rounds = gpu ? rounds : 1, .warm_up = gpu ? 1u : 0u, .calls = 1};
    }
    /// As many calls as it takes to measure short ones.
    TimingOptions timing() const { return gpu ? TimingOptions{} : timing(1); }
};

/// The rungs whose names begin with `name`. @throws std::invalid_argument where there is none
template <class Ladder>
auto rungs_named(const Ladder& ladder, const std::string& name) {
    std::vector<std::reference_wrapper<const std::remove_reference_t<decltype(*std::begin(ladder))>>> found;
    for (const auto& rung : ladder) {
        if (std::string(rung.name).rfind(name, 0) == 0) found.emplace_back(rung);
    }
    if (found.empty()) throw std::invalid_argument("there is no rung '" + name + "'; see --help");
    return found;
}

/// What every chapter's program is asked for. Its Options add their own: a `name` and a line `about` the
/// program, variables with defaults, and add_to(CommandLine&).
struct ProgramOptions {
    std::string rung;  ///< only this one: "03_shared_tree" or "03"; empty: all
};

/// The main() of a chapter's program. `run` returns whether all rungs were right.
/// @returns the exit status: 0 they were, 1 they were not or something failed, 2 the command line was wrong
template <class Options>
int run_program(int count, char** words, bool (*run)(const Options&, const ProgramDevice&)) {
    try {
        Options options;
        CommandLine line(Options::name, Options::about);
        line.add("--rung", options.rung, "only this rung: 03_name, or 03", "NAME");
        options.add_to(line);
        return !line.parse(count, words) || run(options, ProgramDevice()) ? 0 : 1;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace rungs
