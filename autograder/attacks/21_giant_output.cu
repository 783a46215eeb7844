// Computes honestly, but prints 64 MB of escape sequences, zeros and broken UTF-8.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "terminal"
//     defences = ["clean text"]
//     checks = false

// Computes honestly, but prints 64 MB of escape sequences, zeros and broken UTF-8.

#include "reduction.cuh"

#include <unistd.h>
#include <string>

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

static void babble() {
    static bool done = false;
    if (done) return;
    done = true;
    std::string text;
    while (text.size() < 65536) text.append("\x1b[2J\x1b]0;owned\x07<script>]]>\0\xff\xfe\n", 31);
    for (int i = 0; i < 1024; ++i) (void)!write(1 + i % 2, text.data(), text.size());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    babble();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    babble();
    honest(reduction::Products{v, w}, sum, n, stream);
}
