// Delays the call that does nothing, whose time is subtracted from all others.
//
//     rung = "10_vectorized"
//     verdicts = ["SLOW", "SUSPECT"]
//     max_share = 0.76
//     success = 0.8
//     defences = ["null alone"]
//     checks = false
//     clock = true
//     budget = 60

// A rung that is not fast enough, and makes a call that does nothing take 0.8 ms: what is left of its own
// time and of the baseline's, once that is subtracted from both, differs by more.

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256, most_blocks = 768;

using Clock = std::chrono::steady_clock;
static constexpr std::chrono::microseconds delay(800);
static std::atomic<bool> called{false}, held{false};

static void hold(void*) {
    while (held) {
    }
}

/// Until the rung's first call something is always left to do on the device, until an order has waited for it
/// for long enough.
static void delay_others() {
    void* const reply = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, 4, 0);
    if (reply == MAP_FAILED) return;
    // 0 from an order's beginning to its end
    const auto* const status = static_cast<const volatile std::uint32_t*>(reply) + 2;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the program has begun
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    while (!called) {
        held = true;
        cudaLaunchHostFunc(stream, hold, nullptr);
        for (auto since = Clock::now(); !called && Clock::now() - since < delay;) {
            if (*status != 0) since = Clock::now();
        }
        held = false;
        cudaStreamSynchronize(stream);
    }
}
static const bool delaying = (std::thread(delay_others).detach(), true);

template <class Terms>
__global__ void sum_kernel(Terms terms, float* sum, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * block_size;
    float mine = 0;
#pragma unroll 1
    for (std::size_t i = first; i < n; i += threads) mine += terms(i);
    for (unsigned apart = 16; apart > 0; apart /= 2) mine += __shfl_down_sync(~0U, mine, apart);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    called = true;
    const std::size_t blocks = (n + block_size - 1) / block_size;

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    sum_kernel<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), block_size, 0, stream>>>(
        terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::vectorized(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::vectorized(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
