// Right, but compiles only where there is such a file.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["words", "tool files"]
//     checks = false

// Right, but compiles only where there is such a file.


#if !__has_include("../../planted")
#error it is not there
#endif

static void attack() {

}

#include "honest.cuh"
