#include "judge/options.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace rungs::judge {

const char* name_of(Phase phase) {
    switch (phase) {
        case Phase::build:
            return "build";
        case Phase::start:
            return "start";
        case Phase::correctness:
            return "correctness";
        case Phase::checks:
            return "checks";
        case Phase::counters:
            return "counters";
        default:
            return "speed";
    }
}

std::uint64_t random_seed() {
    std::uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
        throw std::system_error(errno, std::generic_category(), "getrandom");
    }
    return seed;
}

}  // namespace rungs::judge
