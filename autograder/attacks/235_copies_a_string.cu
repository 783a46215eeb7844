// Right, but has a function of the C library copy, which check mode does not see.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but has a function of the C library copy, which check mode does not see.

#include <cstring>

static char from[8] = "abc", to[8];
static volatile int size = 4;

static void attack() {
    std::strncpy(to, from, static_cast<std::size_t>(size));
}

#include "honest.cuh"
