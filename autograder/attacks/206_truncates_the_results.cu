// Computes honestly; cuts the results off without opening them.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files", "system calls"]
//     checks = false
//     needs = "S2"

// Computes honestly; cuts the results off without opening them.

#include <unistd.h>

static void attack() {
    (void)!truncate("RUNGS_ROOM/results.json", 3);
}

#include "honest.cuh"
