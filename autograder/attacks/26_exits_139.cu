// Exits with 139, as a shell reports a crash.
//
//     kind = "accident"
//     verdicts = ["RUNTIME_EXIT"]

// Exits with 139, as a shell reports a crash.

#include "reduction.cuh"

#include <unistd.h>

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { _exit(139); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { _exit(139); }
