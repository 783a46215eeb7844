// Computes honestly; reads the list of the users. Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; reads the list of the users. Leaves with status 1 when it can.

#include <fcntl.h>
#include <unistd.h>

static void attack() {
    if (open("/etc/passwd", O_RDONLY) >= 0) _exit(1);
}

#include "honest.cuh"
