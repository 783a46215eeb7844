// Includes the reference solution by its way from the compiler's folder.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["includes", "tool files"]
//     checks = false

// Includes the reference solution, by its way from the folder that the compiler works in.

#include "reduction.cuh"

#include "../../../../../solutions/01_reduction/03_shared_tree.cu"
