// Starts processes as fast as it can: 200 at most, so that a broken sandbox survives this test.

#include "reduction.cuh"

#include <unistd.h>

static void bomb() {
    for (int i = 0; i < 200; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            setsid();
            sleep(600);
            _exit(0);
        }
        if (child < 0) break;
    }
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { bomb(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { bomb(); }
