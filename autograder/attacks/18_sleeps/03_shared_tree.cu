// Sleeps for ever.

#include "reduction.cuh"

#include <unistd.h>

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    for (;;) sleep(3600);
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    for (;;) sleep(3600);
}
