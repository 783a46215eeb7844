// Right, but has an instruction that is no CUDA C++.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["words"]
//     checks = false

// Right, but has an instruction that is no CUDA C++.


static void attack() {
    asm volatile("nop");
}

#include "honest.cuh"
