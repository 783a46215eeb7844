// Right, but includes instructions that no GPU has.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["includes"]
//     checks = false

// Right, but includes instructions that no GPU has.

#include <immintrin.h>

static void attack() {
    _mm_pause();
}

#include "honest.cuh"
