// Computes honestly; gives another student's hand-in another name.

#include <cstdio>

static void attack() {
    std::rename("RUNGS_ROOM/other_student/03_shared_tree.cu", "RUNGS_ROOM/other_student/lost.cu");
}

#include "honest.cuh"
