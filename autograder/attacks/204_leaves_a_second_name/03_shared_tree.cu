// Computes honestly; gives the results a second name.

#include <unistd.h>

static void attack() {
    (void)!link("RUNGS_ROOM/results.json", "RUNGS_ROOM/other_student/mine.json");
}

#include "honest.cuh"
