// Right, but asks for the switch of the backend's order.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but asks for the switch of the backend's order.

#include <cstdint>

namespace simt {
__attribute__((weak)) void set_seed(std::uint64_t seed);
}

static void attack() {
    if (simt::set_seed) simt::set_seed(0);
}

#include "honest.cuh"
