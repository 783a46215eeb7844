// Right, but asks for a function with a name of 32,000 letters, for whoever reads names by recursion.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but asks for a function with a name of 32,000 letters, for whoever reads names by recursion.

#define TWICE_(a, b) a##b
#define TWICE(a) TWICE_(a, a)
#define LETTERS TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa))))))))))
#define NAMED_(start, rest) start##rest
#define NAMED(start, rest) NAMED_(start, rest)
#define NAME NAMED(cudaMemcpy3D, LETTERS)

extern "C" __attribute__((weak)) void NAME();
static volatile int never = 0;

static void attack() {
    if (never) NAME();
}

#include "honest.cuh"
