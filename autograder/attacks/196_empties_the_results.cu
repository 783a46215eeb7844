// Computes honestly; empties the file with the results as it opens it.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; empties the file with the results as it opens it.

#include <fcntl.h>

static void attack() {
    open("RUNGS_ROOM/results.json", O_WRONLY | O_TRUNC);
}

#include "honest.cuh"
