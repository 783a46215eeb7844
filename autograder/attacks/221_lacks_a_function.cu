// Calls a function that does not exist, so that the worker cannot be linked.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "verdict"
//     wanted = "INFRA"
//     defences = ["blame"]
//     checks = false

// Calls a function that does not exist, so that the worker cannot be linked.


void missing();

static void attack() {
    missing();
}

#include "honest.cuh"
