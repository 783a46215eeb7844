// Computes honestly; takes descriptors until none is left to others of its user. Leaves with status 1 when
// it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["limits"]
//     checks = false
//     cpu_alone = true

// Computes honestly; takes descriptors until none is left to others of its user. Leaves with status 1 when it
// can.

#include <unistd.h>

static void attack() {
    for (int i = 0; i < 200; ++i) {
        if (dup(1) < 0) return;
    }
    _exit(1);
}

#include "honest.cuh"
