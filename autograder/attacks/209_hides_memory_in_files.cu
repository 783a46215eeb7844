// Computes honestly; takes memory as files without a name, of which no address space is needed. Leaves
// with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["limits"]
//     checks = false

// Computes honestly; takes memory as files without a name, of which no address space is needed. Leaves with
// status 1 when it can.

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static void attack() {
    signal(SIGXFSZ, SIG_IGN);
    const int file = memfd_create("memory", 0);
    if (ftruncate(file, off_t{1} << 40) == 0) _exit(1);
}

#include "honest.cuh"
