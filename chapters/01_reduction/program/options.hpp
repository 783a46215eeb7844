#pragma once
// The command line of the chapter's program.

#include <cstddef>
#include <cstdint>
#include <string>

#include "rungs/program.hpp"

namespace reduction {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    std::uint64_t n = 1 << 20;  ///< elements
    std::uint64_t seed = 1;     ///< which random numbers
    bool dot = false;           ///< the dot product instead of the sum
    std::string picture;        ///< the SVG file to draw; empty: none

    void add_to(rungs::CommandLine& line) {
        line.add("--n", n, 1, std::uint64_t{1} << 40, "how many numbers to add up");
        line.add("--seed", seed, 0, ~std::uint64_t{0}, "which random numbers");
        line.add("--dot", dot, "the dot product of two vectors instead of the sum of one");
        line.add("--picture", picture, "draw the rounding errors against n, as SVG");
    }
};

}  // namespace reduction
