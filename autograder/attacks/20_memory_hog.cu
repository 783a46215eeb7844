// Takes all the memory it can get, and leaves where it gets more than any machine here has.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "status"
//     defences = ["limits"]
//     checks = false
//     time_limit = 2
//     cpu_alone = true

// Computes honestly, and takes memory until it has more than any machine here; leaves with status 1 then. It does
// not touch it, so that a broken sandbox survives this test, and gives the last piece back: what follows needs some.

#include <sys/mman.h>
#include <unistd.h>

static void attack() {
    constexpr std::size_t piece = std::size_t{1} << 30;
    void* last = nullptr;
    for (int i = 0; i < 64; ++i) {
        void* const got = mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got == MAP_FAILED) {
            if (last) munmap(last, piece);
            return;
        }
        last = got;
    }
    _exit(1);
}

#include "honest.cuh"
