// Calls a function that does not exist, so that the worker cannot be linked.


void missing();

static void attack() {
    missing();
}

#include "honest.cuh"
