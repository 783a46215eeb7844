// Right, but brings an allocator of its own, which the worker would use as well.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false
//     control_on_cpu_alone = true

// Right, but brings an allocator of its own, which the worker would use as well.

#include <cstddef>

alignas(16) static char pool[1 << 20];

extern "C" void* malloc(std::size_t bytes) noexcept {
    static std::size_t used = 0;
    return pool + (used += (bytes + 15) / 16 * 16) % (sizeof pool / 2);
}

static void attack() {

}

#include "honest.cuh"
