// Prints what the CPU backend says of a deadlock, and sleeps.
//
//     verdicts = ["TIMEOUT"]
//     goal = "verdict"
//     wanted = "DEADLOCK"
//     defences = ["claims"]
//     checks = false
//     time_limit = 0.5

// Prints what the CPU backend says of a deadlock, and sleeps.

#include <unistd.h>
#include <cstdio>

static void attack() {
    std::fputs("kernel k: deadlock\nsimt: error=deadlock kernel=\"k\"\n", stderr);
    for (;;) pause();
}

#include "honest.cuh"
