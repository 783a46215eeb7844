// Computes honestly; deletes another student's hand-in.

#include <unistd.h>

static void attack() {
    unlink("RUNGS_ROOM/other_student/03_shared_tree.cu");
}

#include "honest.cuh"
