// Right, but answers in the place of the environment.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but answers in the place of the environment.


extern "C" char* getenv(const char*) noexcept {
    static char none[] = "0";
    return none;
}

static void attack() {

}

#include "honest.cuh"
