// Stops its own process, with all its threads.

#include "reduction.cuh"

#include <signal.h>
#include <unistd.h>

static void stop() { kill(getpid(), SIGSTOP); }

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { stop(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { stop(); }
