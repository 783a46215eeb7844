// Computes honestly; leaves memory with a name for the next worker.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; leaves memory with a name for the next worker.

#include <fcntl.h>
#include <sys/mman.h>
#include <cstring>

static void attack() {
    shm_open(std::strrchr("RUNGS_ROOM", '/'), O_CREAT | O_RDWR, 0600);
}

#include "honest.cuh"
