// Computes honestly; leaves a folder where the grader may write a result.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; leaves a folder where the grader may write a result.

#include <sys/stat.h>

static void attack() {
    mkdir("RUNGS_ROOM/other_student/result.json", 0777);
}

#include "honest.cuh"
