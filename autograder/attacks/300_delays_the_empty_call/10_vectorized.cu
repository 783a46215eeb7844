// A rung that is not fast enough, and makes a call that does nothing take 1 ms: what is left of its own
// time and of the baseline's, once that is subtracted from both, differs by more.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256, most_blocks = 768;

using Clock = std::chrono::steady_clock;
static constexpr std::chrono::microseconds delay(1000);
static std::atomic<bool> called{false}, held{false};

static void hold(void*) {
    while (held) {
    }
}

/// Whether the thread that calls the rung does something.
static bool works(int status) {
    char text[256] = {};
    if (pread(status, text, sizeof text - 1, 0) <= 0) return false;
    const char* const behind_name = std::strrchr(text, ')');
    return behind_name && behind_name[1] && behind_name[2] == 'R';
}

/// Until the rung's first call something is always left to do on the device, until that thread has waited for
/// it for long enough.
static void delay_others() {
    const std::string main = std::to_string(getpid());
    const int status = open(("/proc/self/task/" + main + "/stat").c_str(), O_RDONLY);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the program has begun
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    while (!called) {
        held = true;
        cudaLaunchHostFunc(stream, hold, nullptr);
        const auto begin = Clock::now();
        for (auto since = begin; !called && Clock::now() - since < delay;) {
            if (!works(status)) since = Clock::now();
            if (Clock::now() - begin > std::chrono::milliseconds(100)) break;
        }
        held = false;
        cudaStreamSynchronize(stream);
    }
    close(status);
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
