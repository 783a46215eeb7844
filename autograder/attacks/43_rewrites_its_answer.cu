// Computes honestly, and a thread keeps changing the shared answer afterwards.
//
//     verdicts = ["SUSPECT", "WRONG", "OOB", "PROTOCOL"]
//     defences = ["late look", "guards"]
//     checks = false

// Computes honestly, and a thread keeps changing what is shared with the grader, beside the answer,
// afterwards.

#include "reduction.cuh"

#include <sys/mman.h>
#include <chrono>
#include <thread>

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void honest(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    cudaMemsetAsync(sum, 0, sizeof(float), stream);
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
}

static void meddle() {
    static bool started = false;
    if (started) return;
    started = true;
    std::thread([] {
        void* all = mmap(nullptr, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
        auto* words = static_cast<volatile unsigned*>(all);
        for (unsigned value = 0; all != MAP_FAILED; ++value) {
            for (unsigned i = 2048; i < 2048 + 512; ++i) words[i] = value;
        }
    }).detach();
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    meddle();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    meddle();
    honest(reduction::Products{v, w}, sum, n, stream);
}
