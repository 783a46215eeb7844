#pragma once
// The command line of the chapter's program.

#include <string>

#include "rungs/options.hpp"

namespace btcs {

/// What the program was asked for.
struct Options {
    int n = 127;           ///< points of the rod
    double r = 0.52;       ///< conductivity times time step / spacing^2
    int steps = 100;       ///< time steps of the pictures
    std::string rung;      ///< only this one: "05_partitioned" or "05"; empty: all
    std::string pictures;  ///< what the pictures' names begin with; empty: none
};

/// Reads the command line. @returns false where it asks for help, which has been printed then
/// @throws std::invalid_argument that names what is wrong
inline bool parse_options(int count, const char* const* words, Options& options) {
    rungs::CommandLine line("btcs",
                            "Every rung takes a step of the same rod, and the schemes take many: FTCS, which "
                            "blows up beyond r = 1/2, BTCS and Crank-Nicolson.");
    line.add("--n", options.n, 3, 8192, "points of the rod");
    line.add("--r", options.r, 0.0, 1e6,
             "conductivity x time step / spacing^2; 0.52 is a little too much for FTCS");
    line.add("--steps", options.steps, 1, 10000, "time steps");
    line.add("--pictures", options.pictures,
             "write FILE-rods.png, the rod through time by FTCS, BTCS and Crank-Nicolson; "
             "FILE-stability.svg, what a step does to waves; FILE-order.svg, errors against steps; "
             "FILE-insulated.png, a rod of several materials with ends that let no heat out");
    if (!line.parse(count, words)) return false;
    options.rung = line.rung();
    return true;
}

}  // namespace btcs
