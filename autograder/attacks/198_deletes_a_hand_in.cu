// Computes honestly; deletes another student's hand-in.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; deletes another student's hand-in.

#include <unistd.h>

static void attack() {
    unlink("RUNGS_ROOM/other_student/03_shared_tree.cu");
}

#include "honest.cuh"
