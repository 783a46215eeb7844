// Throws an exception whose text steers the terminal.
//
//     verdicts = ["RUNTIME_ERROR"]
//     goal = "terminal"
//     defences = ["clean text"]
//     checks = false

// Throws an exception whose text steers the terminal.

#include <stdexcept>

static void attack() {
    throw std::runtime_error("\x1b[2J\x1b[1;1HOK");
}

#include "honest.cuh"
