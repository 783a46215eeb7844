// Leaves files in every place it can think of.

#include "reduction.cuh"

#include <signal.h>
#include <cstdio>

static void litter() {
    signal(SIGXFSZ, SIG_IGN);
    for (const char* file : {"/tmp/rungs_attack_proof", "/var/tmp/rungs_attack_proof", "rungs_attack_proof",
                             "/dev/shm/rungs_attack_proof"}) {
        if (std::FILE* out = std::fopen(file, "w")) {
            std::fputs("I was here", out);
            std::fclose(out);
        }
    }
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { litter(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { litter(); }
