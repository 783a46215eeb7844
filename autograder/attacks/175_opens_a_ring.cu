// Computes honestly; asks the kernel for a ring, through which calls pass that no filter sees. Leaves with
// status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; asks the kernel for a ring, through which calls pass that no filter sees. Leaves with
// status 1 when it can.

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attack() {
    io_uring_params parameters{};
    if (syscall(425 /* io_uring_setup */, 4, &parameters) >= 0) _exit(1);
}

#include "honest.cuh"
