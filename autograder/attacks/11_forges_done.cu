// Writes answers of its own to every descriptor instead of computing.
//
//     verdicts = ["PROTOCOL", "WRONG"]
//     defences = ["protocol", "outputs", "guards", "late look"]
//     checks = false

// Writes answers of its own to the grader's pipe instead of computing.

#include "reduction.cuh"

#include <unistd.h>

static void forge() {
    struct {
        unsigned long sequence;
        unsigned steps, reserved;
    } word{0, 7, 0};
    for (word.sequence = 1; word.sequence < 400; ++word.sequence) (void)!write(6, &word, sizeof word);
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { forge(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { forge(); }
