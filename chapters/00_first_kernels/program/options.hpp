#pragma once
// The command line of the chapter's program.

#include <filesystem>

#include "rungs/program.hpp"

namespace first_kernels {

/// What the program was asked for.
struct Options : rungs::ProgramOptions {
    int width = 640, height = 480;  ///< of the pictures
    int radius = 6;                 ///< of the blur
    std::filesystem::path out = "first-kernels-out";

    void add_to(rungs::CommandLine& line) {
        line.add("--width", width, 1, 8192, "width of the pictures");
        line.add("--height", height, 1, 8192, "height of the pictures");
        line.add("--radius", radius, 0, 8, "of the blur");
        line.add("--out", out, "the folder for the pictures");
    }
};

}  // namespace first_kernels
