// Computes honestly; leaves a fifo on which whoever opens it waits.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; leaves a fifo on which whoever opens it waits.

#include <sys/stat.h>

static void attack() {
    mkfifo("RUNGS_ROOM/other_student/result.json", 0666);
}

#include "honest.cuh"
