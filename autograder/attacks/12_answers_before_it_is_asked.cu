// Floods the grader's pipe with answers from a constructor.
//
//     verdicts = ["PROTOCOL", "WRONG"]
//     defences = ["protocol", "outputs", "guards", "late look", "launches"]
//     checks = false

// Floods the grader's pipe with answers from a constructor.

#include "reduction.cuh"

#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void flood() {
    fcntl(6, F_SETFL, O_NONBLOCK);
    for (unsigned long sequence = 0; sequence < 2000; ++sequence) {
        const unsigned long word[2] = {sequence, 7};
        (void)!write(6, word, sizeof word);
    }
    fcntl(6, F_SETFL, 0);
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
