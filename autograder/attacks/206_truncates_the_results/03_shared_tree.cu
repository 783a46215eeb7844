// Computes honestly; cuts the results off without opening them.

#include <unistd.h>

static void attack() {
    (void)!truncate("RUNGS_ROOM/results.json", 3);
}

#include "honest.cuh"
