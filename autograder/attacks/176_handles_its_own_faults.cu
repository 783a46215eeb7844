// Computes honestly; asks to handle page faults, which holds the kernel up where it copies. Leaves with
// status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; asks to handle page faults, which holds the kernel up where it copies. Leaves with status
// 1 when it can.

#include <sys/syscall.h>
#include <unistd.h>

static void attack() {
    if (syscall(SYS_userfaultfd, 1 /* of user mode alone */) >= 0) _exit(1);
}

#include "honest.cuh"
