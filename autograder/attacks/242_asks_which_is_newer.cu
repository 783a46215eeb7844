// Right, but compiles only where there is such a file, about whose age it asks.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["words", "tool files"]
//     checks = false

// Right, but compiles only where there is such a file, about whose age it asks.


#pragma GCC dependency "../../planted"

static void attack() {

}

#include "honest.cuh"
