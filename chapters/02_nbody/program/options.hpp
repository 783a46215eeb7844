#pragma once
// The command line of the chapter's program.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "rungs/program.hpp"

namespace nbody {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    int n = 2048;            ///< bodies
    std::uint64_t seed = 1;  ///< which ones
    int frames = 60;         ///< pictures from time 0 to 1, without the first
    int steps = 32;          ///< of the leapfrog, between two pictures
    float softening = 0.02f;
    std::filesystem::path out = "nbody-out";  ///< the folder for everything that is written
    bool fresh = false;                       ///< forget what the folder holds

    float dt() const { return 1.0f / static_cast<float>(frames * steps); }

    /// What decides where the bodies go: a run is continued only with the same.
    std::string physics() const {
        char text[160];
        std::snprintf(text, sizeof text, "bodies %d, seed %llu, frames %d, steps %d, softening %.9g\n", n,
                      static_cast<unsigned long long>(seed), frames, steps, static_cast<double>(softening));
        return text;
    }

    void add_to(rungs::CommandLine& line) {
        line.add("--bodies", n, 1, 1 << 22, "how many bodies");
        line.add("--seed", seed, 0, ~std::uint64_t{0}, "which ones");
        line.add("--frames", frames, 1, 9999, "how many pictures after the first");
        line.add("--steps", steps, 1, 100000, "steps of the leapfrog between two pictures");
        line.add("--softening", softening, 1e-6f, 1.0f, "the softening length");
        line.add("--out", out, "where to write");
        line.add("--fresh", fresh, "begin anew, whatever the folder holds");
    }
};

}  // namespace nbody
