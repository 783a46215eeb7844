// Includes the reference solution by a path that the translator resolves.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["includes", "tool files"]
//     checks = false

// Includes the reference solution from a folder in which only the translator looks: what the compiler then reads is a
// translated copy beside the rung.
#include "../../solutions/01_reduction/03_shared_tree.cu"
