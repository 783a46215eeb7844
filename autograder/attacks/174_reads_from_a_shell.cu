// Computes honestly; has a shell print something, and reads it. Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; has a shell print something, and reads it. Leaves with status 1 when it can.

#include <cstdio>
#include <unistd.h>

static void attack() {
    char word[8] = {};
    std::FILE* const shell = popen("echo word", "r");
    if (shell && std::fgets(word, sizeof word, shell)) _exit(1);
}

#include "honest.cuh"
