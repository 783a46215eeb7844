#pragma once
// The command line of the chapter's program.

#include <string>

#include "rungs/program.hpp"

namespace red_black {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    int n = 0;                ///< points along an edge; 0: as many as suit the backend
    double tolerance = 1e-3;  ///< of the residual, relative to that of u = 0
    std::string pictures;     ///< the folder to draw into; empty: none
    std::string history;      ///< the table of residual against time; empty: none
    double seconds = 2;       ///< of one solve, for that table

    void add_to(rungs::CommandLine& line) {
        line.add("--n", n, 1, 1024, "points along an edge of the cube (64 on a GPU, 12 on the CPU backend)");
        line.add("--tolerance", tolerance, 1e-12, 1.0, "stop at this residual, relative to that of u = 0");
        line.add("--pictures", pictures,
                 "a folder to draw into: slices of the solution and of errors, and the residuals "
                 "against iterations");
        line.add("--history", history,
                 "instead of all else, write how the residual falls with time: a table "
                 "method,iteration,seconds,residual, down to 1e-6 for a random right-hand side (--n 127)");
        line.add("--seconds", seconds, 1e-3, 1e4, "with --history, a method ends where a solve takes longer");
    }
};

}  // namespace red_black
