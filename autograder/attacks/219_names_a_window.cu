// Computes honestly; prints what gives the window of a terminal another title.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "terminal"
//     defences = ["clean text"]
//     checks = false

// Computes honestly; prints what gives the window of a terminal another title.

#include <cstdio>

static void attack() {
    std::fputs("\x1b]0;all passed\a\n", stderr);
}

#include "honest.cuh"
