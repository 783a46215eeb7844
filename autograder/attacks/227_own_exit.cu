// Right, but decides what becomes of who leaves.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but decides what becomes of who leaves.


extern "C" void exit(int) noexcept {
    for (;;) {
    }
}

static void attack() {

}

#include "honest.cuh"
