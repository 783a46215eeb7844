// Sleeps for ever in a constructor, before the grader's first question.
//
//     verdicts = ["TIMEOUT"]
//     goal = "time"
//     success = 6
//     defences = ["clock"]
//     checks = false
//     time_limit = 0.2

// Sleeps for ever in a constructor, before the grader's first question.

#include "reduction.cuh"

#include <unistd.h>

__attribute__((constructor)) static void wait() {
    for (;;) sleep(3600);
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
