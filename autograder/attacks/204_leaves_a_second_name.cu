// Computes honestly; gives the results a second name.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; gives the results a second name.

#include <unistd.h>

static void attack() {
    (void)!link("RUNGS_ROOM/results.json", "RUNGS_ROOM/other_student/mine.json");
}

#include "honest.cuh"
