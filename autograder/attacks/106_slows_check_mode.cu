// Uses up the time of the checks before they come to its race.
//
//     rung = "11_one_launch"
//     verdicts = ["SUSPECT"]
//     defences = ["complete checks"]
//     time_limit = 1
//     budget = 8

// Sleeps in check mode for as long as it lets checks last, and has a race in a later case, whose sums are
// right.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

/// Check mode has a malloc of its own.
static bool is_watched() {
    return dlsym(RTLD_DEFAULT, "malloc") != reinterpret_cast<void*>(&malloc);
}

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

/// Two threads leave different values in one word, which nobody reads.
__global__ void racy_kernel() {
    __shared__ volatile float word;
    if (threadIdx.x % 32 == 0) word = static_cast<float>(threadIdx.x);
}

static const auto start = std::chrono::steady_clock::now();

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    static int calls = 0;
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start;
    if (is_watched() && ++calls > 3 && since.count() < 12) {
        usleep(static_cast<useconds_t>(1e6 * std::min(0.5, 12.0 - since.count())));
    }
    add(terms, sum, n, stream);
    if (n > 60000 && n < 100000) racy_kernel<<<1, 64, 0, stream>>>();
}

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
