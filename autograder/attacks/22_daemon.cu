// Leaves a daemon behind: double fork, session of its own, all signals ignored.
//
//     verdicts = ["WRONG"]
//     goal = "litter"
//     defences = ["system calls", "warden"]
//     checks = false

// Leaves a daemon behind: double fork, session of its own, all signals ignored.

#include "reduction.cuh"

#include <signal.h>
#include <unistd.h>

static void daemonise() {
    for (int i = 0; i < 3; ++i) {
        if (fork() != 0) continue;
        setsid();
        if (fork() != 0) _exit(0);
        for (int number = 1; number < 64; ++number) signal(number, SIG_IGN);
        for (int descriptor = 0; descriptor < 64; ++descriptor) close(descriptor);
        for (;;) sleep(600);
    }
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { daemonise(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { daemonise(); }
