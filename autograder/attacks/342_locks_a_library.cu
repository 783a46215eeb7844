// Computes honestly; locks a file of the system that it may read, so that nobody else can. Leaves with
// status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     cpu_alone = true
//     needs = "S1"

// Computes honestly; locks a file of the system that it may read, so that nobody else can: by that it also
// tells another hand-in something. Leaves with status 1 when it can.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static void attack() {
    const int file = open("/etc/ld.so.cache", O_RDONLY);
    if (file < 0) _exit(2);
    if (flock(file, LOCK_SH | LOCK_NB) == 0) _exit(1);
}

#include "honest.cuh"
