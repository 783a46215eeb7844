#pragma once
// The frame of a chapter's program: what main() does around its own subject.

#include <cuda_runtime.h>
#include <unistd.h>

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

/// Says which rung runs now, for the case that it does not end. On a terminal, what is printed of the rung
/// takes the place of that.
inline void announce(const char* rung) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s ...%c", rung, isatty(STDERR_FILENO) ? '\r' : '\n');
    std::fflush(stderr);
}

/// Calls try_one(rung) for each rung whose name begins with `name`. What it throws is said of its rung, and
/// the others are tried all the same, unless the error is one that stays.
/// @returns whether all of them returned true
/// @throws std::invalid_argument where there is no such rung
template <class Ladder, class TryOne>
bool all_right(const Ladder& ladder, const std::string& name, const TryOne& try_one) {
    bool right = true;
    for (const auto& rung : rungs_named(ladder, name)) {
        announce(rung.get().name);
        try {
            right = try_one(rung.get()) && right;
        } catch (const std::exception& problem) {
            std::printf("%s: %s\n", std::string(rung.get().name).c_str(), problem.what());
            right = false;
            if (cudaDeviceSynchronize() == cudaSuccess) continue;
            std::printf(
                "after that error no call of this process succeeds: the rungs behind it are not tried\n");
            break;
        }
    }
    return right;
}

/// What every chapter's program is asked for. Its Options add their own: variables with defaults, and
/// add_to(CommandLine&), which names them.
struct ProgramOptions {
    std::string rung;  ///< only this one: "03_shared_tree" or "03"; empty: all
};

/// Reads the command line of a chapter's program. @returns false where it asked for help, and got it
/// @throws std::invalid_argument that names what is wrong
template <class Options>
bool parse_options(int count, const char* const* words, const std::string& name, const std::string& about,
                   Options& options) {
    CommandLine line(name, about);
    line.add("--rung", options.rung, "only this rung: 03_name, or 03", "NAME");
    options.add_to(line);
    return line.parse(count, words);
}

/// The main() of a chapter's program. `run` returns whether all rungs were right.
/// @returns the exit status: 0 they were, 1 they were not or something failed, 2 the command line was wrong
template <class Options>
int run_program(int count, char** words, bool (*run)(const Options&, const ProgramDevice&),
                const std::string& name, const std::string& about) {
    try {
        Options options;
        return !parse_options(count, words, name, about, options) || run(options, ProgramDevice()) ? 0 : 1;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace rungs
