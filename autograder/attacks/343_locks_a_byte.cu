// Computes honestly; locks a byte of a file of the system that it may read. Leaves with status 1 when it
// can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     cpu_alone = true
//     needs = "S1"

// Computes honestly; locks a byte of a file of the system that it may read, in each of the ways that there are.
// Leaves with status 1 when it can.

#include <fcntl.h>
#include <unistd.h>

static void attack() {
    const int file = open("/etc/ld.so.cache", O_RDONLY);
    if (file < 0) _exit(2);
    for (const int way : {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW}) {
        struct flock lock {};
        lock.l_type = F_RDLCK;
        lock.l_whence = SEEK_SET;
        lock.l_len = 1;
        if (fcntl(file, way, &lock) == 0) _exit(1);
    }
}

#include "honest.cuh"
