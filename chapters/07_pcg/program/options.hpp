#pragma once
// The command line of the chapter's program.

#include <algorithm>
#include <cstdint>
#include <string>

#include "pcg.cuh"
#include "rungs/program.hpp"

namespace pcg {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    int d = 3;
    int side = 0;  ///< 0: as large as suits the backend
    std::uint64_t seed = 1;
    int limit = 5000;
    double tolerance = 1e-10;
    std::string picture;    ///< the SVG file for ||r|| against iterations; empty: none
    std::string roofline;   ///< the SVG file for the roofline; empty: none
    std::string history;    ///< the table of residual against time; empty: none
    double seconds = 2;     ///< of one solve, for that table
    bool flexible = false;  ///< a solve in float inside one in double, in several ways
    bool neumann = false;   ///< u' = 0 at the walls, with and without projection

    double float_tolerance() const { return std::max(tolerance, 1e-4); }

    void add_to(rungs::CommandLine& line) {
        line.add("--d", d, 1, most_dimensions, "dimensions");
        line.add("--side", side, 1, 10000000, "points along each axis (127 on a GPU, 15 on the CPU backend)");
        line.add("--seed", seed, 0, ~std::uint64_t{0}, "which random right-hand side");
        line.add("--limit", limit, 0, 1000000, "the most iterations");
        line.add("--tolerance", tolerance, 0.0, 1.0,
                 "relative residual at which a solve in double stops; in float at 1e-4 or this");
        line.add("--picture", picture, "draw ||r|| against the iterations, as SVG");
        line.add("--roofline", roofline,
                 "measure the device's roofs, and draw the rungs below them, as SVG (on a GPU)");
        line.add("--history", history,
                 "instead of all else, write how the residual falls with time: a table "
                 "method,iteration,seconds,residual, down to 1e-6 for a random right-hand side, d = 3");
        line.add("--seconds", seconds, 1e-3, 1e4, "with --history, a method ends where a solve takes longer");
        line.add("--flexible", flexible,
                 "instead of all else, a float solve on the device inside a double one: as defect correction "
                 "and as a preconditioner");
        line.add("--neumann", neumann,
                 "instead of all else, u' = 0 at the walls: conjugate gradients in float, with and without "
                 "the mean of r subtracted");
    }
};

}  // namespace pcg
