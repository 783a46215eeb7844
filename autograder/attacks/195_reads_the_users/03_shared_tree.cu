// Computes honestly; reads the list of the users. Leaves with status 1 when it can.

#include <fcntl.h>
#include <unistd.h>

static void attack() {
    if (open("/etc/passwd", O_RDONLY) >= 0) _exit(1);
}

#include "honest.cuh"
