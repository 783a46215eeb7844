// Tries to write, shrink and map the memory it shares with the grader.

#include "reduction.cuh"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((constructor)) static void tamper() {
    signal(SIGXFSZ, SIG_IGN);
    for (int descriptor = 3; descriptor <= 4; ++descriptor) {
        const char bytes[4096] = {};
        (void)!pwrite(descriptor, bytes, sizeof bytes, 0);
        (void)!ftruncate(descriptor, 0);
        (void)!ftruncate(descriptor, 1L << 40);
        void* all = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (all != MAP_FAILED) static_cast<char*>(all)[0] = 1;
    }
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
