// Computes honestly; forks. Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; forks. Leaves with status 1 when it can.

#include <unistd.h>

static void attack() {
    const pid_t child = fork();
    if (child >= 0) _exit(child > 0 ? 1 : 0);
}

#include "honest.cuh"
