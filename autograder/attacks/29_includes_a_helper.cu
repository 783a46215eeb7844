// Includes another student's header by a name that only the compiler resolves, and prints what stands
// there.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "secret"
//     defences = ["includes", "tool files"]
//     checks = false

// Computes honestly, and prints what stands in another student's header. A macro holds its name, so that the
// translator does not follow it: only the compiler does.

#include <cstdio>

#define HELPER "RUNGS_ROOM/other_student/helper.hpp"
#include HELPER

static void attack() { std::fprintf(stderr, "%s\n", whose()); }

#include "honest.cuh"
