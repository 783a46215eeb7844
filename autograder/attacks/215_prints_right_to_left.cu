// Computes honestly; prints a mark that turns the direction of what follows round.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "terminal"
//     defences = ["clean text"]
//     checks = false

// Computes honestly; prints a mark that turns the direction of what follows round.

#include <cstdio>

static void attack() {
    std::fputs("points \u202e001\n", stderr);
}

#include "honest.cuh"
