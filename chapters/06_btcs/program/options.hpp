#pragma once
// The command line of the chapter's program.

#include <string>

#include "rungs/program.hpp"

namespace btcs {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    int n = 127;           ///< points of the rod
    double r = 0.52;       ///< conductivity times time step / spacing^2
    int steps = 100;       ///< time steps of the pictures
    std::string pictures;  ///< what the pictures' names begin with; empty: none

    void add_to(rungs::CommandLine& line) {
        line.add("--n", n, 3, 8192, "points of the rod");
        line.add("--r", r, 0.0, 1e6,
                 "conductivity x time step / spacing^2; 0.52 is a little too much for FTCS");
        line.add("--steps", steps, 1, 10000, "time steps");
        line.add("--pictures", pictures,
                 "write FILE-rods.png, the rod through time by FTCS, BTCS and Crank-Nicolson; "
                 "FILE-stability.svg, what a step does to waves; FILE-order.svg, errors against steps; "
                 "FILE-insulated.png, a rod of several materials with ends that let no heat out");
    }
};

}  // namespace btcs
