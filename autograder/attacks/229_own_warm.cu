// Right, but brings a function of the worker.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but brings a function of the worker.

#include <cstddef>

void rungs_warm(const void*, std::size_t);
void rungs_warm(const void*, std::size_t) {}

static void attack() {

}

#include "honest.cuh"
