// Computes honestly; asks for a process by a structure, into which a filter of system calls cannot look.
// Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     control_needs_clone3 = true
//     needs = "S1"

// Computes honestly; asks for a process by a structure, into which a filter of system calls cannot look.
// Leaves with status 1 when it can.

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attack() {
    clone_args wanted{};
    wanted.exit_signal = SIGCHLD;
    const long child = syscall(SYS_clone3, &wanted, sizeof wanted);
    if (child >= 0) _exit(child > 0 ? 1 : 0);
}

#include "honest.cuh"
