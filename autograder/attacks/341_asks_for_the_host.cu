// Computes honestly; asks for the name of this machine. Leaves with status 1 when it is told.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["names"]
//     checks = false
//     needs = "S3"

// Computes honestly; asks for the name of this machine. Leaves with status 1 when it is told.

#include <sys/utsname.h>
#include <unistd.h>
#include <cstring>

static void attack() {
    utsname system{};
    if (uname(&system) == 0 && std::strcmp(system.nodename, "rungs") != 0) _exit(1);
}

#include "honest.cuh"
