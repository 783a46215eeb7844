// Tries to kill the grader, its parent, its group and everything else, to debug the grader and to take
// its processor time away.

#include "reduction.cuh"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

/// Everything must fail. Only where the first, harmless try does, the others are made: this attack must not
/// end the desktop of whoever runs it on a broken build.
static void attack() {
    const pid_t parent = getppid();
    if (kill(parent, 0) == 0 || kill(-1, 0) == 0 || kill(0, 0) == 0) {
        std::puts("signals get out");
        std::fflush(stdout);
        std::abort();
    }
    kill(-1, SIGKILL);
    kill(0, SIGKILL);
    for (pid_t process = parent - 8; process <= parent + 8; ++process) {
        if (process <= 1 || process == getpid()) continue;
        kill(process, SIGKILL);
        ptrace(PTRACE_ATTACH, process, nullptr, nullptr);
        const rlimit none{0, 0};
        prlimit(process, RLIMIT_CPU, &none, nullptr);
    }
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { attack(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { attack(); }
