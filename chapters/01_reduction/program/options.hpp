#pragma once
// The command line of the chapter's program.

#include <cstddef>
#include <cstdint>
#include <string>

#include "rungs/options.hpp"

namespace reduction {

/// What the program was asked for.
struct Options {
    std::uint64_t n = 1 << 20;  ///< elements
    std::uint64_t seed = 1;     ///< which random numbers
    bool dot = false;           ///< the dot product instead of the sum
    std::string rung;           ///< only this one: "03_shared_tree" or "03"; empty: all
    std::string picture;        ///< the SVG file to draw; empty: none
};

/// Reads the command line. @returns false where it asks for help, which has been printed then
/// @throws std::invalid_argument that names what is wrong
inline bool parse_options(int count, const char* const* words, Options& options) {
    rungs::CommandLine line("reduction",
                            "Every rung adds up the same random numbers and is held against the exact sum.");
    line.add("--n", options.n, 1, std::uint64_t{1} << 40, "how many numbers to add up");
    line.add("--seed", options.seed, 0, ~std::uint64_t{0}, "which random numbers");
    line.add("--dot", options.dot, "the dot product of two vectors instead of the sum of one");
    line.add("--picture", options.picture, "draw the rounding errors against n, as SVG");
    if (!line.parse(count, words)) return false;
    options.rung = line.rung();
    return true;
}

}  // namespace reduction
