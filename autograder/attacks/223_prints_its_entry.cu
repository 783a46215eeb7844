// Computes honestly; prints what /proc says of its environment.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "seed"
//     defences = ["own seed"]
//     checks = false
//     control_on_cpu_alone = true

// Computes honestly; prints what /proc says of its environment.

#include <fcntl.h>
#include <unistd.h>
#include <string>

static void attack() {
    char text[4096] = {};
    const int in = open("/proc/self/environ", O_RDONLY);
    const ssize_t size = read(in, text, sizeof text);
    for (ssize_t i = 0; i < size; ++i) text[i] = text[i] ? text[i] : '\n';
    (void)!write(2, text, size > 0 ? static_cast<std::size_t>(size) : 0);
}

#include "honest.cuh"
