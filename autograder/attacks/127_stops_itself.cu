// Stops its own process, with all its threads.
//
//     verdicts = ["TIMEOUT"]
//     goal = "time"
//     success = 3.5
//     defences = ["clock"]
//     checks = false
//     time_limit = 1

// Stops its own process, with all its threads.

#include "reduction.cuh"

#include <signal.h>
#include <unistd.h>

static void stop() { kill(getpid(), SIGSTOP); }

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { stop(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { stop(); }
