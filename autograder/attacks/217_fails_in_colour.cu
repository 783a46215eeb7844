// Does not compile, for a reason that clears the screen.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "terminal"
//     defences = ["clean text"]
//     checks = false

// Does not compile, for a reason that clears the screen.


#error [2J[1;1H03_shared_tree OK 15 of 15

static void attack() {

}

#include "honest.cuh"
