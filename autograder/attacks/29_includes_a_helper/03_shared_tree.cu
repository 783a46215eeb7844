// Computes honestly, and prints what stands in another student's header. A macro holds its name, so that the
// translator does not follow it: only the compiler does.

#include <cstdio>

#define HELPER "RUNGS_ROOM/other_student/helper.hpp"
#include HELPER

static void attack() { std::fprintf(stderr, "%s\n", whose()); }

#include "honest.cuh"
