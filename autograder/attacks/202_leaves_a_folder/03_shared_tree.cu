// Computes honestly; leaves a folder where the grader may write a result.

#include <sys/stat.h>

static void attack() {
    mkdir("RUNGS_ROOM/other_student/result.json", 0777);
}

#include "honest.cuh"
