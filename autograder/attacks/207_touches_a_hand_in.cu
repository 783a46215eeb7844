// Computes honestly; makes another student's hand-in look late.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["system calls"]
//     checks = false
//     needs = "S2"

// Computes honestly; makes another student's hand-in look late.

#include <fcntl.h>
#include <sys/stat.h>

static void attack() {
    utimensat(AT_FDCWD, "RUNGS_ROOM/other_student/03_shared_tree.cu", nullptr, 0);
}

#include "honest.cuh"
