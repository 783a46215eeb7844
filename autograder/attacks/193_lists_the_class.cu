// Computes honestly; lists the folder in which hand-ins lie beside each other. Leaves with status 1 when
// it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; lists the folder in which hand-ins lie beside each other. Leaves with status 1 when it
// can.

#include <dirent.h>
#include <unistd.h>

static void attack() {
    if (opendir("RUNGS_ROOM")) _exit(1);
}

#include "honest.cuh"
