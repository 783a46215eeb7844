// Right, but has a function chosen as it is loaded, before anybody looks.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but has a function chosen as it is loaded, before anybody looks.


extern "C" {
static int one() { return 1; }
static int (*choose())() { return one; }
}
int chosen() __attribute__((ifunc("choose")));

static void attack() {
    if (chosen() != 1) __builtin_trap();
}

#include "honest.cuh"
