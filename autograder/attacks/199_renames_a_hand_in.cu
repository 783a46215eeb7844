// Computes honestly; gives another student's hand-in another name.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; gives another student's hand-in another name.

#include <cstdio>

static void attack() {
    std::rename("RUNGS_ROOM/other_student/03_shared_tree.cu", "RUNGS_ROOM/other_student/lost.cu");
}

#include "honest.cuh"
