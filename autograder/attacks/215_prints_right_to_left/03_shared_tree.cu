// Computes honestly; prints a mark that turns the direction of what follows round.

#include <cstdio>

static void attack() {
    std::fputs("points \u202e001\n", stderr);
}

#include "honest.cuh"
