// Right, but has the mark of a preprocessor for a line of another file.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "secret"
//     defences = ["words", "includes", "tool files"]
//     checks = false

// Right, but has the mark of a preprocessor for a line of another file.


# 1 "../../planted"
#warning what stands here?

static void attack() {

}

#include "honest.cuh"
