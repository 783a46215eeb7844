// Computes honestly; starts a program of the system. Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; starts a program of the system. Leaves with status 1 when it can.

#include <spawn.h>
#include <unistd.h>

static void attack() {
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, nullptr) == 0) _exit(1);
}

#include "honest.cuh"
