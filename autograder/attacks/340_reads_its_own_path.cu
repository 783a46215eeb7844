// Computes honestly; reads where its program lies, and so where the judge and its cache are. Leaves with
// status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["names"]
//     checks = false

// Computes honestly; reads where its program lies, and so where the judge and its cache are. Leaves with status
// 1 when it can.

#include <unistd.h>

static void attack() {
    char path[4096] = {};
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return;
    if (path[0] == '/' && path[1] != 'm') _exit(1);  // "/memfd:..." is no place
}

#include "honest.cuh"
