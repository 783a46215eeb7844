#pragma once
// The command line of the chapter's program.

#include <string>

#include "rungs/program.hpp"

namespace jacobi {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    int nx = 33;  ///< points, boundary included
    int ny = 33;  ///< @copydoc nx
    double charge =
        0;  ///< q: 0 solves Laplace's equation with a hot top edge, else Poisson's with a cold boundary
    double eps = 1e-4;     ///< where to stop
    int most = 100'000;    ///< sweeps at most
    std::string pictures;  ///< what the pictures' names begin with; empty: none

    void add_to(rungs::CommandLine& line) {
        line.add("--nx", nx, 3, 1 << 15, "points of the lattice in a row, boundary included");
        line.add("--ny", ny, 3, 1 << 15, "rows of the lattice, boundary included");
        line.add("--charge", charge, -1e6, 1e6,
                 "a point charge in the middle of a cold boundary, instead of a hot top edge");
        line.add("--eps", eps, 0.0, 1e6, "stop when the norm of the update is at most this");
        line.add("--most", most, 1, 1 << 30, "sweeps at most");
        line.add("--pictures", pictures,
                 "write FILE-field.png, the potential, with field lines where there is a charge, and "
                 "FILE-convergence.svg, the norm of the update beside what theory predicts");
    }
};

}  // namespace jacobi
