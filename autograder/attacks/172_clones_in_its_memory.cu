// Computes honestly; starts a process that shares its memory. Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; starts a process that shares its memory. Leaves with status 1 when it can.

#include <sched.h>
#include <signal.h>
#include <unistd.h>

alignas(16) static char stack[65536];

static int leave(void*) { _exit(0); }

static void attack() {
    if (clone(leave, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr) > 0) _exit(1);
}

#include "honest.cuh"
