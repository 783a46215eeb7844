// Computes honestly; forks. Leaves with status 1 when it can.

#include <unistd.h>

static void attack() {
    const pid_t child = fork();
    if (child >= 0) _exit(child > 0 ? 1 : 0);
}

#include "honest.cuh"
