// Right, but calls an instruction that no GPU has.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["words"]
//     checks = false

// Right, but calls an instruction that no GPU has.


static void attack() {
    __builtin_ia32_pause();
}

#include "honest.cuh"
