// Computes honestly; writes to its own entry in /proc. Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; writes to its own entry in /proc. Leaves with status 1 when it can.

#include <fcntl.h>
#include <unistd.h>

static void attack() {
    if (open("/proc/self/oom_score_adj", O_WRONLY) >= 0) _exit(1);
}

#include "honest.cuh"
