// Right, but prints what stands in another student's header, which it includes by its full name.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "secret"
//     defences = ["includes", "tool files"]
//     checks = false

// Right, but prints what stands in another student's header, which it includes by its full name.

#include <cstdio>

#include "RUNGS_ROOM/other_student/helper.hpp"

static void attack() {
    std::fprintf(stderr, "%s\n", whose());
}

#include "honest.cuh"
