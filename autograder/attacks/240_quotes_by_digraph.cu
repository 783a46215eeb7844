// Right, but has a #line that does not begin with its sign, and a warning about a line of another file.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "secret"
//     defences = ["words", "includes", "tool files"]
//     checks = false

// Right, but has a #line that does not begin with its sign, and a warning about a line of another file.


%:line 1 "../../planted"
#warning what stands here?

static void attack() {

}

#include "honest.cuh"
