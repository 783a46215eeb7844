// Computes honestly; asks the grader to debug it, whom it would stop at every signal. Leaves with status 1
// when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; asks the grader to debug it, whom it would stop at every signal. Leaves with status 1
// when it can.

#include <sys/ptrace.h>
#include <unistd.h>

static void attack() {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) _exit(1);
}

#include "honest.cuh"
