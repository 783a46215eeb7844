// Never returns from the launcher.
//
//     verdicts = ["TIMEOUT"]
//     goal = "time"
//     success = 3.5
//     defences = ["clock"]
//     checks = false
//     spins = true
//     time_limit = 1

// Never returns from the launcher.

#include "reduction.cuh"

static volatile bool forever = true;

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    while (forever) {
    }
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    while (forever) {
    }
}
