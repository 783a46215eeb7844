// Takes all the memory it can get, and touches it.

#include "reduction.cuh"

#include <cstdlib>
#include <cstring>
#include <new>

static void hog() {
    for (;;) {
        void* memory = std::malloc(64 << 20);
        if (!memory) throw std::bad_alloc();
        std::memset(memory, 1, 64 << 20);
    }
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { hog(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { hog(); }
