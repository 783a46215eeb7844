// Right, but brings a function under the name by which the worker counts launches.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but brings a function under the name by which the worker counts launches.


extern "C" int __wrap_launch(const void*);
extern "C" int __wrap_launch(const void*) { return 0; }

static void attack() {

}

#include "honest.cuh"
