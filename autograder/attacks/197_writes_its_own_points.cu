// Computes honestly; writes its points into the file with the results.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files", "limits"]
//     checks = false
//     needs = "S2"

// Computes honestly; writes its points into the file with the results.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static void attack() {
    signal(SIGXFSZ, SIG_IGN);
    const int out = open("RUNGS_ROOM/results.json", O_WRONLY | O_APPEND);
    (void)!write(out, "{\"points\": 100}", 15);
}

#include "honest.cuh"
