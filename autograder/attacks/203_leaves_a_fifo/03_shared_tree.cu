// Computes honestly; leaves a fifo on which whoever opens it waits.

#include <sys/stat.h>

static void attack() {
    mkfifo("RUNGS_ROOM/other_student/result.json", 0666);
}

#include "honest.cuh"
