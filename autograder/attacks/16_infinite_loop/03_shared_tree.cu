// Never returns from the launcher.

#include "reduction.cuh"

static volatile bool forever = true;

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    while (forever) {
    }
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    while (forever) {
    }
}
