// Computes honestly, and takes memory until it has more than any machine here; leaves with status 1 then. It does
// not touch it, so that a broken sandbox survives this test.

#include <sys/mman.h>
#include <unistd.h>

static void attack() {
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (int i = 0; i < 64; ++i) {
        if (mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
            return;
    }
    _exit(1);
}

#include "honest.cuh"
