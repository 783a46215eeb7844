// Computes honestly; leaves a segment of shared memory behind.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; leaves a segment of shared memory behind.

#include <sys/ipc.h>
#include <sys/shm.h>

static void attack() {
    const key_t key = ftok("RUNGS_ROOM/results.json", 'r');
    shmget(key, std::size_t{1} << 20, IPC_CREAT | 0600);
}

#include "honest.cuh"
