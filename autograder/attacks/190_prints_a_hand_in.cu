// Computes honestly; prints another student's hand-in into its own report.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "secret"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; prints another student's hand-in into its own report.

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>

static void show(const char* file) {
    char text[64] = {};
    const int in = open(file, O_RDONLY);
    if (in >= 0 && read(in, text, sizeof text - 1) > 0) std::fprintf(stderr, "%s\n", text);
}

static void attack() {
    show("RUNGS_ROOM/other_student/03_shared_tree.cu");
}

#include "honest.cuh"
