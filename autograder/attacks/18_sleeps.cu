// Sleeps for ever.
//
//     verdicts = ["TIMEOUT"]
//     goal = "time"
//     success = 3.5
//     defences = ["clock"]
//     checks = false
//     time_limit = 1

// Sleeps for ever.

#include "reduction.cuh"

#include <unistd.h>

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    for (;;) sleep(3600);
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    for (;;) sleep(3600);
}
