#pragma once
// The command line of the chapter's program.

#include <string>

#include "rungs/options.hpp"

namespace red_black {

/// What the program was asked for.
struct Options {
    int n = 0;                ///< points along an edge; 0: as many as suit the backend
    double tolerance = 1e-3;  ///< of the residual, relative to that of u = 0
    std::string rung;         ///< only this one: "06_sor" or "06"; empty: all
    std::string pictures;     ///< the folder to draw into; empty: none
};

/// Reads the command line. @returns false where it asks for help, which has been printed then
/// @throws std::invalid_argument that names what is wrong
inline bool parse_options(int count, const char* const* words, Options& options) {
    rungs::CommandLine line("red_black",
                            "How many iterations each method needs, what they cost in float and in double "
                            "and in blocks of different shapes, and what is left of the error.");
    line.add("--n", options.n, 1, 1024,
             "points along an edge of the cube (64 on a GPU, 12 on the CPU backend)");
    line.add("--tolerance", options.tolerance, 1e-12, 1.0,
             "stop at this residual, relative to that of u = 0");
    line.add(
        "--pictures", options.pictures,
        "a folder to draw into: slices of the solution and of errors, and the residuals against iterations");
    if (!line.parse(count, words)) return false;
    options.rung = line.rung();
    return true;
}

}  // namespace red_black
