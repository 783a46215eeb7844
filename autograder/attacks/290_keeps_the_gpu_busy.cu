// Slows down those that it is compared with.
//
//     rung = "10_vectorized"
//     verdicts = ["SUSPECT"]
//     max_share = 0.67
//     defences = ["alone again"]
//     checks = false
//     clock = true
//     budget = 60

// A slower rung, which keeps the GPU busy whenever others are timed.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr std::size_t most_blocks = 2048;

using Clock = std::chrono::steady_clock;
static std::atomic<Clock::rep> last_call{0};

static std::atomic<const float*> last_input{nullptr};

/// Until the first word of the rung's own memory becomes another: then its turn has come.
__global__ void busy_kernel(const volatile unsigned* word, unsigned value) {
    for (const long long start = clock64(); clock64() - start < 40000000 && *word == value;) {
    }
}

/// Keeps every multiprocessor busy, but for the time in which the rung itself is to run.
static void keep_busy() {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the program has begun
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (Clock::rep seen = 0;;) {
        const Clock::rep call = last_call;
        const Clock::duration since = Clock::now().time_since_epoch() - Clock::duration(call);
        if (call == seen || since < std::chrono::milliseconds(4)) continue;
        const auto* word = reinterpret_cast<const unsigned*>(last_input.load());
        unsigned value = 0, now = 0;
        cudaMemcpyAsync(&value, word, sizeof value, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        do {
            busy_kernel<<<264, 1024, 0, stream>>>(word, value);
            cudaMemcpyAsync(&now, word, sizeof now, cudaMemcpyDeviceToHost, stream);
            cudaStreamSynchronize(stream);
        } while (now == value);
        seen = call;
    }
}
static const bool busy = (std::thread(keep_busy).detach(), true);

template <class Terms>
__global__ void grid_stride_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t first = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * block_size;

    float mine = 0.0f;
    for (std::size_t i = first; i < n; i += threads) mine += terms(i);

    partial[threadIdx.x] = mine;
    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    if (n == 16777216) {
        last_input = terms.v;
        last_call = Clock::now().time_since_epoch().count();
    }
    const std::size_t blocks = std::min((n + block_size - 1) / block_size, most_blocks);

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    grid_stride_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::vectorized(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::vectorized(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
