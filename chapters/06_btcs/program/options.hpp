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
    double kappa = 1;      ///< conductivity, for --dt and --t-end
    double dx = 0;         ///< spacing; 0: 1 / (n + 1)
    double dt = 0;         ///< time step; 0: what r says
    double t_end = 0;      ///< 0: what steps say
    double theta = 1;      ///< the scheme of --numbers
    int every = 10;        ///< steps from one line of numbers to the next
    std::string solver;    ///< the rung that takes them; empty: the last one that is right
    std::string numbers;   ///< file for the rod through time; empty: none
    std::string race;      ///< file for steps to an error; empty: none
    std::string pictures;  ///< what the pictures' names begin with; empty: none

    void add_to(rungs::CommandLine& line) {
        line.add("--n", n, 3, 8192, "points of the rod");
        line.add("--r", r, 0.0, 1e6,
                 "conductivity x time step / spacing^2; 0.52 is a little too much for FTCS");
        line.add("--steps", steps, 1, 10000, "time steps");
        line.add("--kappa", kappa, 1e-6, 1e6, "conductivity");
        line.add("--dx", dx, 0.0, 1e6, "spacing of the points; else 1 / (n + 1)");
        line.add("--dt", dt, 0.0, 1e6, "time step, instead of --r");
        line.add("--t-end", t_end, 0.0, 1e9, "time of the last step, instead of --steps");
        line.add("--theta", theta, 0.0, 1.0, "0 FTCS, 1/2 Crank-Nicolson, 1 BTCS, for --numbers");
        line.add("--every", every, 1, 1000000, "steps from one line of numbers to the next");
        line.add("--solver", solver,
                 "the rung that takes the steps for --numbers: 01, 04, 11, 12, 14 or 15; else the last one "
                 "that is right. --race takes 12 or 15",
                 "NAME");
        line.add("--numbers", numbers, "write the rod through time to FILE, as comma-separated values");
        line.add("--race", race, "write to FILE how many steps each scheme takes to an error");
        line.add("--pictures", pictures,
                 "write FILE-rods.png, the rod through time by FTCS, BTCS and Crank-Nicolson; "
                 "FILE-stability.svg, what a step does to waves; FILE-order.svg, errors against steps; "
                 "FILE-insulated.png, a rod of several materials with ends that let no heat out");
    }
};

}  // namespace btcs
