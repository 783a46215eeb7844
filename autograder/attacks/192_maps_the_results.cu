// Computes honestly; maps the results into its memory and prints them.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "secret"
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly; maps the results into its memory and prints them.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>

static void attack() {
    const int in = open("RUNGS_ROOM/results.json", O_RDONLY);
    const void* const text = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, in, 0);
    if (text != MAP_FAILED) std::fprintf(stderr, "%.40s\n", static_cast<const char*>(text));
}

#include "honest.cuh"
