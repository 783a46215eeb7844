// Writes through a null pointer in the launcher.
//
//     kind = "accident"
//     verdicts = ["RUNTIME_SIGNAL"]

// Writes through a null pointer in the launcher.

#include "reduction.cuh"

static int* volatile nowhere = nullptr;

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { *nowhere = 1; }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { *nowhere = 1; }
