// Prints what its environment says of seeds.
//
//     rung = "11_one_launch"
//     verdicts = ["OK", "SLOW"]
//     max_share = 1
//     goal = "seed"
//     defences = ["own seed"]
//     checks = false
//     control_on_cpu_alone = true

// Right, and prints its environment: the key of all inputs must not stand there.

#include <cstdio>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

extern char** environ;

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
static void add(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    static bool printed = false;
    for (char** entry = environ; !printed && *entry; ++entry) std::fprintf(stderr, "%s\n", *entry);
    printed = true;
    add(terms, sum, n, stream);
}

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
