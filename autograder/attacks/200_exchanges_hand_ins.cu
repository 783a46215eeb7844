// Computes honestly; has two files of another student change places.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; has two files of another student change places.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attack() {
    syscall(SYS_renameat2, AT_FDCWD, "RUNGS_ROOM/other_student/03_shared_tree.cu", AT_FDCWD,
            "RUNGS_ROOM/other_student/helper.hpp", 2U /* exchange */);
}

#include "honest.cuh"
