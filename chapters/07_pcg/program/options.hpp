#pragma once
// The command line of the chapter's program.

#include <algorithm>
#include <cstdint>
#include <string>

#include "pcg.cuh"
#include "rungs/options.hpp"

namespace pcg {

/// What the program was asked for.
struct Options {
    int d = 3;
    int side = 0;  ///< 0: as large as suits the backend
    std::uint64_t seed = 1;
    int limit = 5000;
    double tolerance = 1e-10;
    double float_tolerance = 1e-4;
    std::string rung;      ///< only this one: "04_cg" or "04"; empty: all
    std::string picture;   ///< the SVG file for ||r|| against iterations; empty: none
    std::string roofline;  ///< the SVG file for the roofline; empty: none
};

/// Reads the command line. @returns false where it asks for help, which has been printed then
/// @throws std::invalid_argument that names what is wrong
inline bool parse_options(int count, const char* const* words, Options& options) {
    rungs::CommandLine line("pcg",
                            "Every operator on one random field, every solver for one random right-hand "
                            "side, and how the residuals fall.");
    line.add("--d", options.d, 1, most_dimensions, "dimensions");
    line.add("--side", options.side, 1, 10000000,
             "cells along each axis (127 on a GPU, 15 on the CPU backend)");
    line.add("--seed", options.seed, 0, ~std::uint64_t{0}, "which random right-hand side");
    line.add("--limit", options.limit, 0, 1000000, "the most iterations");
    line.add("--tolerance", options.tolerance, 0.0, 1.0,
             "relative residual at which a solve in double stops; in float at 1e-4 or this");
    line.add("--picture", options.picture, "draw ||r|| against the iterations, as SVG");
    line.add("--roofline", options.roofline,
             "measure the device's roofs, and draw where the rungs stand, as SVG (on a GPU)");
    if (!line.parse(count, words)) return false;
    options.rung = line.rung();
    options.float_tolerance = std::max(options.tolerance, options.float_tolerance);
    return true;
}

}  // namespace pcg
